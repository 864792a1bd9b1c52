"""Jobs that train alike on all ranks: data, fully sharded, tensor and expert parallel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from commscope.generator.programs import COMPUTE, Job, Model, ProgramBuilder, build
from commscope.generator.schedule import Communicator, Record, Schedule, Wait

Overlap = Literal["full", "tail", "none"]
_MODEL = Model()


def _world(job: Job, name: str, description: str) -> Communicator:
    return Communicator(name, tuple(range(job.ranks)), description)


def ddp(
    job: Job, model: Model = _MODEL, *, bucket_layers: int = 2, overlap: Overlap = "tail"
) -> Schedule:
    """Data parallel: gradients of some layers together are all-reduced during backward.

    ``tail``: the optimizer waits for all of them, so that the last ones are exposed. ``full``: it
    takes bucket by bucket, so that it hides the last. ``none``: backward waits for every bucket.
    """
    buckets = list(_buckets(model.layers, bucket_layers))

    def write_step(builder: ProgramBuilder) -> None:
        builder.load_input(model.input_bytes)
        for layer in range(model.layers):
            builder.compute("fwd", model.fwd_ns, f"layer{layer}")
        for number, layers in enumerate(buckets):
            for layer in layers:
                builder.compute("bwd", model.bwd_ns, f"layer{layer}")
            builder.collective("dp", "0", "all_reduce", len(layers) * model.layer_bytes)
            builder.add(Record("dp", f"bucket{number}"))
            if overlap == "none":
                builder.add(Wait(COMPUTE, f"bucket{number}"))
        _optimize(builder, model, len(buckets), overlap)

    return build(job, [_world(job, "0", "default_pg")], write_step)


def _buckets(layers: int, size: int) -> list[Sequence[int]]:
    """Layers in the order of backward, some at a time."""
    order = range(layers - 1, -1, -1)
    return [order[i : i + size] for i in range(0, layers, size)]


def _optimize(builder: ProgramBuilder, model: Model, buckets: int, overlap: Overlap) -> None:
    if overlap == "full":
        for number in range(buckets):
            builder.add(Wait(COMPUTE, f"bucket{number}"))
            builder.compute("opt", model.opt_ns, f"bucket{number}")
    else:
        builder.order("dp", COMPUTE)
        builder.compute("opt", model.opt_ns)


def fsdp(job: Job, model: Model = _MODEL, *, prefetch: int = 1) -> Schedule:
    """Fully sharded: weights are gathered before every layer, gradients are scattered after it.

    ``prefetch`` layers are gathered ahead of the one that computes.
    """

    def write_step(builder: ProgramBuilder) -> None:
        layers = range(model.layers)
        _sharded_layers(builder, model, layers, "fwd", prefetch)
        _sharded_layers(builder, model, layers[::-1], "bwd", prefetch)
        builder.order("scatter", COMPUTE)
        builder.compute("opt", model.opt_ns)

    return build(job, [_world(job, "0", "fsdp")], write_step)


def _sharded_layers(
    builder: ProgramBuilder, model: Model, layers: Sequence[int], kind: str, prefetch: int
) -> None:
    gathered = 0
    for position, layer in enumerate(layers):
        while gathered < min(position + prefetch + 1, len(layers)):
            builder.collective("gather", "0", "all_gather", model.layer_bytes)
            builder.add(Record("gather", f"weights{gathered}"))
            gathered += 1
        builder.add(Wait(COMPUTE, f"weights{position}"))
        builder.compute(kind, model.bwd_ns if kind == "bwd" else model.fwd_ns, f"layer{layer}")
        if kind == "bwd":
            builder.collective("scatter", "0", "reduce_scatter", model.layer_bytes)


def tp(job: Job, model: Model = _MODEL) -> Schedule:
    """Tensor parallel: every layer's result is all-reduced before the next one begins."""

    def write_step(builder: ProgramBuilder) -> None:
        for kind, duration in (("fwd", model.fwd_ns), ("bwd", model.bwd_ns)):
            for layer in range(model.layers):
                builder.compute(kind, duration, f"layer{layer}")
                builder.in_line("tp", "tp", "all_reduce", model.layer_bytes)
        builder.compute("opt", model.opt_ns)

    return build(job, [_world(job, "tp", "mesh_tp")], write_step)


def moe(job: Job, model: Model = _MODEL) -> Schedule:
    """Expert parallel: tokens go to the ranks of their experts and back, in every layer."""

    def write_step(builder: ProgramBuilder) -> None:
        for kind, duration in (("fwd", model.fwd_ns), ("bwd", model.bwd_ns)):
            for layer in range(model.layers):
                builder.compute(kind, duration // 2, f"layer{layer}/attention")
                builder.in_line("ep", "ep", "all_to_all", model.layer_bytes)
                builder.compute(kind, duration - duration // 2, f"layer{layer}/experts")
                builder.in_line("ep", "ep", "all_to_all", model.layer_bytes)
        builder.compute("opt", model.opt_ns)

    return build(job, [_world(job, "ep", "expert_parallel")], write_step)
