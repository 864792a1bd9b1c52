"""What all scenarios are made of: programs with the knobs' kernels, collectives and hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from commscope.generator.catalog.knobs import Knobs
from commscope.generator.costs import Device, HostCosts, Link, Network
from commscope.generator.planted_shape import US
from commscope.generator.programs import COMPUTE, INPUT_LABEL, Job, ProgramBuilder
from commscope.generator.schedule import (
    Collective,
    Communicator,
    DeviceOperation,
    Pop,
    Push,
    Record,
    Schedule,
    Sleep,
    Sync,
    Wait,
    communicators,
)

#: What schedules are simulated on. Mocks take as long as on this link, too.
NETWORK = Network(Link(latency_ns=12 * US, bytes_per_us=200_000))
COSTS = HostCosts(
    launch_ns=5 * US, gap_ns=2 * US, event_ns=1_200, latency_ns=4 * US, device_gap_ns=1_000,
    wake_ns=4 * US,
)  # fmt: skip


class RankProgram(ProgramBuilder):
    """The program of one rank in the making."""

    def __init__(self, knobs: Knobs, rank: int) -> None:
        super().__init__(_job(knobs), rank)
        self.knobs = knobs

    def compute(self, kind: str, duration_ns: int, layer: str = "") -> None:
        """A kernel, after which the host does something else where it has to."""
        jitter = duration_ns * self.knobs.jitter_percent // 100
        super().compute(kind, duration_ns + self._random.randint(0, jitter), layer)
        if self.knobs.host_gap_us:
            self.add(Sleep(self.knobs.host_gap_us * US))

    def forward(self, layer: int) -> None:
        """Forward of a layer."""
        for duration in _shares(self.knobs.fwd_us * US, self.knobs.kernels):
            self.compute("fwd", duration, f"layer{layer}")

    def backward(self, layer: int) -> None:
        """Backward of a layer."""
        for duration in _shares(self.knobs.bwd_us * US, self.knobs.kernels):
            self.compute("bwd", duration, f"layer{layer}")

    def optimize(self, parts: int = 1, before: Callable[[int], None] = lambda _: None) -> None:
        """The optimizer, in one kernel for each part, with what comes before it."""
        self.add(Push("Optimizer.step#AdamW.step"))
        for part, duration in enumerate(_shares(self.knobs.opt_us * US, parts)):
            before(part)
            self.compute("opt", duration)
        self.add(Pop())

    def collective(self, stream: str, communicator: str, op: str, size_bytes: int) -> None:
        """A collective on what compute has produced so far."""
        self.order(COMPUTE, stream)
        root = 0 if op == "broadcast" else None
        transfer = self._mock_ns(communicator, op, size_bytes) if self.is_mock else None
        self.add(Collective(stream, communicator, op, size_bytes, root=root, transfer_ns=transfer))

    def exchange(self, stream: str, communicator: str, shares: tuple[int, ...]) -> None:
        """An all_to_all of so many bytes for each member, which compute needs at once."""
        self.order(COMPUTE, stream)
        size, most = sum(shares), max(shares) * len(shares)
        transfer = self._mock_ns(communicator, "all_to_all", most) if self.is_mock else None
        uneven = shares if len(set(shares)) > 1 else ()
        self.add(
            Collective(
                stream, communicator, "all_to_all", size, transfer_ns=transfer, shares=uneven
            )
        )
        self.order(stream, COMPUTE)

    @property
    def is_mock(self) -> bool:
        """Whether kernels of known length stand for collectives."""
        return self.knobs.comm == "mock"

    def _mock_ns(self, communicator: str, op: str, size_bytes: int) -> int:
        if self.knobs.mock_us:
            return self.knobs.mock_us * US
        return NETWORK.transfer_ns(communicator, op, size_bytes, max(self.knobs.ranks, 2))


def _job(knobs: Knobs) -> Job:
    return Job(
        ranks=knobs.ranks, steps=knobs.steps, ranks_per_host=knobs.ranks_per_host,
        stragglers=knobs.stragglers, seed=knobs.seed, sync_every=0,
    )  # fmt: skip


def _shares(duration_ns: int, parts: int) -> list[int]:
    """A time in equal parts, to the nanosecond."""
    each, rest = divmod(duration_ns, parts)
    return [each + (number < rest) for number in range(parts)]


def world(knobs: Knobs, name: str = "0", description: str = "default_pg") -> Communicator:
    """All ranks as one group."""
    return Communicator(name, tuple(range(knobs.ranks)), description)


def device_of(knobs: Knobs, schedule: Schedule) -> Device:
    """How a device runs it, in simulation: streams take hardware queues in turn, if told how many.

    Their order is that of their first use.
    """
    contention = (knobs.slowdown_percent, 100)
    if not knobs.queues:
        return Device(contention=contention)
    streams = dict.fromkeys(
        operation.stream
        for program in schedule.programs
        for operation in program
        if isinstance(operation, (DeviceOperation, Record, Wait))
    )
    queues = {stream: number % knobs.queues for number, stream in enumerate(streams)}
    return Device(queues, contention)


def env_of(knobs: Knobs) -> Mapping[str, str]:
    """Variables by which a GPU of AMD does the same."""
    return {"GPU_MAX_HW_QUEUES": str(knobs.queues)} if knobs.queues else {}


def build(
    knobs: Knobs, known: Iterable[Communicator], write_step: Callable[[RankProgram], None]
) -> Schedule:
    """The schedule in which every rank does the same in every step; warm-up counts from below 0."""
    programs = []
    for rank in range(knobs.ranks):
        program = RankProgram(knobs, rank)
        for number in range(knobs.first_step, knobs.steps):
            program.begin_step(number)
            program.add(Push(INPUT_LABEL), Sleep(knobs.input_us * US), Pop())
            write_step(program)
            program.end_step(number)
        program.add(Sync())
        programs.append(program.program())
    return Schedule(tuple(programs), _job(knobs).hosts, communicators(known), knobs.dtype)
