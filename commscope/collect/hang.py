"""A job that does not end: what its processes do, and how all of them are ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from commscope.collect.children import wait
from commscope.collect.host_facts import run
from commscope.collect.processes import Activity, Process, catches, is_alive, tree_of
from commscope.collect.signals import Signals, Target

#: Seconds between the signal that asks the job to end and the one that ends it.
GRACE_S = 15.0
_TICK_S = 0.1
_STACK_S = 5.0
_STACK_BYTES = 1 << 20
_MOST_STACKS = 8
_MOST_NAMED = 8


def end_job(job: Target, signals: Signals) -> int:
    """Ends a job and all that descends from it; its exit code, negative for a signal.

    A launcher that handles the signal ends its processes itself. Those that it leaves, or all where
    it handles none, are sent it too, and killed in the end, also what torchrun started in sessions
    of its own: the tree is looked at before anyone loses its parent.
    """
    tree = tree_of(job.pid)
    asked = tree[:1] if catches(job.pid, signal.SIGTERM) else tree
    _send_all(signal.SIGTERM, asked)
    until = time.monotonic() + GRACE_S
    code = _code(job, signals, until)
    _send_all(signal.SIGTERM, tree)
    while any(map(is_alive, tree)) and time.monotonic() < until:
        signals.take(_TICK_S)
    _send_all(signal.SIGKILL, [below for process in tree for below in tree_of(process.pid)])
    if code is None:
        code = _code(job, signals, time.monotonic() + GRACE_S)
    # What waits for a device in the kernel cannot be killed, nor waited for.
    return -signal.SIGKILL if code is None else code


def save_stacks(activities: Sequence[Activity], folder: Path) -> None:
    """Saves where in its Python code each process is, if py-spy is installed; raises OSError."""
    program = shutil.which("py-spy")
    if program is None:
        return
    for it in activities[:_MOST_STACKS]:
        command = (program, "dump", "--pid", str(it.pid))
        data, _, status = run(command, _STACK_S, _STACK_BYTES)
        if status == "ok":
            folder.mkdir(parents=True, exist_ok=True)
            name = f"pid{it.pid}" if it.rank is None else f"rank{it.rank}"
            (folder / f"{name}.stack.txt").write_bytes(data)


def says_where(activities: Sequence[Activity]) -> str:
    """What the processes of a hung job do, in a few words."""
    told = [_says(it) for it in activities[:_MOST_NAMED]]
    more = len(activities) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more else "")


def _says(it: Activity) -> str:
    who = f"{os.path.basename(it.command.partition(' ')[0])} (pid {it.pid})"
    rank = "" if it.rank is None else f"rank {it.rank}: "
    return f"{rank}{who} {it.state}" + (f" in {it.waiting_in}" if it.waiting_in else "")


def _code(job: Target, signals: Signals, until: float) -> int | None:
    """The code of a job that ends in time; further signals change nothing about it."""
    while True:
        woken = wait(job, signals, until)
        if woken.signal is None:
            return woken.code


def _send_all(number: int, processes: Sequence[Process]) -> None:
    for process in processes:
        if is_alive(process):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, number)
