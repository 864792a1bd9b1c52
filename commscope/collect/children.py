"""Starts a process with all that it would have without the wrapper, and waits for its end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commscope.collect.signals import Received, Signals, Target

#: What Python ignores for itself, and a process that it starts must not inherit.
_PYTHONS_OWN = (signal.SIGPIPE, signal.SIGXFSZ)
#: For a process that reads nothing, and whose output goes to standard error.
ONLY_ERRORS = (
    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
    (os.POSIX_SPAWN_DUP2, 2, 1),
)


@dataclass(frozen=True)
class Woken:
    """Why a wait ended: the child did, with this code (negative for a signal), or a signal came."""

    code: int | None = None
    signal: Received | None = None


def without(numbers: Sequence[int]) -> Sequence[tuple[Any, ...]]:
    """For a process that shall not have these files."""
    return [(os.POSIX_SPAWN_CLOSE, number) for number in numbers]


def start(
    command: Sequence[str],
    environment: Mapping[str, str],
    signals: Signals,
    *,
    own_group: bool,
    files: Sequence[tuple[Any, ...]] = (),
) -> Target:
    """Starts a command with the wrapper's own input and output, and the former signal mask.

    ``files`` is what is done to these before (see posix_spawn). Raises OSError where it cannot be
    started.
    """
    given: dict[str, Any] = {"setpgroup": 0} if own_group else {}
    pid = os.posix_spawnp(
        command[0],
        list(command),
        dict(environment),
        setsigmask=signals.before,
        setsigdef=_PYTHONS_OWN,
        file_actions=files,
        **given,
    )
    return Target(pid, own_group)


def wait(child: Target, signals: Signals, until: float | None) -> Woken:
    """Waits for the child's end or a signal; neither where the clock (monotonic) is over."""
    while True:
        pid, status = os.waitpid(child.pid, os.WNOHANG)
        if pid:
            return Woken(code=os.waitstatus_to_exitcode(status))
        left = 3600.0 if until is None else until - time.monotonic()
        if left <= 0:
            return Woken()
        received = signals.take(left)
        if received is not None and received.si_signo != signal.SIGCHLD:
            return Woken(signal=received)


def in_foreground() -> bool:
    """Whether a terminal sends its signals to this process's group, and so to what it starts."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
