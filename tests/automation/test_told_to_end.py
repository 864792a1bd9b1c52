"""A process that is told to end waits for nobody, and is gone within its time of grace."""

from __future__ import annotations

import os
import signal
from itertools import islice

import pytest

from commscope.automation.pause import growing, until_told

_TOLD = (signal.SIGTERM, signal.SIGHUP)


@pytest.mark.parametrize("number", _TOLD)
def test_a_pause_ends_when_the_process_is_told_to(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with until_told(3_600) as pause:
        assert not pause(0)
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        assert pause(3_600)
        assert pause(3_600)
    assert signal.getsignal(number) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def work_on_when_told() -> None:
    with until_told(1e-6):
        os.kill(os.getpid(), signal.SIGTERM)
        while True:
            signal.pause()


def test_after_the_time_of_grace_the_work_is_ended() -> None:
    with pytest.raises(KeyboardInterrupt):
        work_on_when_told()


def test_intervals_grow_up_to_the_longest() -> None:
    assert list(islice(growing(1.0, 3.0), 5)) == [1.0, 1.5, 2.25, 3.0, 3.0]
