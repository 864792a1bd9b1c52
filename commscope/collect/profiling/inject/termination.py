"""SIGTERM while steps are recorded: the trace is saved first, and then the process ends by it.

Only where the program has left the signal to the system. Python's handlers wait until the main
thread comes back from C, which it never does from a collective whose peers are gone: a thread
hears of the signal through a pipe, and ends the process when the time is over.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

#: Seconds until the main thread must have heard, and for saving. torchrun and Slurm kill after 30.
_HEARD_S = 5.0
_SAVED_S = 20.0


class Termination:
    """Has something saved at SIGTERM, between ``begin`` and ``end``; ``note`` is called before."""

    def __init__(self, save: Callable[[], object], note: Callable[[], object]) -> None:
        self._save, self._note = save, note
        self._pipe: tuple[int, int] | None = None
        self._is_busy = self._is_pending = self._watches_forks = False
        self._heard, self._never = threading.Event(), threading.Event()

    def begin(self) -> None:
        """From here on; a program with a handler or a wake-up pipe of its own keeps it."""
        if self._pipe is not None or threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
            return
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        own = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        if own != -1:
            signal.set_wakeup_fd(own)
            _close(reader, writer)
            return
        self._pipe = reader, writer
        signal.signal(signal.SIGTERM, self._handle)
        threading.Thread(target=self._watch, args=(reader,), name="commscope", daemon=True).start()
        if not self._watches_forks:
            self._watches_forks = True
            os.register_at_fork(after_in_child=self._leave_to_child)

    def end(self) -> None:
        """The signal is the system's again, unless the program has taken it meanwhile."""
        if self._pipe is None or threading.current_thread() is not threading.main_thread():
            return
        writer, self._pipe = self._pipe[1], None
        if signal.getsignal(signal.SIGTERM) == self._handle:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        current = signal.set_wakeup_fd(-1)
        if current != writer:
            signal.set_wakeup_fd(current)
        _close(writer)  # which ends the thread

    @contextmanager
    def put_off(self) -> Iterator[None]:
        """Work on what is to be saved, during which a signal has to wait."""
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False
            if self._is_pending:
                self._save_and_die()

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_busy:
            self._is_pending = True
        else:
            self._save_and_die()

    def _save_and_die(self) -> None:
        if self._heard.is_set():  # torchrun and Slurm both send it
            return
        self._heard.set()
        self._is_pending = False
        try:
            self._note()
            self._save()
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)

    def _watch(self, reader: int) -> None:
        data = os.read(reader, 64)
        while data and signal.SIGTERM not in data:
            data = os.read(reader, 64)
        if not data:
            _close(reader)
            return
        self._note()
        if self._heard.wait(_HEARD_S):
            self._never.wait(_SAVED_S)
        _die_from_any_thread()

    def _leave_to_child(self) -> None:
        """What is forked meanwhile ends as ever."""
        if self._pipe is not None:
            reader = self._pipe[0]
            self.end()
            _close(reader)


def _die_from_any_thread() -> None:
    """Python lets only the main thread change what a signal does."""
    default = ctypes.CDLL(None).signal
    default.argtypes, default.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
    default(signal.SIGTERM, None)
    os.kill(os.getpid(), signal.SIGTERM)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        with suppress(OSError):  # a program that closes all that it does not know
            os.close(descriptor)
