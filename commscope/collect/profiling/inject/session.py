"""The profiling of one process of the job, from the first step that is seen to its exit."""

from __future__ import annotations

import atexit
import multiprocessing
import multiprocessing.util
import os
from typing import Any

from .device import DeviceClock, HostClock, is_captured, on_gpu
from .marks import Marks
from .notes import ENDED, RECORDS, STEPS, TERMINATED, note
from .packing import beside_others, trace_of
from .ranks import place
from .recorder import Recorder
from .settings import KINETO, Settings
from .telling import shielded, tell
from .termination import Termination
from .timing import StepTimes, append_step_time

#: Set by the process that takes the steps of a rank; those it starts inherit it and keep quiet.
_TAKEN = "COMMSCOPE_PROFILED_PID"


class Session:
    """Steps are told to it; nothing happens in a process that makes none.

    ``begin_step`` and ``finish`` never raise; ``rank`` and ``world_size`` are known from
    the first step on.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pid: int | None = None
        self.rank, self.world_size = 0, 1
        self._recorder: Any = None
        self._times: StepTimes | None = None
        self._records = False
        self.begin_step = shielded(self._begin_step, self._abandon)
        self.finish = shielded(self._finish, self._abandon)
        self._termination = Termination(self.finish, lambda: note(TERMINATED, self.rank))

    def _begin_step(self, step: int) -> None:
        import torch  # noqa: PLC0415 - the job has it, the launcher need not

        if is_captured(torch):
            return
        if self._pid is None:
            self._open()
        if os.getpid() != self._pid or self._recorder is None:
            return
        if self._times is not None:
            self._times.begin_step(step)
        with self._termination.put_off():
            self._recorder.begin_step(step)
        self._watch_end()

    def _watch_end(self) -> None:
        """A signal must not cost what has been recorded; before and after it acts as ever."""
        if not self._recorder.is_recording:
            self._termination.end()
            return
        if not self._records:
            self._records = True
            note(RECORDS, self.rank)
        self._termination.begin()

    def _open(self) -> None:
        """The first step: now the process group is there, and tells the rank."""
        self._pid = os.getpid()
        self.rank, self.world_size = place(os.environ)
        note(STEPS, self.rank)
        is_first = os.environ.setdefault(_TAKEN, str(self._pid)) == str(self._pid)
        if not is_first or not self._settings.wants(self.rank) or self._has_been_recorded():
            return
        if self._settings.kind == KINETO:
            self._recorder = self._new_recorder()
            self._times = StepTimes(self._settings.plan.timed, clock, self._write_time)
        else:
            self._recorder = Marks()
        _at_exit(self.finish)

    def _has_been_recorded(self) -> bool:
        """Whether a process of this rank was here before, as where one script trains twice."""
        folder, is_shared = self._settings.traces, self._settings.is_shared
        if not is_shared or not trace_of(folder, self.rank).exists():
            return False
        tell(f"rank {self.rank}: a process before has left its trace, and this one leaves none")
        return True

    def _new_recorder(self) -> Recorder:
        settings = self._settings
        named = beside_others if settings.is_shared else os.replace
        return Recorder(settings.plan, self.rank, settings.traces, place=named)

    def _write_time(self, milliseconds: float) -> None:
        append_step_time(self._settings.log, self.rank, milliseconds)

    def _finish(self) -> None:
        if os.getpid() != self._pid or self._recorder is None:
            return
        with self._termination.put_off():
            missing = self._recorder.finish()
        self._termination.end()
        note(ENDED, self.rank)
        if missing is not None and self.rank == self._settings.speaker:
            tell(f"rank {self.rank}: {missing}")

    def _abandon(self) -> None:
        """After a failure: the profiler is switched off, if that can still be done."""
        recorder, self._recorder = self._recorder, None
        note(ENDED, self.rank)
        self._termination.end()
        if recorder is not None:
            shielded(recorder.abandon, lambda: None)()


def clock() -> HostClock | DeviceClock:
    """The clock of the device in use."""
    import torch  # noqa: PLC0415 - the job has it, the launcher need not

    return DeviceClock(torch) if on_gpu(torch) else HostClock()


def _at_exit(action: Any) -> None:
    """Processes of ``multiprocessing`` leave without the handlers of ``atexit``."""
    if multiprocessing.parent_process() is None:
        atexit.register(action)
    else:
        multiprocessing.util.Finalize(None, action, exitpriority=100)
