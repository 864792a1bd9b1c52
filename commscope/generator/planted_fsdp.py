"""The fully sharded step: weights are gathered layer by layer, gradients scattered."""

from __future__ import annotations

from dataclasses import dataclass

from commscope.generator.planted_shape import US, Setup, Shape, setup
from commscope.generator.programs import COMPUTE, ProgramBuilder
from commscope.generator.schedule import Record, Wait


@dataclass(frozen=True, slots=True)
class FullyShard:
    """``prefetch`` layers are gathered ahead of the one that computes.

    A gather takes ``gather_ns``, and so does a scatter; those of the first layer are small.
    """

    shape: Shape
    gather_ns: int
    prefetch: int

    def setup(self) -> Setup:
        """The whole job."""
        return setup(self.shape, [self.shape.world], self._write_step)

    def _write_step(self, builder: ProgramBuilder) -> None:
        layers = range(self.shape.layers)
        order = [("fwd", layer) for layer in layers] + [("bwd", layer) for layer in layers[::-1]]
        gathered = 0
        for position, (kind, layer) in enumerate(order):
            while gathered < min(position + self.prefetch + 1, len(order)):
                self._gather(builder, gathered, order[gathered][1])
                gathered += 1
            builder.add(Wait(COMPUTE, f"weights{position}"))
            if kind == "fwd":
                self.shape.forward(builder, layer)
            else:
                self.shape.backward(builder, layer)
                builder.collective("scatter", "0", "reduce_scatter", self._bytes(layer))
        builder.order("scatter", COMPUTE)
        self.shape.optimize(builder)

    def _gather(self, builder: ProgramBuilder, number: int, layer: int) -> None:
        builder.collective("gather", "0", "all_gather", self._bytes(layer))
        builder.add(Record("gather", f"weights{number}"))

    def _bytes(self, layer: int) -> int:
        return self.shape.bytes_for(self.gather_ns if layer else 16 * US, "all_gather")
