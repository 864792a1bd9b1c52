"""Fully sharded: weights are gathered layer by layer, gradients are scattered."""

from __future__ import annotations

from commscope.generator.catalog.building import RankProgram, build, world
from commscope.generator.catalog.knobs import Knobs
from commscope.generator.catalog.plan import PlannedCause, Scenario, healthy
from commscope.generator.planted_shape import read_scalar
from commscope.generator.programs import COMPUTE
from commscope.generator.schedule import Record, Schedule, Wait

_GATHER, _SCATTER = "gather", "scatter"


def fully_sharded(knobs: Knobs) -> Schedule:
    """``prefetch`` layers are gathered ahead of the one that computes."""
    forward = [("fwd", layer) for layer in range(knobs.layers)]
    order = [*forward, *(("bwd", layer) for _, layer in reversed(forward))]

    def write_step(program: RankProgram) -> None:
        gathered = 0
        for position, (kind, layer) in enumerate(order):
            while gathered < min(position + knobs.prefetch + 1, len(order)):
                _gather(program, gathered)
                gathered += 1
            program.add(Wait(COMPUTE, f"weights{position}"))
            if kind == "fwd":
                program.forward(layer)
            else:
                program.backward(layer)
                program.collective(_SCATTER, "0", "reduce_scatter", knobs.layer_bytes)
        program.order(_SCATTER, COMPUTE)
        program.optimize()
        if knobs.read_loss:
            read_scalar(program)

    return build(knobs, [world(knobs, description="fsdp")], write_step)


def _gather(program: RankProgram, number: int) -> None:
    program.collective(_GATHER, "0", "all_gather", program.knobs.layer_bytes)
    program.add(Record(_GATHER, f"weights{number}"))


SCENARIOS = (
    Scenario(
        "fsdp", "Weights are gathered while the layer before computes.", fully_sharded, healthy,
        strategy="fsdp",
    ),
    Scenario(
        "fsdp-no-prefetch", "Weights are gathered when the layer before has ended.",
        fully_sharded, lambda _: (PlannedCause("O2"),), defaults={"prefetch": 0}, strategy="fsdp",
    ),
)  # fmt: skip
