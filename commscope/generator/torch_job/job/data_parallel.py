"""DistributedDataParallel: gradients are reduced in buckets while backward goes on."""

from __future__ import annotations

from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from .disturbing import disturb_layers
from .model import layer_bytes, layers, loss_of, rows, updated
from .options import JobOptions
from .place import Place
from .work import Counts, Work

_MIB = 1 << 20


def make_ddp(options: JobOptions, place: Place) -> Work:
    """A model that every rank has whole; with several micro-steps, gradients are added up."""
    bare = layers(options, place)
    disturb_layers(options, place, bare)
    model = DistributedDataParallel(
        bare, bucket_cap_mb=options.bucket_bytes / _MIB, gradient_as_bucket_view=True
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    given = rows(options, place)

    def step() -> Tensor:
        for number in range(options.accum):
            waits = options.no_sync and number < options.accum - 1
            with model.no_sync() if waits else nullcontext():
                loss = loss_of(model(given))
                loss.backward()
        return updated(optimizer, loss)

    def counts() -> Counts:
        times = 1 if options.no_sync else options.accum
        sizes = _bucket_sizes(model)
        return {"all_reduce": (times * len(sizes), times * sum(sizes))} if sizes else {}

    return Work(step, counts)


def make_serial(options: JobOptions, place: Place) -> Work:
    """The same, but gradients are reduced layer by layer when backward has ended."""
    model = layers(options, place)
    disturb_layers(options, place, model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    given = rows(options, place)

    def step() -> Tensor:
        for number in range(options.accum):
            loss = loss_of(model(given))
            loss.backward()
            if number == options.accum - 1 or not options.no_sync:
                _reduce_layers(model)
        return updated(optimizer, loss)

    def counts() -> Counts:
        times = (1 if options.no_sync else options.accum) * options.layers
        return {"all_reduce": (times, times * layer_bytes(options))}

    return Work(step, counts)


def _reduce_layers(model: nn.Module) -> None:
    for layer in model.children():
        gradients = [p.grad.flatten() for p in layer.parameters() if p.grad is not None]
        dist.all_reduce(torch.cat(gradients))


def _bucket_sizes(model: DistributedDataParallel) -> list[int]:
    """As DDP itself tells; none where it does not."""
    told = model._get_ddp_logging_data()
    text = str(told.get("rebuilt_bucket_sizes") or told.get("bucket_sizes") or "")
    return [int(size) for size in text.split(",") if size.strip().isdigit()]
