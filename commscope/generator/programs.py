"""Building blocks of schedules: the job, the model, and a program in the making."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from commscope.generator.schedule import (
    Collective,
    Communicator,
    Compute,
    Copy,
    EndStep,
    Operation,
    Pop,
    Push,
    Record,
    Schedule,
    Sleep,
    Step,
    Sync,
    Wait,
    communicators,
)

COMPUTE = "compute"
COPY = "copy"
INPUT_LABEL = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

Where = Literal["host", "device", "input"]


@dataclass(frozen=True, slots=True)
class Straggler:
    """A rank that is late in a step (null: in every one): its host, device or data loader."""

    rank: int
    delay_ns: int
    step: int | None = None
    where: Where = "host"


@dataclass(frozen=True, slots=True)
class Job:
    """How many ranks do how many steps, and what disturbs them.

    Every kernel of compute takes up to ``jitter_ns`` longer, as the seed has it. The host waits
    for the device at the end of every ``sync_every``-th step; 0: never.
    """

    ranks: int = 8
    steps: int = 3
    ranks_per_host: int = 8
    stragglers: tuple[Straggler, ...] = ()
    jitter_ns: int = 0
    seed: int = 0
    sync_every: int = 1

    @property
    def hosts(self) -> tuple[str, ...]:
        """The host of every rank."""
        return tuple(f"host{rank // self.ranks_per_host}" for rank in range(self.ranks))


@dataclass(frozen=True, slots=True)
class Model:
    """Layers, what each takes on the device, and the bytes that are communicated for it."""

    layers: int = 8
    layer_bytes: int = 32 << 20
    fwd_ns: int = 400_000
    bwd_ns: int = 800_000
    opt_ns: int = 300_000
    input_bytes: int = 0


class ProgramBuilder:
    """The program of one rank in the making."""

    def __init__(self, job: Job, rank: int) -> None:
        self.job, self.rank = job, rank
        self._operations: list[Operation] = []
        self._random = Random(f"{job.seed}/{rank}")

    def program(self) -> tuple[Operation, ...]:
        """What was added so far."""
        return tuple(self._operations)

    def add(self, *operations: Operation) -> None:
        """Adds operations as they are."""
        self._operations += operations

    def begin_step(self, number: int) -> None:
        """Begins a step, with what makes this rank late in it."""
        self.add(Step(number))
        for straggler in self.job.stragglers:
            if straggler.rank == self.rank and straggler.step in (None, number):
                self._be_late(straggler)

    def end_step(self, number: int) -> None:
        """Ends a step."""
        if self.job.sync_every and (number + 1) % self.job.sync_every == 0:
            self.add(Sync())
        self.add(EndStep())

    def compute(self, kind: str, duration_ns: int, layer: str = "") -> None:
        """A kernel on the compute stream."""
        jitter = self._random.randint(0, self.job.jitter_ns) if self.job.jitter_ns else 0
        self.add(Compute(COMPUTE, kind, duration_ns + jitter, layer))

    def load_input(self, size_bytes: int) -> None:
        """A copy to the device that the compute stream waits for."""
        if size_bytes:
            self.add(Copy(COPY, "h2d", size_bytes))
            self.order(COPY, COMPUTE)

    def order(self, first: str, then: str) -> None:
        """What is issued to the second stream from now on comes after all on the first."""
        event = f"{first}>{then}"
        self.add(Record(first, event), Wait(then, event))

    def collective(self, stream: str, communicator: str, op: str, size_bytes: int) -> None:
        """A collective on what compute has produced so far; compute does not wait for it."""
        self.order(COMPUTE, stream)
        self.add(Collective(stream, communicator, op, size_bytes))

    def in_line(self, stream: str, communicator: str, op: str, size_bytes: int) -> None:
        """A collective that compute needs the result of at once."""
        self.collective(stream, communicator, op, size_bytes)
        self.order(stream, COMPUTE)

    def _be_late(self, straggler: Straggler) -> None:
        if straggler.where == "host":
            self.add(Sleep(straggler.delay_ns))
        elif straggler.where == "input":
            self.add(Push(INPUT_LABEL), Sleep(straggler.delay_ns), Pop())
        else:
            self.add(Compute(COMPUTE, "fwd", straggler.delay_ns, "straggler"))


def build(
    job: Job, known: Iterable[Communicator], write_step: Callable[[ProgramBuilder], None]
) -> Schedule:
    """The schedule in which every rank does the same in every step, numbered from 0."""
    programs = []
    for rank in range(job.ranks):
        builder = ProgramBuilder(job, rank)
        for number in range(job.steps):
            builder.begin_step(number)
            write_step(builder)
            builder.end_step(number)
        programs.append(builder.program())
    return Schedule(tuple(programs), job.hosts, communicators(known))


def group_of(known: Sequence[Communicator], rank: int) -> Communicator:
    """The one of some communicators that the rank is in."""
    return next(communicator for communicator in known if rank in communicator.members)
