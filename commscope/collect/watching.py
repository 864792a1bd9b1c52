"""The time in which a job runs: signals are passed on, logs kept small, a job that hangs ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from commscope.collect import hang, logs
from commscope.collect.children import wait
from commscope.collect.preparing import Prepared
from commscope.collect.processes import Activity, activities, tree_of
from commscope.collect.signals import STOPPING, Signals, Target, pass_on
from commscope.collect.told import Told, reason

#: Seconds between two looks at how long the logs have grown.
_LOOK_S = 30.0


@dataclass(frozen=True)
class Ended:
    """How a job ended: its code is negative for a signal.

    ``asked``: somebody had asked it to end. ``hanging``: what its processes did, if it hung.
    """

    code: int
    asked: bool = False
    hanging: Sequence[Activity] | None = None


def watch(
    process: Target, job: Prepared, timeout_s: float | None, signals: Signals, told: Told
) -> Ended:
    """Waits for the end of a job, or ends it where it takes longer than that."""
    limit = None if timeout_s is None else time.monotonic() + timeout_s
    asked = False
    while True:
        look = time.monotonic() + _LOOK_S
        woken = wait(process, signals, look if limit is None else min(look, limit))
        if woken.code is not None:
            return Ended(woken.code, asked)
        if woken.signal is not None:
            pass_on(woken.signal, process)
            asked = asked or woken.signal.si_signo in STOPPING
        elif limit is not None and time.monotonic() >= limit:
            doing = activities(tree_of(process.pid))
            told.tell(f"no exit within {timeout_s:g} s: the job is ended; {hang.says_where(doing)}")
            _save_stacks(doing, job, told)
            return Ended(hang.end_job(process, signals), hanging=doing)
        elif job.logs is not None and job.logs_locally:
            logs.shorten(job.logs)


def _save_stacks(doing: Sequence[Activity], job: Prepared, told: Told) -> None:
    if job.node is None:
        return
    try:
        hang.save_stacks(doing, job.node.logs)
    except OSError as error:
        told.tell(f"{job.node.logs} cannot be written ({reason(error)})")
