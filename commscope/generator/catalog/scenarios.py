"""All scenarios by name, and the groups of them that can be asked for at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from commscope.errors import UsageError
from commscope.generator.catalog import (
    host_side,
    late_ranks,
    model_parallel,
    overlap_faults,
    reduced,
    sharded,
    tutorial_job,
)
from commscope.generator.catalog.building import COSTS, NETWORK, device_of, env_of
from commscope.generator.catalog.knobs import Knobs
from commscope.generator.catalog.plan import Plan, Scenario

SCENARIOS: Mapping[str, Scenario] = {
    scenario.name: scenario
    for family in (
        reduced,
        sharded,
        model_parallel,
        late_ranks,
        host_side,
        overlap_faults,
        tutorial_job,
    )
    for scenario in family.SCENARIOS
}
#: Names that stand for several scenarios.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "straggler": tuple(scenario.name for scenario in late_ranks.SCENARIOS),
    "tutorial-65-75-85": tuple(scenario.name for scenario in tutorial_job.SCENARIOS),
    "all": tuple(SCENARIOS),
}


def plan_of(name: str, given: Mapping[str, Any] | None = None) -> Plan:
    """The plan of a scenario with the knobs that were given.

    Raises UsageError where no scenario is called so, or it cannot show its cause with them.
    """
    scenario, knobs = _scenario(name), _knobs(name, given or {})
    reason = why_not(name, given or {})
    if reason:
        raise UsageError(f"scenario {name} {reason}")
    knobs.require_ranks()
    knobs.require_size()
    schedule = scenario.build(knobs)
    return Plan(
        scenario=name,
        knobs=knobs,
        schedule=schedule,
        causes=scenario.causes(knobs),
        env=env_of(knobs),
        strategy=scenario.strategy,
        costs=COSTS,
        network=NETWORK,
        device=device_of(knobs, schedule),
    )


def why_not(name: str, given: Mapping[str, Any], places: Collection[str] = ()) -> str:
    """Why a scenario cannot show its cause with the knobs that were given; empty where it can.

    ``places``: what it is to be played on, engine and vendor.
    """
    scenario, knobs = _scenario(name), _knobs(name, given)
    refused = [place for place in scenario.not_on if place in places]
    if refused:
        return f"shows nothing on {refused[0]}"
    if knobs.ranks < scenario.min_ranks:
        return f"needs {scenario.min_ranks} ranks, and is given {knobs.ranks}"
    if scenario.needs_real_collectives and knobs.comm == "mock":
        return "needs real collectives (--comm real)"
    if knobs.ranks == 1 and knobs.comm == "real":
        return "needs --comm mock: one rank has nobody to communicate with"
    return ""


def _knobs(name: str, given: Mapping[str, Any]) -> Knobs:
    """Those of the scenario but for what is given; one rank has mocks unless they are refused."""
    alone = {"comm": "mock"} if given.get("ranks") == 1 else {}
    return Knobs(**{**_scenario(name).defaults, **alone, **given})


def expand(names: Sequence[str]) -> list[str]:
    """The scenarios that names of scenarios and groups stand for, each once."""
    found: list[str] = []
    for name in names:
        found += GROUPS[name] if name in GROUPS else [_scenario(name).name]
    return list(dict.fromkeys(found))


def _scenario(name: str) -> Scenario:
    if name not in SCENARIOS:
        known = ", ".join(dict.fromkeys((*SCENARIOS, *GROUPS)))
        raise UsageError(f"no scenario is called {name}; there are {known}")
    return SCENARIOS[name]
