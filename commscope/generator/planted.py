"""Small jobs with one planted cause each, and healthy ones, each from a seed.

job = planted_job("straggler_host", seed=3)
write_job(job, folder)
job.cause, job.rank, job.path, job.lost_ns()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from commscope.errors import UsageError
from commscope.generator import (
    planted_chains,
    planted_clean,
    planted_host,
    planted_overlap,
    planted_stragglers,
)
from commscope.generator.clocks import TRUE_CLOCK, Clock
from commscope.generator.kineto_style import Style, Vendor
from commscope.generator.kineto_writer import trace_text
from commscope.generator.planted_scenario import Scenario
from commscope.generator.planted_shape import Setup
from commscope.generator.simulation import Simulation
from commscope.generator.truth import step_truths

_SCENARIOS: dict[str, Callable[[Random], Scenario]] = {
    scenario.__name__: scenario
    for scenario in (
        planted_stragglers.straggler_compute,
        planted_stragglers.straggler_host,
        planted_stragglers.straggler_input,
        planted_stragglers.straggler_copy,
        planted_chains.straggler_other_communicator,
        planted_chains.chain_of_three,
        planted_host.kernel_gap,
        planted_host.host_late,
        planted_host.host_sync,
        planted_host.device_sync,
        planted_host.allocation,
        planted_host.pageable_copy,
        planted_overlap.stream_order,
        planted_overlap.dependency,
        planted_overlap.late_gather,
        planted_overlap.same_stream,
        planted_overlap.step_tail,
        planted_overlap.contention,
        planted_overlap.accumulation_without_no_sync,
        planted_overlap.small_buckets,
    )
}
_HEALTHY: tuple[Callable[[Random], Setup], ...] = (
    planted_clean.ddp,
    planted_clean.ddp_reading_the_loss,
    planted_clean.ddp_with_jitter,
    planted_clean.ddp_copying_ahead,
    planted_clean.fsdp,
    planted_clean.accumulation,
    planted_clean.pipeline,
    planted_clean.one_device,
)
#: Of the jobs whose ranks are alike, one in so many has the file of one rank alone.
_ONE_FILE_IN = 6
#: The jobs' links are nobody's: as those of a product they would be too slow, or too fast.
_GPU = "commscope simulated GPU"
_VENDORS: tuple[Vendor, ...] = ("rocm", "cuda")
CAUSES = tuple(_SCENARIOS)
CLEAN_KINDS = tuple(kind.__name__ for kind in _HEALTHY)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A job as it was recorded: in this style, by clocks of hosts, in the files of these ranks."""

    simulation: Simulation
    style: Style
    clocks: Mapping[str, Clock]
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Planted(Recorded):
    """A job and what is wrong with it.

    ``rank`` is to blame, for what it ``did`` (compute, host, input, copy); null and empty where
    all ranks are alike. ``path`` leads from the rank that was late last to the one that was late
    first. ``healthy`` is the same job without the cause.
    """

    cause: str
    rank: int | None
    did: str
    path: tuple[int, ...]
    healthy: Setup = field(repr=False)

    def lost_ns(self) -> int:
        """How much longer a step takes than without the cause, on the average."""
        steps = len(self.simulation.ranks[0].steps)
        return (_end_ns(self.simulation) - _end_ns(self.healthy.run())) // steps

    def exposed_ns(self) -> int:
        """Exposed communication of a closed step, on the rank that has most of it."""
        return max(_exposed_ns(self.simulation, rank) for rank in range(len(self.simulation.ranks)))


@dataclass(frozen=True, slots=True)
class Clean(Recorded):
    """A healthy job of a kind."""

    kind: str


def planted_job(cause: str, seed: int) -> Planted:
    """The job with a cause; equal seeds give equal jobs.

    Raises UsageError for a cause that is not one of ``CAUSES``.
    """
    if cause not in _SCENARIOS:
        raise UsageError(f"no job is known with the cause {cause}; causes: {', '.join(CAUSES)}")
    random = Random(f"{cause}/{seed}")
    s = _SCENARIOS[cause](random)
    simulation = s.planted.run()
    style, clocks, ranks = _recording(random, simulation, s.vendor)
    if s.rank is None and random.randrange(_ONE_FILE_IN) == 0:
        ranks = (random.choice(ranks),)
    return Planted(simulation, style, clocks, ranks, cause, s.rank, s.did, s.path, s.healthy)


def clean_job(seed: int) -> Clean:
    """A healthy job; kinds take turns."""
    kind = _HEALTHY[seed % len(_HEALTHY)]
    random = Random(f"clean/{seed}")
    simulation = kind(random).run()
    return Clean(simulation, *_recording(random, simulation, None), kind.__name__)


def write_job(job: Recorded, folder: Path) -> list[Path]:
    """Writes ``rankN.json`` for the ranks whose files there are, and gives the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for rank in job.ranks:
        clock = job.clocks.get(job.simulation.schedule.hosts[rank], TRUE_CLOCK)
        file = folder / f"rank{rank}.json"
        file.write_text(trace_text(job.simulation, rank, job.style, clock), encoding="utf-8")
        files.append(file)
    return files


def _recording(
    random: Random, simulation: Simulation, vendor: Vendor | None
) -> tuple[Style, Mapping[str, Clock], tuple[int, ...]]:
    hosts = sorted(set(simulation.schedule.hosts))
    chosen = vendor or _draw_vendor(random)
    style = Style(vendor=chosen, with_host=len(hosts) > 1, gpu=_GPU)
    clocks = {host: _draw_clock(random) for host in hosts[1:]}
    return style, clocks, tuple(range(len(simulation.ranks)))


def _draw_vendor(random: Random) -> Vendor:
    return random.choice(_VENDORS)


def _draw_clock(random: Random) -> Clock:
    """Wrong by up to a second, and drifting by up to 10 ppm."""
    return Clock(random.randint(-(10**9), 10**9), random.randint(-10_000, 10_000))


def _end_ns(simulation: Simulation) -> int:
    return max(activity.end_ns for run in simulation.ranks for activity in run.activities)


def _exposed_ns(simulation: Simulation, rank: int) -> int:
    closed = [t.exposed_comm_ns for t in step_truths(simulation) if t.rank == rank and not t.open]
    return sum(closed) // max(len(closed), 1)
