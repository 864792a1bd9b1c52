"""One run of torch's profiler: warm-up, steps with names, and a file at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .device import Patience, on_gpu
from .foreign import Foreign
from .packing import exported


class Capture:
    """The profiler is on from the beginning, but keeps nothing before ``start``."""

    def __init__(self, make_way: Callable[[], object]) -> None:
        import torch  # noqa: PLC0415 - the job has it, the launcher need not

        self._torch = torch
        self._profiler: Any = torch.profiler.profile(activities=_activities(torch))
        self._profiler.prepare_trace()
        self._foreign = Foreign(torch.autograd.profiler.profile, self._profiler.profiler, make_way)
        self._started = False
        self._range: Any = None
        self._patience: Patience | None = None

    def start(self) -> None:
        """From here on everything is kept."""
        if on_gpu(self._torch):
            self._patience = Patience(self._torch.cuda.synchronize)
        self._started = True
        self._profiler.start_trace()

    def begin_step(self, step: int) -> None:
        """Opens the range of a step."""
        self._range = self._torch.profiler.record_function(f"ProfilerStep#{step}")
        self._range.__enter__()

    def end_step(self) -> None:
        """Closes the range of the step that is open, if one is."""
        if self._range is not None:
            self._range.__exit__(None, None, None)
            self._range = None

    def is_drained(self, seconds: float) -> bool:
        """Whether the device gets all its work done within the time."""
        return self._patience is None or self._patience.drained(seconds)

    def stop(self) -> None:
        """Switches the profiler off; waits for the device."""
        self._foreign.end()
        if self._patience is not None:
            self._patience.end()
        self.end_step()
        if not self._started:  # torch has no other way to undo the warm-up
            self._profiler.start_trace()
        self._profiler.stop_trace()

    def export(self) -> Path:
        """What was recorded, in a file for the moment; raises OSError where it has no room."""
        return exported(self._profiler)


def in_progress() -> bool:
    """Whether the job's own profiler is on."""
    import torch  # noqa: PLC0415

    return bool(torch.autograd._profiler_enabled())


def _activities(torch: Any) -> list[Any]:
    """All that torch can record; a GPU that the process does not use is left alone."""
    supported = set(torch.profiler.supported_activities())
    if not on_gpu(torch):
        supported.discard(torch.profiler.ProfilerActivity.CUDA)
    return sorted(supported, key=str)
