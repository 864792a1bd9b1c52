"""The data parallel step that most planted jobs vary: what it does not vary is healthy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from commscope.generator.planted_shape import (
    US,
    Setup,
    Shape,
    load_input,
    nothing,
    read_scalar,
    setup,
)
from commscope.generator.programs import COMPUTE, ProgramBuilder
from commscope.generator.schedule import Pop, Push

#: Writes something into the program of a rank.
Part = Callable[[ProgramBuilder], None]


@dataclass(frozen=True, slots=True)
class DataParallel:
    """Gradients of a layer are all-reduced while backward goes on; the optimizer waits for all.

    ``buckets`` are their bytes in the order of backward, one after every layer. The parts are
    added at the begin of a step, before backward, after each bucket, and at the end of a step.
    """

    shape: Shape
    buckets: tuple[int, ...]
    stream: str = "dp"
    at_begin: Part = nothing
    before_backward: Part = nothing
    after_bucket: Part = nothing
    at_end: Part = nothing

    def setup(self) -> Setup:
        """The whole job."""
        return setup(self.shape, [self.shape.world], self._write_step)

    def _write_step(self, builder: ProgramBuilder) -> None:
        load_input(builder, 40 * US)
        self.at_begin(builder)
        builder.add(Push("DistributedDataParallel.forward"))
        for layer in range(self.shape.layers):
            self.shape.forward(builder, layer)
        builder.add(Pop())
        self.before_backward(builder)
        for number in range(self.shape.layers):
            self.shape.backward(builder, self.shape.layers - 1 - number)
            for size in self.buckets[number : number + 1]:
                builder.collective(self.stream, "0", "all_reduce", size)
                self.after_bucket(builder)
        if self.stream != COMPUTE:
            builder.order(self.stream, COMPUTE)
        self.shape.optimize(builder)
        self.at_end(builder)


def healthy_buckets(shape: Shape, percent: int) -> tuple[int, ...]:
    """Each takes so many percent of a layer's backward, but the last is small."""
    full = shape.bytes_for(shape.bwd_ns * percent // 100)
    return (*[full] * (shape.layers - 1), shape.bytes_for(20 * US))


def synchronous(shape: Shape, percent: int = 50) -> DataParallel:
    """A healthy job whose hosts read the loss at the end of every step."""
    return DataParallel(shape, healthy_buckets(shape, percent), at_end=read_scalar)
