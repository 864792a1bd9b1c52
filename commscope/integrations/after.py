"""After the training: a niced process of its own waits for all traces and writes the report.

python -m commscope.integrations.after FOLDER --ranks 0,1 --since TIME
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from commscope.collect.profiling.inject.telling import shielded, tell
from commscope.collect.profiling.options import parse_ranks
from commscope.errors import CommscopeError
from commscope.sanitize import plain

#: Hidden, as it is no file of the run: a report rests on all others.
LOG = ".analysis.log"
_WAIT_S, _POLL_S = 120.0, 0.5
#: By how much the clock of the file system may lag.
_LAG_S = 2.0
_NICE = 10


def start(folder: Path, ranks: frozenset[int], since: float) -> None:
    """Starts the process and does not wait for it; a failure is one line on stderr."""
    shielded(_start, lambda: None)(folder, ranks, since)


def _start(folder: Path, ranks: frozenset[int], since: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)  # the ranks that are recorded may be slower
    listed = ",".join(map(str, sorted(ranks)))
    words = [sys.executable, "-m", "commscope.integrations.after", str(folder)]
    with (folder / LOG).open("wb") as log:
        subprocess.Popen(
            [*words, "--ranks", listed, "--since", f"{since:.3f}"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
            start_new_session=True,
        )
    tell(f"the report will be {folder / 'report.html'}, or in its place report.error says why not")


def missing(folder: Path, ranks: frozenset[int], since: float) -> list[int]:
    """The ranks whose trace of this training is not there yet."""
    return [rank for rank in sorted(ranks) if not _is_new(_trace(folder, rank), since)]


def _trace(folder: Path, rank: int) -> Path:
    return folder / f"rank{rank}.pt.trace.json.gz"


def _is_new(path: Path, since: float) -> bool:
    """Traces come into their place whole."""
    try:
        return path.stat().st_mtime >= since - _LAG_S
    except OSError:
        return False


def _wait(folder: Path, ranks: frozenset[int], since: float, wait_s: float) -> list[int]:
    """Waits for all traces; the ranks that are missing when the time is over."""
    deadline = time.monotonic() + wait_s
    while absent := missing(folder, ranks, since):
        if time.monotonic() >= deadline:
            return absent
        time.sleep(_POLL_S)
    return []


def main(arguments: Sequence[str] | None = None) -> int:
    """Waits, then reports on what is there; an exit code of ``commscope.errors``."""
    parser = argparse.ArgumentParser(description="Writes the report once all traces are there.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ranks", type=parse_ranks, required=True)
    parser.add_argument("--since", type=float, default=0.0, help="older traces do not count")
    parser.add_argument("--wait", type=float, default=_WAIT_S, help="seconds to wait for all")
    given = parser.parse_args(arguments)
    os.nice(_NICE)
    absent = _wait(given.folder, given.ranks, given.since, given.wait)
    told = f"no trace of ranks {', '.join(map(str, absent))} after {given.wait:g} s"
    if absent:
        tell(told)
    try:
        if len(absent) == len(given.ranks):
            return _refuse(given.folder, CommscopeError(told))
        return _report(given.folder, (told,) if absent else ())
    except CommscopeError as error:  # not even that can be written
        tell(plain(str(error)))
        return error.exit_code


def _report(folder: Path, told: tuple[str, ...]) -> int:
    """Writes the report as ``commscope run`` does; ``commscope watch`` then leaves it alone."""
    # The rank that starts this needs none of it.
    from commscope.automation.made import Given, made_of  # noqa: PLC0415
    from commscope.automation.publish import publish  # noqa: PLC0415
    from commscope.automation.runs import Found  # noqa: PLC0415

    found = Found(folder, (folder,))
    digest = found.digest()
    try:
        made = made_of(Given(folder.resolve().name, found.paths, told=told))
    except CommscopeError as error:
        tell(plain(str(error)))
        return _refuse(folder, error)
    publish(folder, digest, made.files, current=found.digest)
    tell(plain(made.verdict))
    return 0


def _refuse(folder: Path, error: CommscopeError) -> int:
    """Says in place of the report why there is none."""
    from commscope.automation.publish import ERROR, publish  # noqa: PLC0415
    from commscope.automation.runs import Found  # noqa: PLC0415

    found = Found(folder, (folder,))
    files = {ERROR: f"commscope: {plain(str(error))}\n".encode()}
    publish(folder, found.digest(), files, current=found.digest)
    return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
