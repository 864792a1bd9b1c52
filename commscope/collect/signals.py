"""Signals that reach the wrapper, waited for instead of handled: nothing else runs in between.

What each is for the job depends on who sent it. The terminal sends to all of its foreground group,
and Slurm to all processes of a step: those the job has got already. One that was meant for the
process number that the user knows, which is the wrapper's, is passed on once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from typing import Protocol

from commscope.collect.processes import catches, name_of

#: Signals that ask a program to end.
STOPPING = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT))
_PASSED_ON = STOPPING | {signal.SIGUSR1, signal.SIGUSR2}
_SI_KERNEL = 0x80
_SENDER_TO_ALL = "slurmstepd"


class Received(Protocol):
    """What is known of a signal (see sigwaitinfo(2))."""

    @property
    def si_signo(self) -> int:
        """The signal."""

    @property
    def si_code(self) -> int:
        """What sent it: SI_KERNEL for a terminal."""

    @property
    def si_pid(self) -> int:
        """The process that sent it; 0 for the kernel, or one that cannot be seen from here."""


class Signals:
    """The signals that wait to be taken, but for SIGHUP under nohup.

    A shell starts what is behind ``&`` with SIGINT ignored, and so does the job begin. What a job
    makes of one that is sent to it is its own matter: those are taken all the same, which Linux
    allows as long as they are blocked. What a terminal sends is not meant for such a job.
    """

    def __init__(self) -> None:
        ignored = {number for number in _PASSED_ON if signal.getsignal(number) == signal.SIG_IGN}
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._not_of_terminal = frozenset(ignored)
        self._waited = (_PASSED_ON | {signal.SIGCHLD}) - (ignored & {signal.SIGHUP})
        #: What was blocked before: the job begins with the same.
        self.before = signal.pthread_sigmask(signal.SIG_BLOCK, self._waited)

    def take(self, seconds: float) -> Received | None:
        """The next signal, or null where none comes in this time."""
        received = signal.sigtimedwait(self._waited, max(seconds, 0.0))
        if received is None or not self._is_ignored(received):
            return received
        return None

    def _is_ignored(self, received: Received) -> bool:
        return received.si_code == _SI_KERNEL and received.si_signo in self._not_of_terminal

    def restore(self) -> None:
        """Lets signals act again as before."""
        signal.pthread_sigmask(signal.SIG_SETMASK, self.before)


class Patience:
    """How long work after the job may take: without end, until somebody asks to end.

    From then on a bounded time, and none where they ask twice.
    """

    def __init__(self, signals: Signals, seconds: float, *, asked: bool) -> None:
        self._signals = signals
        self._seconds = seconds
        self._end = time.monotonic() + seconds if asked else None

    def asked(self) -> bool:
        """Whether somebody has asked to end; takes the signals that came meanwhile."""
        while True:
            received = self._signals.take(0)
            if received is None:
                return self._end is not None
            self.note(received)

    def over(self) -> bool:
        """Whether the time is over."""
        return self.asked() and self.left(1.0) == 0

    def note(self, received: Received) -> None:
        """Takes account of a signal."""
        if received.si_signo in STOPPING:
            now = time.monotonic()
            self._end = now + self._seconds if self._end is None else now

    def left(self, most: float) -> float:
        """Seconds that are left, and no more than these."""
        if self._end is None:
            return most
        return min(most, max(self._end - time.monotonic(), 0.0))


@dataclass(frozen=True)
class Target:
    """A process that signals are passed on to, and whether it leads a process group of its own."""

    pid: int
    leads_group: bool


def pass_on(received: Received, job: Target) -> None:
    """Passes a signal on to a job that has not got it yet.

    A job without a handler for it dies and can end none of its processes: those get it too, as
    far as they are in its group.
    """
    if not _has_reached_all(received, job):
        send(received.si_signo, job)


def send(number: int, job: Target) -> None:
    """Sends a signal to a job as ``pass_on`` does, unless it has ended."""
    whole = job.leads_group and number in STOPPING and not catches(job.pid, number)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        (os.killpg if whole else os.kill)(job.pid, number)


def _has_reached_all(received: Received, job: Target) -> bool:
    if received.si_code == _SI_KERNEL:
        return not job.leads_group
    return received.si_pid > 0 and name_of(received.si_pid) == _SENDER_TO_ALL


def end_as(code: int) -> int:
    """Ends as a process did that ended with this code, negative for a signal.

    Returns what to exit with, where it ended by itself or where its signal does not end this one.
    """
    if code >= 0:
        return code
    import resource  # noqa: PLC0415 - only for a job that a signal ended

    with contextlib.suppress(OSError, ValueError):  # the job's own core is enough
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        signal.signal(-code, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
    os.kill(os.getpid(), -code)
    return 128 - code
