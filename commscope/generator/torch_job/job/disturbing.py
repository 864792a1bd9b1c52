"""What makes a rank late, and what a host does between layers."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import nn

from .options import JobOptions, Late
from .place import Place

#: As PyTorch's data loader is called in traces.
INPUT_LABEL = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
_TRIED_CYCLES = 20_000_000


class Disturbances:
    """Lets this rank be late where it is planned."""

    def __init__(self, options: JobOptions, place: Place) -> None:
        self._late = [late for late in options.late if late.rank == place.rank]
        self._place = place
        needs_device = any(late.where == "device" for late in self._late)
        self._cycles_per_us = _cycles_per_us(place) if needs_device and place.has_gpu else 0.0

    def begin_step(self, step: int) -> None:
        """Is late in this step, if that is planned."""
        for late in self._late:
            if late.step in (None, step):
                self._be_late(late)

    def _be_late(self, late: Late) -> None:
        if late.where == "input":
            with torch.profiler.record_function(INPUT_LABEL):
                be_busy(late.delay_us)
        elif late.where == "device":
            self._compute(late.delay_us)
        else:
            be_busy(late.delay_us)

    def _compute(self, duration_us: int) -> None:
        """Lets the device compute for so long; on the CPU that is the host."""
        if self._place.has_gpu:
            torch.cuda._sleep(int(duration_us * self._cycles_per_us))
            return
        matrix = torch.ones(256, 256)
        until = time.monotonic_ns() + duration_us * 1000
        while time.monotonic_ns() < until:
            matrix @ matrix


def be_busy(duration_us: int) -> None:
    """The host does something else for a time."""
    time.sleep(duration_us / 1e6)


def _cycles_per_us(place: Place) -> float:
    """How fast the clock counts that a waiting kernel reads."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(_TRIED_CYCLES // 100)
    begin.record()
    torch.cuda._sleep(_TRIED_CYCLES)
    end.record()
    place.wait()
    return _TRIED_CYCLES / (float(begin.elapsed_time(end)) * 1000)


def disturb_layers(options: JobOptions, place: Place, model: nn.Module) -> None:
    """Lets the host wait before each layer, or wait for the device."""
    actions: list[Callable[[], None]] = []
    if options.host_gap_us:
        actions.append(lambda: be_busy(options.host_gap_us))
    if options.loop_sync or options.prefetch == 0:
        actions.append(place.wait)
    for layer in model.children():
        for action in actions:
            layer.register_forward_pre_hook(_hook(action))
            layer.register_full_backward_pre_hook(_hook(action))


def _hook(action: Callable[[], None]) -> Callable[..., None]:
    def run(*_: object) -> None:
        action()

    return run
