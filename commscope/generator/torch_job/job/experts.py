"""Expert parallelism: rows go to the rank of their expert, and back, by all_to_all."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor, nn

from .disturbing import disturb_layers
from .model import Layer, dtype_of, loss_of, rows, updated
from .options import JobOptions
from .place import Place
from .work import Counts, Work


class _Exchange(torch.autograd.Function):  # type: ignore[misc]
    """Sends rows to all ranks; backward, their gradients go the same way back."""

    @staticmethod
    def forward(ctx, given: Tensor, sent: Sequence[int], received: Sequence[int]) -> Tensor:  # type: ignore[no-untyped-def]
        """Rows of all ranks, in their order."""
        ctx.sent, ctx.received = sent, received
        return _exchanged(given, sent, received)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[no-untyped-def]
        """Gradients of the rows that were sent."""
        return _exchanged(gradient, ctx.received, ctx.sent), None, None


def _exchanged(given: Tensor, sent: Sequence[int], received: Sequence[int]) -> Tensor:
    result = given.new_empty(sum(received), given.shape[1])
    dist.all_to_all_single(result, given.contiguous(), list(received), list(sent))
    return result


class _Experts(nn.Module):  # type: ignore[misc]
    """A layer that all ranks have, and one that is another on each rank."""

    def __init__(self, width: int, sent: Sequence[int], received: Sequence[int]) -> None:
        super().__init__()
        self.shared, self.expert = Layer(width), Layer(width)
        self.sent, self.received = sent, received

    def forward(self, given: Tensor) -> Tensor:
        """Rows of this rank."""
        there = _Exchange.apply(self.shared(given), self.sent, self.received)
        back: Tensor = _Exchange.apply(self.expert(there), self.received, self.sent)
        return back


def shares(tokens: int, world: int, hot_percent: int) -> list[int]:
    """How many rows a rank sends to each: to rank 0 as many percent of the mean as told."""
    hot = min(tokens, tokens * hot_percent // (100 * world)) if world > 1 else tokens
    rest, others = tokens - hot, max(world - 1, 1)
    return [hot, *(rest // others + (i < rest % others) for i in range(world - 1))]


def make_ep(options: JobOptions, place: Place) -> Work:
    """Experts of their own on each rank; gradients of the shared layers are reduced at the end."""
    sent = shares(options.tokens, place.world, options.hot_percent)
    received = [sent[place.rank]] * place.world
    torch.manual_seed(options.seed)
    blocks = (_Experts(options.width, sent, received) for _ in range(options.layers))
    model = nn.Sequential(*blocks).to(place.device, dtype_of(options))
    disturb_layers(options, place, model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    shared = [p for name, p in model.named_parameters() if ".shared." in name]
    given = rows(options, place).requires_grad_()

    def step() -> Tensor:
        loss = loss_of(model(given))
        loss.backward()
        gradients = torch.cat([p.grad.flatten() for p in shared if p.grad is not None])
        dist.all_reduce(gradients)
        return updated(optimizer, loss)

    def counts() -> Counts:
        """There and back, in forward and in backward: what this rank sends."""
        row = options.width * given.itemsize
        size = sum(p.numel() * p.itemsize for p in shared)
        exchanged = 2 * options.layers * (sum(sent) + sum(received)) * row
        return {"all_to_all": (4 * options.layers, exchanged), "all_reduce": (1, size)}

    return Work(step, counts)
