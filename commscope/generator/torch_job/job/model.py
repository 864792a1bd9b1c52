"""The model: equal layers of two matrices each, and nothing else that is communicated."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .options import JobOptions
from .place import Place

WIDER = 4


class Layer(nn.Module):  # type: ignore[misc]
    """Two matrices with a residual; what goes in and comes out has the same shape."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, WIDER * width, bias=False)
        self.down = nn.Linear(WIDER * width, width, bias=False)

    def forward(self, rows: Tensor) -> Tensor:
        """Rows of the same width."""
        result: Tensor = rows + self.down(torch.nn.functional.gelu(self.up(rows)))
        return result


def dtype_of(options: JobOptions) -> torch.dtype:
    """Of weights and rows."""
    dtype: torch.dtype = getattr(torch, options.dtype)
    return dtype


def layers(options: JobOptions, place: Place, count: int | None = None) -> nn.Sequential:
    """The model, or some of its layers, on the device; equal on all ranks."""
    torch.manual_seed(options.seed)
    made = (Layer(options.width) for _ in range(options.layers if count is None else count))
    return nn.Sequential(*made).to(place.device, dtype_of(options))


def layer_bytes(options: JobOptions) -> int:
    """Bytes of the weights of a layer."""
    return 2 * WIDER * options.width * options.width * int(dtype_of(options).itemsize)


def updated(optimizer: torch.optim.Optimizer, loss: Tensor) -> Tensor:
    """The loss, once its gradients have moved the weights."""
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def rows(options: JobOptions, place: Place) -> Tensor:
    """What a rank computes on."""
    torch.manual_seed(options.seed + place.rank)
    return torch.randn(options.tokens, options.width, device=place.device, dtype=dtype_of(options))


def loss_of(result: Tensor) -> Tensor:
    """Something to be minimised."""
    return result.float().square().mean()
