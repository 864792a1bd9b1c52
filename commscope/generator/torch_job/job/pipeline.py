"""Pipeline parallelism: each rank has some layers, and rows go from rank to rank and back."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

from .disturbing import disturb_layers
from .model import layers, loss_of, rows
from .options import JobOptions
from .place import CannotRun, Place
from .work import Counts, Work


def make_pp(options: JobOptions, place: Place) -> Work:
    """One forward, one backward; the first rank has the rows, the last one the loss."""
    if options.layers % place.world:
        raise CannotRun(1, f"{options.layers} layers cannot be shared by {place.world} ranks")
    model = layers(options, place, options.layers // place.world)
    disturb_layers(options, place, model)
    stage = PipelineStage(model, place.rank, place.world, place.device)
    plan = Schedule1F1B(stage, options.microbatches, loss_fn=lambda result, _: loss_of(result))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    given = rows(options, place)
    is_last = place.rank == place.world - 1

    def step() -> Tensor | None:
        losses: list[Tensor] = []
        if place.rank == 0:
            plan.step(given)
        elif is_last:
            plan.step(target=given, losses=losses)
        else:
            plan.step()
        optimizer.step()
        optimizer.zero_grad()
        return torch.stack(losses).mean() if losses else None

    def counts() -> Counts:
        """Rows go on but from the last rank, and gradients back but from the first one."""
        times = ((not is_last) + (place.rank > 0)) * options.microbatches
        size = given.numel() * given.itemsize // options.microbatches
        return {"send": (times, times * size), "recv": (times, times * size)} if times else {}

    return Work(step, counts)
