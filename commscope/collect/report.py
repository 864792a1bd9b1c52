"""The report at the end of a run, made by a process of its own that gives way to others."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from importlib.util import find_spec

from commscope.collect.children import ONLY_ERRORS, start, wait
from commscope.collect.run_folder import NodeFolder
from commscope.collect.signals import STOPPING, Patience, Signals, Target

_MODULE = "commscope.automation"
_NICENESS = 10
_TICK_S = 0.5
#: Seconds that the process has to report on what there is, when it is asked to end.
_GRACE_S = 8.0


def can_report() -> bool:
    """Whether commscope is installed here with what analysis needs."""
    return all(find_spec(name) is not None for name in ("pyarrow", _MODULE))


def make_report(
    node: NodeFolder, wait_s: float, signals: Signals, patience: Patience
) -> str | None:
    """Has the files of a node read and the run reported on; why it could not even say what failed.

    What it tells goes to standard error: standard output is the job's.
    """
    command = (sys.executable, "-m", _MODULE, str(node.run), "--node", node.name,
               "--wait", f"{patience.left(wait_s):.3g}")  # fmt: skip
    # A file of the job's folder named like a module must not be taken for it.
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    try:
        child = start(command, environment, signals, own_group=True, files=ONLY_ERRORS)
    except OSError as error:
        return f"cannot be started ({error.strerror})"
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, child.pid, _NICENESS)
    return _outcome(child, signals, patience)


def _outcome(child: Target, signals: Signals, patience: Patience) -> str | None:
    while not patience.over():
        woken = wait(child, signals, time.monotonic() + _TICK_S)
        if woken.code is not None:
            return _told(woken.code)
        if woken.signal is not None and woken.signal.si_signo in STOPPING:
            break
    return _told(_end(child, signals))


def _end(child: Target, signals: Signals) -> int:
    """Ends the process and what it started: asked once, and killed if somebody asks again."""
    code = None
    for number in (signal.SIGTERM, signal.SIGKILL):
        if code is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, number)
            code = wait(child, signals, time.monotonic() + _GRACE_S).code
    return -signal.SIGKILL if code is None else code


def _told(code: int) -> str | None:
    """What became of the process, where it could not say so itself."""
    return None if code >= 0 else f"was ended by signal {-code}"
