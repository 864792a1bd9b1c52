"""The device of a process: instants on it, and whether it still gets its work done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any


def on_gpu(torch: Any) -> bool:
    """Whether the process uses a GPU; asking does not make it use one."""
    return bool(torch.cuda.is_available() and torch.cuda.is_initialized())


def is_captured(torch: Any) -> bool:
    """Whether what is launched now only becomes part of a graph."""
    return on_gpu(torch) and bool(torch.cuda.is_current_stream_capturing())


class HostClock:
    """Instants of a process that has no GPU."""

    def now(self) -> Any:
        """An instant."""
        return time.perf_counter_ns()

    def between_ms(self, instants: Sequence[Any]) -> list[float]:
        """Milliseconds from each instant to the next."""
        pairs = zip(instants, instants[1:])  # noqa: RUF007 - Python 3.9 has no pairwise
        return [(after - before) / 1e6 for before, after in pairs]


class DeviceClock:
    """Instants on the current stream: the host waits only once, when they are read."""

    def __init__(self, torch: Any) -> None:
        self._event = torch.cuda.Event

    def now(self) -> Any:
        """An event in the stream."""
        event = self._event(enable_timing=True)
        event.record()
        return event

    def between_ms(self, instants: Sequence[Any]) -> list[float]:
        """Milliseconds from each event to the next; waits for the last."""
        instants[-1].synchronize()
        pairs = zip(instants, instants[1:])  # noqa: RUF007
        return [before.elapsed_time(after) for before, after in pairs]


class Patience:
    """Waits for the device on a thread of its own, so that an exit never hangs with it.

    A rank that fails while its peers are inside a collective would wait for ever. The thread is
    started in time, for an interpreter on its way out starts none.
    """

    def __init__(self, synchronize: Callable[[], object]) -> None:
        self._synchronize = synchronize
        self._asked, self._done = threading.Event(), threading.Event()
        self._needed = True
        threading.Thread(target=self._wait, name="commscope", daemon=True).start()

    def drained(self, seconds: float) -> bool:
        """Whether the device has finished all its work within the time."""
        self._asked.set()
        return self._done.wait(seconds)

    def end(self) -> None:
        """Nobody is going to ask."""
        self._needed = False
        self._asked.set()

    def _wait(self) -> None:
        self._asked.wait()
        if self._needed:
            self._synchronize()
            self._done.set()
