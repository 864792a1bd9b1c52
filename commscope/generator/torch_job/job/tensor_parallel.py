"""Tensor parallelism: each rank has a share of every matrix, and all reduce each layer's result."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

from .disturbing import disturb_layers
from .model import layers, loss_of, rows, updated
from .options import JobOptions
from .place import Place
from .work import Counts, Work


def make_tp(options: JobOptions, place: Place) -> Work:
    """All ranks compute the same rows together."""
    model = layers(options, place)
    disturb_layers(options, place, model)
    mesh = init_device_mesh(place.device.type, (place.world,))
    for layer in model.children():
        parallelize_module(layer, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
    given = rows(options, Place(0, place.world, place.device)).requires_grad_()

    def step() -> Tensor:
        loss = loss_of(model(given))
        loss.backward()
        return updated(optimizer, loss)

    def counts() -> Counts:
        """One in forward and one in backward of each layer, of its rows."""
        times = 2 * options.layers
        return {"all_reduce": (times, times * given.numel() * given.itemsize)}

    return Work(step, counts)
