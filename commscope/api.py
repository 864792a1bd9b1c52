"""The library's front door: ``load`` and ``analyze``."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence

from commscope.classify import NO_PATTERNS, Patterns
from commscope.engine.load import Progress, load_trace, silent
from commscope.errors import UsageError
from commscope.normalize import Options
from commscope.normalize.selection import StepSelection
from commscope.report.build import build_report
from commscope.report.model import Report
from commscope.trace import Trace

#: Ranks are stored as int32.
_MOST_RANKS = 2**31


def load(  # noqa: PLR0913 - one argument an option
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    patterns: Iterable[str] = (),
    ranks: Mapping[int, str] | None = None,
    capture: int | str | None = None,
    step_marker: str | None = None,
    steps: str | None = None,
    skip_first: int = 0,
    unprofiled_step_ms: float | None = None,
    parser: str | None = None,
    defaults: Patterns = NO_PATTERNS,
    progress: Progress = silent,
) -> Trace:
    """Reads traces into one Trace: all ranks of one capture.

    Args:
        paths: files, folders, glob patterns, archives, or ``-`` for standard input.
        patterns: ``CLASS=REGEX`` or ``FAMILY=REGEX``, before the built-in ones.
        ranks: rank -> file, where the files do not tell.
        capture: number of the capture from 0 (oldest), ``"all"``; null: the newest complete one.
        step_marker: regular expression; each annotation that fits begins a step.
        steps: step numbers and ranges such as ``"3-7,9"``.
        skip_first: steps of each rank to leave out.
        unprofiled_step_ms: how long a step takes without the profiler, where it is known.
        parser: name of the parser, where the file does not tell.
        defaults: patterns of a configuration file, after the ones given.
        progress: called with file, its number, number of files, bytes read, bytes in all or null.

    Raises:
        UsageError: the call asks for what is not there.
        FormatError: a file cannot be read as a trace.
        DataError: there is no GPU activity, or two files claim one rank.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    options = Options(
        patterns=Patterns.parse(list(patterns)).with_others(defaults),
        ranks=_ranks(ranks or {}),
        capture=_capture(capture),
        step_marker=compiled(step_marker),
        steps=StepSelection.parse(steps, skip_first),
        unprofiled_step_ns=_step_ns(unprofiled_step_ms),
    )
    return load_trace(given, options, parser=parser, progress=progress)


def _ranks(given: Mapping[int, str]) -> dict[int, str]:
    for rank, file in given.items():
        if not 0 <= rank < _MOST_RANKS:
            raise UsageError(
                f"--rank {rank}={file}: a rank is a number from 0 to {_MOST_RANKS - 1}"
            )
    return dict(given)


def _capture(given: int | str | None) -> int | str | None:
    if given is None or given == "all" or isinstance(given, int):
        return given
    if not re.fullmatch("[0-9]{1,9}", given):
        raise UsageError(f"--capture {given}: a number from 0, or all")
    return int(given)


def _step_ns(given_ms: float | None) -> int | None:
    if given_ms is None:
        return None
    if not 0 < given_ms < math.inf:
        raise UsageError(f"--unprofiled-step-ms {given_ms}: a time above 0, in milliseconds")
    return round(given_ms * 1e6)


def compiled(pattern: str | None) -> re.Pattern[str] | None:
    """A regular expression of the user; raises UsageError where it is none."""
    try:
        return None if pattern is None else re.compile(pattern)
    except re.error as error:
        raise UsageError(f"step marker {pattern}: no regular expression: {error}") from error


def analyze(trace: Trace) -> Report:
    """Computes, judges and puts together everything that is known of a trace."""
    return build_report(trace)
