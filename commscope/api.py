"""The library's front door: ``load`` and ``analyze``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from commscope.analysis.result import Analysis, analyse
from commscope.classify import NO_PATTERNS, Patterns
from commscope.engine.cache import NoCache, ReadingCache
from commscope.engine.load import JobPaths, read_run, trace_of
from commscope.engine.reading import RunProgress, silent
from commscope.engine.run import Run
from commscope.engine.saved_options import with_options
from commscope.errors import UsageError
from commscope.findings.limits import parse_limits, require_known
from commscope.findings.log_rules import lines_of, with_texts
from commscope.findings.plugins import every_rule
from commscope.normalize import Options
from commscope.normalize.selection import StepSelection
from commscope.report.build import NO_LIMITS, build_report, report_of
from commscope.report.model import Report
from commscope.report.view import View
from commscope.trace import Note, Trace

if TYPE_CHECKING:
    from commscope.counters import KernelCounters

#: A step takes from a microsecond to a day.
_LEAST_MS, _MOST_MS = 1e-3, 86_400_000.0
#: Ranks are stored as int32.
_MOST_RANKS = 2**31

_Path = str | os.PathLike[str]


def load(  # noqa: PLR0913 - one argument an option
    paths: _Path | Sequence[_Path],
    *,
    logs: _Path | Sequence[_Path] = (),
    topology: _Path | Sequence[_Path] = (),
    counters: _Path | Sequence[_Path] = (),
    patterns: Iterable[str] = (),
    ranks: Mapping[int, _Path] | None = None,
    capture: int | Literal["all"] | None = None,
    step_marker: str | None = None,
    steps: str | None = None,
    skip_first: int = 0,
    unprofiled_step_ms: float | None = None,
    reference: _Path | None = None,
    roles: Iterable[str] = (),
    parser: str | None = None,
    default_patterns: Patterns = NO_PATTERNS,
    progress: RunProgress = silent,
    cache: ReadingCache = NoCache(),  # noqa: B008 - it holds nothing
) -> Trace:
    """Reads traces into one Trace: all ranks of one capture.

    Args:
        paths: files, folders, glob patterns, archives, or ``-`` for standard input.
        logs: of RCCL or NCCL, from the same job; those beside the traces are taken unasked.
        topology: of the hosts: output of rocm-smi, amd-smi and the like, dumps of the library, or
            what ``commscope env --save`` saved; found beside the traces too.
        counters: profiles of omniperf, rocprof-compute or rocprofv3: what binds slowed kernels.
        patterns: ``CLASS=REGEX`` or ``FAMILY=REGEX``, before the built-in ones.
        ranks: rank -> file, where the files do not tell.
        capture: number of the capture from 0 (oldest), ``"all"``; null: the newest complete one.
        step_marker: regular expression; each annotation that fits begins a step.
        steps: step numbers and ranges such as ``"3-7,9"``; only those are counted, but in ranks.
        skip_first: steps of each rank to leave out in the same way.
        unprofiled_step_ms: how long a step takes without the profiler, where it is known.
        reference: output of rccl-tests or nccl-tests on this machine, as text or JSON: its
            bandwidths are what to expect, instead of those that the links are known to give.
        roles: ``NAME=REGEX``: role of the process groups whose name or description fits.
        parser: name of the parser, where the file does not tell.
        default_patterns: those of a configuration file, after the ones given.
        cache: where what is read of large files is kept; nowhere by default.
        progress: called with file, its number, number of files, bytes read, bytes in all or null.

    Raises:
        UsageError: the call asks for what is not there.
        FormatError: a file cannot be read as a trace.
        DataError: there is no GPU activity, or two files claim one rank.
    """
    run = read(
        paths,
        logs=logs,
        topology=topology,
        patterns=patterns,
        ranks=ranks,
        capture=capture,
        step_marker=step_marker,
        steps=steps,
        skip_first=skip_first,
        unprofiled_step_ms=unprofiled_step_ms,
        roles=roles,
        parser=parser,
        default_patterns=default_patterns,
        progress=progress,
        cache=cache,
    )
    return _beside(trace_of(run), _listed(counters), reference)


def _beside(trace: Trace, counters: Sequence[_Path], reference: _Path | None) -> Trace:
    """The trace with what is measured apart from it."""
    if counters:
        trace = replace(trace, counters=_counted(counters))
    return trace if reference is None else _with_reference(trace, reference)


def read(  # noqa: PLR0913 - one argument an option
    paths: _Path | Sequence[_Path],
    *,
    logs: _Path | Sequence[_Path] = (),
    topology: _Path | Sequence[_Path] = (),
    patterns: Iterable[str] = (),
    ranks: Mapping[int, _Path] | None = None,
    capture: int | Literal["all"] | None = None,
    step_marker: str | None = None,
    steps: str | None = None,
    skip_first: int = 0,
    unprofiled_step_ms: float | None = None,
    roles: Iterable[str] = (),
    parser: str | None = None,
    default_patterns: Patterns = NO_PATTERNS,
    progress: RunProgress = silent,
    cache: ReadingCache = NoCache(),  # noqa: B008 - it holds nothing
) -> Run:
    """Reads traces as ``load`` does, up to what a saved run keeps: ``trace_of`` makes the Trace."""
    options = Options(
        patterns=Patterns.parse(list(patterns)).with_others(default_patterns),
        ranks=_ranks(ranks or {}),
        capture=_capture(capture),
        step_marker=_compiled(step_marker),
        steps=_steps(steps, skip_first),
    )
    by_role, step_ns = _roles(roles), _step_ns(unprofiled_step_ms)
    beside = JobPaths(_listed(logs), _listed(topology))
    run = read_run(_listed(paths), beside=beside, parser=parser, progress=progress, cache=cache)
    run = with_options(run, options, by_role)
    return replace(run, unprofiled_step_ns=step_ns or run.unprofiled_step_ns)


# What few runs need is imported where it is needed: a start takes most of a second as it is.


def _counted(paths: Sequence[_Path]) -> tuple[KernelCounters, ...]:
    from commscope.counters import kernel_counters  # noqa: PLC0415
    from commscope.engine.counters import load_counters  # noqa: PLC0415

    return kernel_counters(load_counters(paths).tables)


def _with_reference(trace: Trace, path: _Path) -> Trace:
    from commscope.engine.neighbors import load_reference  # noqa: PLC0415

    measured = load_reference(path)
    files = ", ".join(sorted(set(measured.column("file").to_pylist())))
    says = (
        f"the bandwidths to expect are those measured in {files}, where it has the operation and "
        "number of ranks"
    )
    return replace(trace, reference=measured, notes=(*trace.notes, Note("files", says)))


def _listed(paths: _Path | Sequence[_Path]) -> list[_Path]:
    return [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _ranks(given: Mapping[int, _Path]) -> dict[int, str]:
    for rank in given:
        if not _is_count(rank) or rank >= _MOST_RANKS:
            raise UsageError(f"rank {rank!r}: a rank is a whole number from 0 to {_MOST_RANKS - 1}")
    return {rank: os.fspath(file) for rank, file in given.items()}


def _capture(given: int | Literal["all"] | None) -> int | Literal["all"] | None:
    if given is None or given == "all" or _is_count(given):
        return given
    raise UsageError(f"capture {given!r}: a whole number from 0, or 'all'")


def _steps(ranges: str | None, skip_first: int) -> StepSelection:
    if not _is_count(skip_first):
        raise UsageError(f"skip first {skip_first!r}: a whole number from 0")
    if ranges is not None and not isinstance(ranges, str):
        raise UsageError(f"steps {ranges!r}: write them as text, such as '3-7,9'")
    return StepSelection.parse(ranges, skip_first)


def _step_ns(given_ms: float | None) -> int | None:
    if given_ms is None:
        return None
    if not isinstance(given_ms, (int, float)) or not _LEAST_MS <= given_ms <= _MOST_MS:
        raise UsageError(
            f"unprofiled step {given_ms!r} ms: milliseconds, from {_LEAST_MS:g} to {_MOST_MS:,.0f}"
        )
    return round(given_ms * 1e6)


def _roles(given: Iterable[str]) -> dict[str, re.Pattern[str]]:
    found = {}
    for text in given:
        name, _, pattern = text.partition("=")
        if not name or not pattern:
            raise UsageError(f"role {text}: write a name and a pattern, such as tp=tensor")
        found[name] = _expression("role", pattern)
    return found


def _expression(what: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{what} {pattern}: no regular expression: {error}") from error


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    return None if pattern is None else _expression("step marker", pattern)


def analyze(
    trace: Trace,
    *,
    only_ranks: Iterable[int] = (),
    only_roles: Iterable[str] = (),
    thresholds: Iterable[str] = (),
    default_thresholds: Mapping[str, float] = NO_LIMITS,
) -> Report:
    """Computes, judges and puts together everything that is known of a trace.

    ``only_ranks`` and ``only_roles`` limit the tables of collectives, bandwidth, waiting and
    stragglers, which are matched over all ranks all the same. ``thresholds`` are those of rules,
    such as ``"C1.min_share=0.7"``, before ``default_thresholds`` (those of a configuration file).
    Raises UsageError where the trace has no such rank or role, or no rule such a threshold.
    """
    limits = {**default_thresholds, **parse_limits(thresholds)}
    report = build_report(trace, View(frozenset(only_ranks), frozenset(only_roles)), limits)
    return _with_quotes(report, trace)


def examine(
    trace: Trace,
    *,
    thresholds: Iterable[str] = (),
    default_thresholds: Mapping[str, float] = NO_LIMITS,
) -> tuple[Analysis, Report]:
    """The same with the analysis that the report rests on, for what shows more than reports do."""
    limits = {**default_thresholds, **parse_limits(thresholds)}
    require_known(limits, every_rule())
    analysis = analyse(trace)
    return analysis, _with_quotes(report_of(analysis, limits=limits), trace)


def _with_quotes(report: Report, trace: Trace) -> Report:
    """The report with the lines of logs that its findings rest on."""
    if trace.logs is None:
        return report
    from commscope.engine.quotes import texts_of  # noqa: PLC0415

    texts = texts_of(trace.logs, lines_of(report.findings))
    return replace(report, findings=with_texts(report.findings, texts))
