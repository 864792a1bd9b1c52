"""Starts one process a rank, each in a group of its own, and ends all where one fails or hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from commscope.errors import CommscopeError, UsageError

#: What the program that plays schedules ends with, beyond 0 and 1.
BAD_ARGUMENTS, NO_GPU, WRONG_DEVICE, NO_LIBRARY, HANGS = 2, 77, 78, 79, 124

#: What a rank has in order to end after another one has failed: its own message tells more.
_GRACE_S = 5.0
_TICK_S = 0.02
_MOST_SHOWN = 400
_TAIL_BYTES = 16 << 10
_IMPOSSIBLE = {
    BAD_ARGUMENTS: "",
    NO_GPU: "there is no GPU that can be used: ",
    WRONG_DEVICE: "there are too few GPUs, or others than those compiled for: ",
    NO_LIBRARY: "the library for collectives is missing: ",
}


@dataclass(frozen=True, slots=True)
class RankCommand:
    """What is run as a rank, the variables it has besides those of this process, and its log."""

    rank: int
    words: tuple[str, ...]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankEnded:
    """How a rank ended; the code is negative for a signal. ``cut``: it was ended from outside."""

    rank: int
    words: tuple[str, ...]
    log: Path
    exit_code: int
    seconds: float
    cut: bool = False


def launch(commands: Sequence[RankCommand], limit_s: float) -> list[RankEnded]:
    """Runs all ranks at once, and gives how each ended, in the order of the ranks.

    Where one fails, the others have some seconds to end; after ``limit_s`` all are ended. Raises
    UsageError where a command cannot be started or a log not be written.
    """
    with _all_ended() as running:
        for command in commands:
            running.append(_start(command))
        until = time.monotonic() + limit_s
        while any(it.process.poll() is None for it in running):
            for it in running:
                it.note_end()
            if any(it.has_failed for it in running):
                until = min(until, time.monotonic() + _GRACE_S)
                _wait(running, until)
                break
            if time.monotonic() > until:
                break
            time.sleep(_TICK_S)
        for it in running:
            it.note_end()
        _end([it for it in running if it.ended_s is None])
    return [it.result() for it in running]


def check(ended: Sequence[RankEnded], limit_s: float) -> None:
    """Does nothing where all ranks ended well.

    Raises UsageError for what cannot be on this machine, else CommscopeError, with the last line of
    the rank that failed first, or of the first one that did not end.
    """
    failed = [it for it in ended if it.exit_code and not it.cut]
    if failed:
        first = min(failed, key=lambda it: it.seconds)
        more = _IMPOSSIBLE.get(first.exit_code)
        how = f"rank {first.rank} ended with {_code(first.exit_code)}: "
        said = last_line(first.log) or f"it said nothing ({first.log})"
        if more is None:
            raise CommscopeError(how + said)
        raise UsageError(more + said)
    cut = [it for it in ended if it.cut]
    if cut:
        who = ", ".join(str(it.rank) for it in cut)
        said = last_line(cut[0].log)
        raise CommscopeError(
            f"rank{'s' if len(cut) > 1 else ''} {who} did not end within {limit_s:g} s: all were "
            f"ended; rank {cut[0].rank} said last: {said or 'nothing'} ({cut[0].log})"
        )


def last_line(log: Path) -> str:
    """What a rank said last, of the program itself where it said anything."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith("commscope-gen: ")]
    return (own or lines or [""])[-1][:_MOST_SHOWN]


def _code(exit_code: int) -> str:
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return signal.Signals(-exit_code).name
    except ValueError:
        return f"signal {-exit_code}"


@dataclass(slots=True)
class _Running:
    """A rank while it runs."""

    command: RankCommand
    process: subprocess.Popen[bytes]
    began_s: float
    ended_s: float | None = None
    cut: bool = False

    @property
    def has_failed(self) -> bool:
        return bool(self.process.poll())

    def note_end(self) -> None:
        if self.ended_s is None and self.process.poll() is not None:
            self.ended_s = time.monotonic()

    def result(self) -> RankEnded:
        seconds = (self.ended_s or time.monotonic()) - self.began_s
        return RankEnded(
            self.command.rank, self.command.words, self.command.log, self.process.wait(), seconds,
            self.cut,
        )  # fmt: skip


def _start(command: RankCommand) -> _Running:
    words = list(command.words)
    environment = {**os.environ, **command.environment}
    try:
        command.log.parent.mkdir(parents=True, exist_ok=True)
        with command.log.open("wb") as log:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=environment, start_new_session=True,
            )  # fmt: skip
    except OSError as error:
        what = error.filename or words[0]
        raise UsageError(
            f"rank {command.rank}: {what} cannot be started or written: {error.strerror}"
        ) from error
    return _Running(command, process, time.monotonic())


def _wait(running: Sequence[_Running], until: float) -> None:
    """Waits until all have ended, or the time is over."""
    while time.monotonic() < until and any(it.process.poll() is None for it in running):
        for it in running:
            it.note_end()
        time.sleep(_TICK_S)


def _end(running: Sequence[_Running]) -> None:
    """Ends ranks with all that they started: profilers as well."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for it in running:
            it.cut = True
            # The group may outlive its first process.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(it.process.pid, number)
        _wait(running, time.monotonic() + _GRACE_S)


@contextmanager
def _all_ended() -> Iterator[list[_Running]]:
    """Processes that are ended, whatever happens meanwhile."""
    running: list[_Running] = []
    try:
        yield running
    finally:
        _end([it for it in running if it.process.poll() is None])
