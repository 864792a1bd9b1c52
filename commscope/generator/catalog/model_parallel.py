"""Layers that are divided among ranks: tensor and expert parallel, and pipelines."""

from __future__ import annotations

from commscope.generator.catalog.building import RankProgram, build, world
from commscope.generator.catalog.knobs import MIB, Knobs
from commscope.generator.catalog.plan import PlannedCause, Scenario
from commscope.generator.pipelines import Stage
from commscope.generator.planted_shape import US, read_scalar
from commscope.generator.schedule import Schedule


def tensor_parallel(knobs: Knobs) -> Schedule:
    """Every layer's result is all-reduced before the next one begins."""

    def write_step(program: RankProgram) -> None:
        for layer in range(knobs.layers):
            program.forward(layer)
            program.in_line("tp", "tp", "all_reduce", knobs.msg_bytes)
        for layer in reversed(range(knobs.layers)):
            program.backward(layer)
            program.in_line("tp", "tp", "all_reduce", knobs.msg_bytes)
        _end_step(program)

    return build(knobs, [world(knobs, "tp", "mesh_tp")], write_step)


def experts(knobs: Knobs) -> Schedule:
    """Tokens go to the ranks of their experts and back, in every layer.

    The experts of rank 0 get ``hot_percent`` of the mean, and compute as much longer. What goes
    back is as large on every rank: the others wait for it all the same.
    """

    def write_step(program: RankProgram) -> None:
        for kind, each_us in (("fwd", knobs.fwd_us), ("bwd", knobs.bwd_us)):
            for layer in range(knobs.layers):
                _layer_of_experts(program, kind, each_us * US, f"layer{layer}")
        _end_step(program)

    return build(knobs, [world(knobs, "ep", "expert_parallel")], write_step)


def _layer_of_experts(program: RankProgram, kind: str, duration_ns: int, layer: str) -> None:
    knobs, half = program.knobs, duration_ns // 2
    percents = tokens_percent(knobs)
    program.compute(kind, half, f"{layer}/attention")
    program.exchange("ep", "ep", _shares_of(knobs.msg_bytes, percents))
    percent = percents[program.rank]
    program.compute(kind, max(half * percent // 100, 1), f"{layer}/experts")
    program.in_line("ep", "ep", "all_to_all", knobs.msg_bytes)


def tokens_percent(knobs: Knobs) -> list[int]:
    """Tokens for the experts of each rank, in percent of the mean: the others share the rest."""
    most = min(knobs.hot_percent, 100 * knobs.ranks)
    others = knobs.ranks - 1
    return [most] + [(100 * knobs.ranks - most) // others for _ in range(others)]


def _shares_of(size_bytes: int, percents: list[int]) -> tuple[int, ...]:
    """Bytes in these proportions, in whole KiB where there are so many."""
    return tuple(max(size_bytes * each // sum(percents) >> 10, 1) << 10 for each in percents)


def pipeline(knobs: Knobs) -> Schedule:
    """One stage a rank, one forward and one backward in turn."""
    stages = world(knobs, "pp", "mesh_pp")

    def write_step(program: RankProgram) -> None:
        stage = Stage(
            stages, program.rank, knobs.msg_bytes,
            forward=lambda b: b.compute("fwd", knobs.fwd_us * US),
            backward=lambda b, _: b.compute("bwd", knobs.bwd_us * US),
        )  # fmt: skip
        stage.run(program, knobs.microbatches)
        _end_step(program)

    return build(knobs, [stages], write_step)


def _end_step(program: RankProgram) -> None:
    program.optimize()
    if program.knobs.read_loss:
        read_scalar(program)


def _hot(knobs: Knobs) -> tuple[PlannedCause, ...]:
    """The rank of the hot experts computes longer; else all wait for the results alike."""
    return (PlannedCause("C1", 0, "compute"),) if knobs.hot_percent > 100 else _in_line(knobs)


def _in_line(_: Knobs) -> tuple[PlannedCause, ...]:
    return (PlannedCause("O11"),)


SCENARIOS = (
    Scenario(
        "tp", "Each layer needs what was all-reduced before.",
        tensor_parallel, _in_line, defaults={"msg_bytes": 32 * MIB}, strategy="tp",
    ),
    Scenario(
        "moe-a2a", "A hot expert: one rank computes for more tokens than the others.",
        experts, _hot, min_ranks=2, needs_real_collectives=True,
        defaults={"hot_percent": 170}, strategy="ep",
    ),
    Scenario(
        "pipeline", "So few micro-batches that stages wait for each other.",
        pipeline, lambda _: (PlannedCause("P1"),), min_ranks=2, needs_real_collectives=True,
        defaults={"microbatches": 4}, strategy="pp",
    ),
)  # fmt: skip
