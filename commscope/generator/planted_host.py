"""Jobs whose hosts hold up their devices, on all ranks alike."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from commscope.generator.planted_ddp import DataParallel, healthy_buckets, synchronous
from commscope.generator.planted_scenario import Scenario
from commscope.generator.planted_shape import US, Shape, draw_shape, read_scalar
from commscope.generator.programs import COMPUTE, ProgramBuilder
from commscope.generator.schedule import (
    Allocate,
    Copy,
    EventSync,
    Free,
    Pop,
    Push,
    Query,
    Record,
    Sleep,
    StreamSync,
    Sync,
)


def kernel_gap(random: Random) -> Scenario:
    """Kernels are so short that the pauses between them add up."""
    pause = random.randint(8, 12) * US
    shape = draw_shape(random, random.choice([2, 2, 4]))
    shape = replace(
        shape, kernel_ns=random.randint(12, 18) * US, kernels=(8, 16), jitter_ns=0, steps=4,
        layers=4, network=replace(shape.network, end_skew_ns={}),
    )  # fmt: skip
    # A bucket goes on for most of a layer, with its pauses.
    size = shape.bytes_for(shape.kernels[1] * (shape.kernel_ns + pause) * 85 // 100)
    buckets = (*[size] * (shape.layers - 1), shape.bytes_for(15 * US))
    shape = replace(shape, costs=replace(shape.costs, launch_ns=3 * US, gap_ns=1 * US))
    healthy = DataParallel(shape, buckets)
    slow = random.choice([_slow_device, _slow_host])(shape, pause)
    return Scenario(replace(healthy, shape=slow).setup(), healthy.setup())


def _slow_device(shape: Shape, pause_ns: int) -> Shape:
    """The device takes a while from one kernel to the next."""
    return replace(shape, costs=replace(shape.costs, device_gap_ns=pause_ns))


def _slow_host(shape: Shape, pause_ns: int) -> Shape:
    """A launch takes longer than a kernel."""
    launch = shape.kernel_ns + pause_ns - shape.costs.gap_ns
    return replace(shape, costs=replace(shape.costs, launch_ns=launch))


def host_late(random: Random) -> Scenario:
    """Hosts do something else in the middle of backward, while a collective runs."""
    shape = draw_shape(random)
    stall = shape.bwd_ns * random.randint(150, 180) // 100
    label = random.choice(["", "", "aten::nonzero_numpy"])
    labels = (Push(label, "cpu_op"), Pop()) if label else ()
    base = replace(synchronous(shape, random.randint(85, 95)), before_backward=read_scalar)
    late = replace(base, after_bucket=lambda b: b.add(*labels[:1], Sleep(stall), *labels[1:]))
    return Scenario(late.setup(), base.setup())


def host_sync(random: Random) -> Scenario:
    """Hosts wait for every bucket before they launch what comes next."""
    base = synchronous(draw_shape(random), random.randint(40, 70))
    wait = random.choice([_sync_stream, _sync_event, _ask_event, _read_reduced])
    return Scenario(replace(base, after_bucket=wait).setup(), base.setup())


def _sync_stream(builder: ProgramBuilder) -> None:
    builder.add(StreamSync("dp"))


def _sync_event(builder: ProgramBuilder) -> None:
    builder.add(Record("dp", "reduced"), EventSync("reduced"))


def _ask_event(builder: ProgramBuilder) -> None:
    builder.add(Record("dp", "reduced"), Query("reduced", 40 * US))


def _read_reduced(builder: ProgramBuilder) -> None:
    builder.order("dp", COMPUTE)
    read_scalar(builder)


def device_sync(random: Random) -> Scenario:
    """Hosts wait for the whole device after every bucket."""
    base = synchronous(draw_shape(random), random.randint(40, 70))
    late = replace(base, after_bucket=lambda b: b.add(Sync()))
    return Scenario(late.setup(), base.setup())


def allocation(random: Random) -> Scenario:
    """Memory is given back to the driver and taken again in every step."""
    shape = draw_shape(random)
    each = random.randint(200, 500) * US
    base = synchronous(shape, random.randint(40, 70))

    def reallocate(builder: ProgramBuilder) -> None:
        for size in (512 << 20, 64 << 20):
            builder.add(Free(each), Allocate(size, each // 2))

    late = random.choice(
        [replace(base, before_backward=reallocate), replace(base, after_bucket=reallocate)]
    )
    return Scenario(late.setup(), base.setup())


def pageable_copy(random: Random) -> Scenario:
    """Input is copied from pageable memory, for which the host waits."""
    shape = draw_shape(random)
    link = shape.network.pageable
    size = shape.step_ns * random.randint(15, 35) // 100 // 1000 * link.bytes_per_us
    base = DataParallel(shape, healthy_buckets(shape, random.randint(40, 70)))

    def copy(builder: ProgramBuilder) -> None:
        builder.add(Copy(COMPUTE, "h2d", size, "pageable"))

    healthy = replace(base, at_begin=lambda b: b.load_input(size))
    return Scenario(replace(base, at_begin=copy).setup(), healthy.setup())
