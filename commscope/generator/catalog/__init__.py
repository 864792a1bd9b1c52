"""Scenarios by name: schedules made of knobs, with the causes that a right analysis names.

plan = plan_of("ddp-tail", {"ranks": 4})
plan.schedule, plan.causes, plan.simulated()
"""

from commscope.generator.catalog.knobs import Knobs
from commscope.generator.catalog.plan import Plan, PlannedCause, Scenario, Suite
from commscope.generator.catalog.scenarios import GROUPS, SCENARIOS, expand, plan_of

__all__ = [
    "GROUPS",
    "SCENARIOS",
    "Knobs",
    "Plan",
    "PlannedCause",
    "Scenario",
    "Suite",
    "expand",
    "plan_of",
]
