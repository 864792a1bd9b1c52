"""What planted and healthy jobs are made of: sizes drawn by a seed, and parts of training steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from commscope.generator.costs import Device, HostCosts, Link, Network, bus_factor
from commscope.generator.programs import COMPUTE, INPUT_LABEL, Job, ProgramBuilder, build
from commscope.generator.schedule import Communicator, Copy, Pop, Push, Schedule, Sleep, Sync
from commscope.generator.simulate import simulate
from commscope.generator.simulation import Simulation

LINK = Link(latency_ns=12_000, bytes_per_us=200_000)
US = 1_000
MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a job is, and what it runs on.

    A layer has ``kernels`` in forward and backward, each as long as ``kernel_ns``.
    ``percent`` is what the kernels of a kind take on a rank, where it is not 100.
    """

    seed: int
    ranks: int
    steps: int
    layers: int
    kernel_ns: int
    jitter_ns: int
    ranks_per_host: int
    costs: HostCosts
    network: Network
    device: Device = field(default_factory=Device)
    percent: Mapping[tuple[int, str], int] = field(default_factory=dict)
    kernels: tuple[int, int] = (2, 4)

    @property
    def bwd_ns(self) -> int:
        """What backward of a layer takes."""
        return self.kernels[1] * self.kernel_ns

    @property
    def step_ns(self) -> int:
        """What compute of a step takes, about."""
        return self.layers * sum(self.kernels) * self.kernel_ns

    @property
    def world(self) -> Communicator:
        """The process group of all ranks."""
        return Communicator("0", tuple(range(self.ranks)), "default_pg")

    def bytes_for(self, time_ns: int, op: str = "all_reduce", ranks: int = 0) -> int:
        """How much the ranks (0: all) can exchange in a time, in whole KiB."""
        numerator, denominator = bus_factor(op, ranks or self.ranks)
        link = self.network.link
        size = (time_ns - link.latency_ns) * link.bytes_per_us * denominator // (numerator * 1000)
        return max(size >> 10, 1) << 10

    def compute(self, builder: ProgramBuilder, kind: str, layer: str = "") -> None:
        """A kernel, as fast as this rank is."""
        percent = self.percent.get((builder.rank, kind), 100)
        builder.compute(kind, self.kernel_ns * percent // 100, layer)

    def forward(self, builder: ProgramBuilder, layer: int) -> None:
        """Forward of a layer."""
        for _ in range(self.kernels[0]):
            self.compute(builder, "fwd", f"layer{layer}")

    def backward(self, builder: ProgramBuilder, layer: int) -> None:
        """Backward of a layer."""
        for _ in range(self.kernels[1]):
            self.compute(builder, "bwd", f"layer{layer}")

    def optimize(self, builder: ProgramBuilder) -> None:
        """The optimizer."""
        builder.add(Push("Optimizer.step#AdamW.step"))
        self.compute(builder, "opt")
        builder.add(Pop())


def draw_shape(random: Random, ranks: int = 0) -> Shape:
    """A job of some size; of so many ranks, where they are given."""
    ranks = ranks or random.choice([2, 2, 3, 4, 4, 6, 8])
    kernel_ns = random.randint(120, 260) * US
    return Shape(
        seed=random.getrandbits(32),
        ranks=ranks,
        steps=4 if ranks > 4 else random.choice([4, 5, 6]),
        layers=random.randint(4, 5 if ranks > 4 else 7),
        kernel_ns=kernel_ns,
        jitter_ns=kernel_ns * random.choice([0, 1, 1, 2]) // 100,
        ranks_per_host=random.choice([8, 8, 8, (ranks + 1) // 2]),
        costs=_draw_costs(random),
        network=Network(LINK, end_skew_ns={r: random.randint(0, 2_500) for r in range(ranks)}),
    )


def _draw_costs(random: Random) -> HostCosts:
    return HostCosts(
        launch_ns=random.randint(4, 7) * US,
        gap_ns=random.randint(2, 6) * US,
        event_ns=1_200,
        latency_ns=random.randint(3, 6) * US,
        device_gap_ns=random.choice([700, 1_000, 1_500]),
        wake_ns=random.randint(3, 6) * US,
    )


@dataclass(frozen=True, slots=True)
class Setup:
    """A schedule, and what it runs on."""

    schedule: Schedule
    costs: HostCosts
    network: Network
    device: Device

    def run(self) -> Simulation:
        """What comes of it."""
        return simulate(self.schedule, self.costs, self.network, self.device)


def setup(
    shape: Shape, known: Iterable[Communicator], write_step: Callable[[ProgramBuilder], None]
) -> Setup:
    """The job in which every rank does the same in every step; the profiler syncs in the end."""
    job = Job(
        ranks=shape.ranks, steps=shape.steps, ranks_per_host=shape.ranks_per_host,
        jitter_ns=shape.jitter_ns, seed=shape.seed, sync_every=0,
    )  # fmt: skip
    schedule = build(job, known, write_step)
    programs = tuple((*program, Sync()) for program in schedule.programs)
    schedule = replace(schedule, programs=programs)
    return Setup(schedule, shape.costs, shape.network, shape.device)


def nothing(_: ProgramBuilder) -> None:
    """Plants nothing."""


def load_input(builder: ProgramBuilder, duration_ns: int) -> None:
    """Waits for the workers of the data loader."""
    builder.add(Push(INPUT_LABEL), Sleep(duration_ns), Pop())


def read_scalar(builder: ProgramBuilder) -> None:
    """``tensor.item()`` of what compute has produced so far: the host waits for it."""
    builder.add(Push("aten::item", "cpu_op"), Push("aten::_local_scalar_dense", "cpu_op"))
    builder.add(Copy(COMPUTE, "d2h", 4, "pageable"), Pop(), Pop())
