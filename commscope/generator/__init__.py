"""Jobs with known answers: schedules, an exact simulator, and traces as profilers write them.

simulation = simulate(scenarios.ddp(Job(ranks=2, steps=3)))
write_traces(simulation, folder)
step_truths(simulation), instance_truths(simulation)
write_job(planted_job("straggler_host", seed=0), folder)
"""

from commscope.generator.clocks import Clock
from commscope.generator.costs import FREE, Device, HostCosts, Link, Network
from commscope.generator.cut import Cut, cut
from commscope.generator.kineto_style import Style
from commscope.generator.kineto_writer import write_traces
from commscope.generator.planted import CAUSES, Clean, Planted, clean_job, planted_job, write_job
from commscope.generator.programs import Job, Model, Straggler
from commscope.generator.schedule import Communicator, Schedule, ScheduleError
from commscope.generator.schedule_text import from_text, to_text
from commscope.generator.simulate import simulate
from commscope.generator.simulation import Simulation
from commscope.generator.truth import instance_truths, step_truths

__all__ = [
    "CAUSES",
    "FREE",
    "Clean",
    "Clock",
    "Communicator",
    "Cut",
    "Device",
    "HostCosts",
    "Job",
    "Link",
    "Model",
    "Network",
    "Planted",
    "Schedule",
    "ScheduleError",
    "Simulation",
    "Straggler",
    "Style",
    "clean_job",
    "cut",
    "from_text",
    "instance_truths",
    "planted_job",
    "simulate",
    "step_truths",
    "to_text",
    "write_job",
    "write_traces",
]
