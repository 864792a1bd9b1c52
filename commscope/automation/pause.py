"""Waiting that ends when the process is told to end."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

#: Waits so many seconds, or less where the process is told to end: then it returns true.
Pause = Callable[[float], bool]

_TOLD = (signal.SIGTERM, signal.SIGHUP)


def sleep(seconds: float) -> bool:
    """Waits; nothing ends it early."""
    time.sleep(seconds)
    return False


@contextmanager
def until_told(grace_s: float) -> Iterator[Pause]:
    """Pauses that end with SIGTERM or SIGHUP; so long after it KeyboardInterrupt is raised.

    Until then there is time to write what there is. Works in the main thread only.
    """
    wake, told = os.pipe()
    os.set_blocking(told, False)

    def on_told(_number: int, _frame: FrameType | None) -> None:
        with suppress(BlockingIOError):
            os.write(told, b"!")
        if signal.getitimer(signal.ITIMER_REAL)[0] == 0:
            signal.setitimer(signal.ITIMER_REAL, grace_s)

    def pause(seconds: float) -> bool:
        ready, _, _ = select.select([wake], [], [], max(seconds, 0.0))
        return bool(ready)

    before = {number: signal.signal(number, on_told) for number in _TOLD}
    before[signal.SIGALRM] = signal.signal(signal.SIGALRM, _time_is_up)
    try:
        yield pause
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(wake)
        os.close(told)


def _time_is_up(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def growing(first_s: float, most_s: float) -> Iterator[float]:
    """Intervals between looks at a folder, each half as long again, up to the longest."""
    interval = first_s
    while True:
        yield interval
        interval = min(interval * 1.5, most_s)
