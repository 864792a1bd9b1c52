"""The data parallel step in micro-steps, whose gradients are added up."""

from __future__ import annotations

from dataclasses import dataclass

from commscope.generator.planted_shape import Setup, Shape, setup
from commscope.generator.programs import COMPUTE, ProgramBuilder


@dataclass(frozen=True, slots=True)
class Accumulation:
    """Gradients are all-reduced from the micro-step ``reduced_from`` on: 0 is every one.

    ``buckets`` are their bytes in the order of backward, one after every layer.
    """

    shape: Shape
    buckets: tuple[int, ...]
    microsteps: int
    reduced_from: int

    def setup(self) -> Setup:
        """The whole job."""
        return setup(self.shape, [self.shape.world], self._write_step)

    def _write_step(self, builder: ProgramBuilder) -> None:
        for number in range(self.microsteps):
            self._pass(builder, self.buckets if number >= self.reduced_from else ())
        self.shape.optimize(builder)

    def _pass(self, builder: ProgramBuilder, buckets: tuple[int, ...]) -> None:
        """Forward and backward; the end of backward waits for what was reduced."""
        for layer in range(self.shape.layers):
            self.shape.forward(builder, layer)
        for number in range(self.shape.layers):
            self.shape.backward(builder, self.shape.layers - 1 - number)
            for size in buckets[number : number + 1]:
                builder.collective("dp", "0", "all_reduce", size)
        if buckets:
            builder.order("dp", COMPUTE)
