"""FSDP2: weights are gathered for each layer, and gradients reduced to their shards."""

from __future__ import annotations

import torch
from torch import Tensor

from .disturbing import disturb_layers
from .model import layer_bytes, layers, loss_of, rows, updated
from .options import JobOptions
from .place import CannotRun, Place
from .work import Counts, Work


def make_fsdp(options: JobOptions, place: Place) -> Work:
    """A model of which each rank keeps a share of every layer."""
    try:
        from torch.distributed.fsdp import fully_shard  # noqa: PLC0415 - torch 2.6 has it
    except ImportError:
        raise CannotRun(1, f"torch {torch.__version__} has no fully_shard: 2.6 does") from None
    model = layers(options, place)
    disturb_layers(options, place, model)
    for layer in model.children():
        fully_shard(layer)
    fully_shard(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    given = rows(options, place)

    def step() -> Tensor:
        for _ in range(options.accum):
            loss = loss_of(model(given))
            loss.backward()
        return updated(optimizer, loss)

    def counts() -> Counts:
        """Weights are gathered for forward, and once more for backward."""
        passes = options.accum * options.layers
        size = layer_bytes(options)
        return {
            "all_gather": (2 * passes, 2 * passes * size),
            "reduce_scatter": (passes, passes * size),
        }

    return Work(step, counts)
