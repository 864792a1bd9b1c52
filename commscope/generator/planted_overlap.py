"""Jobs that communicate where they could compute: no rank is to blame."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from commscope.generator.costs import Device, Link
from commscope.generator.planted_ddp import DataParallel, healthy_buckets, synchronous
from commscope.generator.planted_fsdp import FullyShard
from commscope.generator.planted_micro import Accumulation
from commscope.generator.planted_scenario import Scenario
from commscope.generator.planted_shape import LINK, US, Setup, Shape, draw_shape, setup
from commscope.generator.programs import COMPUTE, ProgramBuilder
from commscope.generator.schedule import Communicator, Copy

_OTHERS = ("images", "labels", "masks")


def step_tail(random: Random) -> Scenario:
    """The bucket that is ready last is the largest: nothing is left to hide it."""
    shape = draw_shape(random)
    healthy = healthy_buckets(shape, random.randint(30, 60))
    last = shape.bytes_for(shape.step_ns * random.randint(15, 40) // 100)
    late = DataParallel(shape, (*healthy[:-1], last))
    return Scenario(late.setup(), DataParallel(shape, healthy).setup())


def same_stream(random: Random) -> Scenario:
    """Collectives are issued to the stream that computes."""
    shape = draw_shape(random)
    base = DataParallel(shape, healthy_buckets(shape, random.randint(30, 60)))
    return Scenario(replace(base, stream=COMPUTE).setup(), base.setup())


def dependency(random: Random) -> Scenario:
    """Tensor parallel: each layer needs what was all-reduced before."""
    shape = draw_shape(random)
    size = shape.bytes_for(shape.kernel_ns * random.randint(60, 160) // 100)
    return Scenario(_tensor_parallel(shape, size), _tensor_parallel(shape, 0))


def _tensor_parallel(shape: Shape, size_bytes: int) -> Setup:
    def reduce(builder: ProgramBuilder) -> None:
        if size_bytes:
            builder.in_line("tp", "tp", "all_reduce", size_bytes)

    def write_step(builder: ProgramBuilder) -> None:
        for layer in range(shape.layers):
            shape.forward(builder, layer)
            reduce(builder)
        for layer in reversed(range(shape.layers)):
            shape.backward(builder, layer)
            reduce(builder)
        shape.optimize(builder)

    return setup(shape, [Communicator("tp", shape.world.members, "mesh_tp")], write_step)


def late_gather(random: Random) -> Scenario:
    """Fully sharded without prefetch: weights are gathered when the layer before has ended."""
    shape = draw_shape(random)
    gather = 2 * shape.kernel_ns * random.randint(40, 80) // 100
    late, healthy = FullyShard(shape, gather, 0), FullyShard(shape, gather, 1)
    return Scenario(late.setup(), healthy.setup())


def stream_order(random: Random) -> Scenario:
    """More streams than hardware queues: the one that communicates shares that of compute."""
    shape = draw_shape(random)
    base = replace(synchronous(shape, random.randint(30, 60)), at_begin=_use_streams)
    queues = {stream: number % 4 for number, stream in enumerate((COMPUTE, *_OTHERS, "dp"))}
    late = replace(base, shape=replace(shape, device=Device(queues)))
    return Scenario(late.setup(), base.setup(), vendor="rocm")


def _use_streams(builder: ProgramBuilder) -> None:
    for stream in _OTHERS:
        builder.add(Copy(stream, "h2d", 64 << 10))


def contention(random: Random) -> Scenario:
    """Kernels take longer while a collective runs."""
    shape = draw_shape(random)
    base = DataParallel(shape, healthy_buckets(shape, random.randint(50, 65)))
    slowed = Device(contention=(random.randint(14, 18), 10))
    return Scenario(replace(base, shape=replace(shape, device=slowed)).setup(), base.setup())


def accumulation_without_no_sync(random: Random) -> Scenario:
    """Gradients are all-reduced in every micro-step, though only their sum is needed."""
    shape = replace(draw_shape(random), layers=3, steps=4)
    microsteps = random.choice([3, 4])
    size = shape.bytes_for(shape.bwd_ns * random.randint(90, 120) // 100)
    base = Accumulation(shape, (size,) * shape.layers, microsteps, microsteps - 1)
    return Scenario(replace(base, reduced_from=0).setup(), base.setup())


def small_buckets(random: Random) -> Scenario:
    """Gradients are all-reduced in pieces so small that each takes as long as its latency."""
    shape = draw_shape(random, random.choice([2, 2, 4]))
    network = replace(shape.network, link=Link(random.randint(28, 34) * US, LINK.bytes_per_us))
    shape = replace(
        shape, network=network, kernel_ns=random.randint(80, 100) * US, layers=4, steps=4,
        costs=replace(shape.costs, gap_ns=1 * US),
    )  # fmt: skip
    size = random.randint(200, 800) << 10
    return Scenario(_in_pieces(shape, size, 18), _in_pieces(shape, size * 18, 1))


def _in_pieces(shape: Shape, size_bytes: int, pieces: int) -> Setup:
    """Each layer's gradients but the first one's come in so many pieces of this size."""

    def reduce(builder: ProgramBuilder, layer: int) -> None:
        for _ in range(pieces if layer else 1):
            builder.collective("dp", "0", "all_reduce", size_bytes if layer else 64 << 10)

    def write_step(builder: ProgramBuilder) -> None:
        for layer in range(shape.layers):
            shape.forward(builder, layer)
        for layer in reversed(range(shape.layers)):
            shape.backward(builder, layer)
            reduce(builder, layer)
        builder.order("dp", COMPUTE)
        shape.optimize(builder)

    return setup(shape, [shape.world], write_step)
