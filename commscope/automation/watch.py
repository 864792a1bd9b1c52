"""Runs that appear in a folder get their reports, each exactly one, whoever else looks on.

What was done is not remembered, but seen: a report that was made for the files as they are lies
beside them. So nothing is lost or done twice when this ends in the middle and begins anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from commscope.automation.join import all_nodes, report_on
from commscope.automation.made import Given, report_of
from commscope.automation.pause import Pause, sleep
from commscope.automation.publish import ERROR, is_published, is_shown, publish, require_room, show
from commscope.automation.runs import Found, Settling, find_runs, why_not_yet
from commscope.automation.wholeness import Traces, traces_at
from commscope.config import find_config
from commscope.errors import CommscopeError, UsageError
from commscope.sanitize import plain

INTERVAL_S, SETTLE_S, LOST_S = 30.0, 60.0, 1800.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Watched:
    """What came of a look at all runs, by name."""

    reported: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)  #: cannot be analysed, or not be written to
    waiting: list[str] = field(default_factory=list)  #: not finished, each with the reason


class Watcher:
    """Looks at the runs in a folder, as often as it is told to."""

    def __init__(
        self, watched: Path, settling: Settling, say: Say, output: Path | None = None
    ) -> None:
        """Reports go beside the runs, or into folders of their names in ``output``."""
        self._watched, self._settling, self._say, self._output = watched, settling, say, output
        # What is remembered spares work, nothing else: both by folder, with the digest of files.
        self._looked: dict[Path, tuple[str, Traces]] = {}
        self._refused: dict[Path, str] = {}

    def look(self, now_s: float) -> Watched:
        """Reports on every run that is finished and has no report yet."""
        came = Watched()
        for found in find_runs(self._watched, but=self._output):
            digest = found.digest()
            if self._refused.get(found.folder) == digest:
                continue
            try:
                self._look_at(found, digest, now_s, came)
            except (CommscopeError, MemoryError) as error:  # not even that can be written
                self._refused[found.folder] = digest
                came.failed.append(self._name(found))
                self._say(f"{self._name(found)}: {_reason(error)}")
        return came

    def _look_at(self, found: Found, digest: str, now_s: float, came: Watched) -> None:
        folder = self._place(found)
        if is_published(folder, digest):
            if not is_shown(folder, digest):
                show(folder, digest)
            return
        why = why_not_yet(found, now_s, self._settling) or self._half_written(found, digest, now_s)
        if why is not None:
            came.waiting.append(f"{self._name(found)} ({why})")
            return
        if found.job is None and not self._traces(found, digest).count:
            return
        require_room(folder)
        self._report(found, digest, folder, came)

    def _half_written(self, found: Found, digest: str, now_s: float) -> str | None:
        """Which trace was not written to its end; null where none is, or none will be."""
        if found.job is not None or found.stamps().quiet_s(now_s) >= self._settling.lost_s:
            return None
        half = self._traces(found, digest).half_written
        return None if half is None else f"{half} is not written to its end"

    def _traces(self, found: Found, digest: str) -> Traces:
        kept = self._looked.get(found.folder)
        if kept is None or kept[0] != digest:
            kept = self._looked[found.folder] = digest, traces_at(found.paths)
        return kept[1]

    def _report(self, found: Found, digest: str, folder: Path, came: Watched) -> None:
        if found.job is not None:
            finished = report_on(found.job, all_nodes, folder)
            if finished is not None:
                self._reported(found, finished.made.verdict, folder, came)
            return
        try:
            made = report_of(Given(found.folder.resolve().name, found.paths))
            files, verdict = made.files, made.verdict
        except (CommscopeError, MemoryError) as error:
            verdict = _reason(error)
            files = {ERROR: f"commscope: {plain(verdict)}\n".encode()}
        if not publish(folder, digest, files, current=found.digest):
            return
        if ERROR in files:
            came.failed.append(self._name(found))
            self._say(f"{self._name(found)}: cannot be analysed: {verdict}")
        else:
            self._reported(found, verdict, folder, came)

    def _reported(self, found: Found, verdict: str, folder: Path, came: Watched) -> None:
        came.reported.append(self._name(found))
        self._say(f"{self._name(found)}: {verdict} ({folder / 'report.html'})")

    def _place(self, found: Found) -> Path:
        """The folder of its report."""
        return found.folder if self._output is None else self._output / self._name(found)

    def _name(self, found: Found) -> str:
        """The name of a run below the folder that is watched."""
        if found.folder == self._watched:
            return self._watched.resolve().name or "root"
        return str(found.folder.relative_to(self._watched))


def _reason(error: CommscopeError | MemoryError) -> str:
    return "no memory for the analysis" if isinstance(error, MemoryError) else str(error)


def watch(  # noqa: PLR0913 - one argument an option
    folder: Path,
    *,
    once: bool,
    output: Path | None = None,
    settle_s: float = SETTLE_S,
    lost_s: float = LOST_S,
    interval_s: float = INTERVAL_S,
    say: Say,
    clock: Callable[[], float] = time.time,
    pause: Pause = sleep,
) -> Watched:
    """Reports on finished runs in a folder, once or until it is told to end: what came last.

    A run is finished when nothing was written to it for ``settle_s`` and its traces are whole, or
    nothing for ``lost_s``; one of ``commscope run`` when that says so, or has shown no sign of life
    for ``lost_s``. ``say`` gets a line a run. Raises UsageError where the folder is missing, or
    the configuration cannot be read.
    """
    find_config()
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder to watch")
    # Whoever comes again leaves a job the time to report on itself.
    settling = Settling(settle_s, 0.0 if once else settle_s, lost_s)
    watcher = Watcher(folder, settling, say, output)
    came = watcher.look(clock())
    while not once and not pause(interval_s):
        came = watcher.look(clock())
    return came
