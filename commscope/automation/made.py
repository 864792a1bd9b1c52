"""From the files of a run to the files of its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from commscope import api
from commscope.automation.finish import quoting, read_nodes
from commscope.config import find_config
from commscope.engine.load import trace_of
from commscope.engine.logs import LoadedLogs
from commscope.engine.neighbors import Neighbors, load_neighbors
from commscope.engine.run import Run
from commscope.errors import DataError, FormatError, UsageError
from commscope.logs.hang_model import Hang
from commscope.logs.hangs import find_hangs
from commscope.parsers.rccl_log import LogReader
from commscope.report.html import render
from commscope.report.html.log_page import render_log
from commscope.report.log_markdown import log_markdown
from commscope.report.log_report import LogReport, build_log_report
from commscope.report.log_verdict import log_verdict
from commscope.report.markdown import report_markdown
from commscope.report.markdown_text import Section, bullets
from commscope.report.model import Report
from commscope.sanitize import json_text
from commscope.trace import Note


@dataclass(frozen=True, slots=True)
class Given:
    """What a report is on: paths as ``load`` takes them, and those of logs and their neighbours.

    ``told`` is what is known of the job beside its files, one sentence each.
    """

    name: str
    paths: tuple[str | Path, ...]
    logs: tuple[Path, ...] = ()
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Made:
    """A report as files, by name, and as what they were drawn from.

    ``report`` is null where no GPU was traced: then ``logs`` stands for it. ``told`` is what all
    files say of the job beside it.
    """

    files: dict[str, bytes]
    verdict: str
    report: Report | None = None
    logs: LogReport | None = None
    told: tuple[str, ...] = ()


def report_of(given: Given) -> Made:
    """The report on traces; raises as ``commscope.load`` where there is none to report on."""
    run = api.read(given.paths, default_patterns=find_config().patterns)
    return _of_trace(given, run, find_hangs({} if run.logs is None else run.logs.tables))


def made_of(given: Given) -> Made:
    """The report; without any activity of a GPU it is one on logs, even where there are none.

    Raises UsageError where the configuration cannot be read.
    """
    run, neighbors = read_nodes(given.paths), _neighbors(given.logs)
    hangs = find_hangs(
        {} if run.logs is None else run.logs.tables, {} if neighbors is None else neighbors.tables
    )
    try:
        return _of_trace(given, run, hangs)
    except (DataError, FormatError) as error:
        return _of_logs(replace(given, told=(*given.told, *_why(run, error))), run, neighbors)


def _of_trace(given: Given, run: Run, hangs: Sequence[Hang]) -> Made:
    told = [*given.told, *(f"a hang: {hang.says}" for hang in hangs)]
    trace = trace_of(replace(run, notes=(*(Note("files", says) for says in told), *run.notes)))
    report = api.analyze(trace, default_thresholds=find_config().thresholds)
    verdict = " ".join([*(f"Hang: {hang.says}." for hang in hangs[:1]), report.summary.verdict])
    return Made(_files(report, given.name, told), verdict, report, told=tuple(told))


def _why(run: Run, error: Exception) -> list[str]:
    """Why there is no report on a trace: what kept all files from being read, if anything did."""
    return [str(error)] if run.readings else [note.says for note in run.notes]


def _neighbors(paths: Sequence[Path]) -> Neighbors | None:
    try:
        return load_neighbors(paths) if paths else None
    except (FormatError, UsageError):
        return None


def _files(report: Report, name: str, told: Sequence[str]) -> dict[str, bytes]:
    first = [Section("The job", bullets(told))]
    return {
        "report.html": render(report, title=name, told=told).encode(),
        "report.json": report.to_json().encode(),
        "report.md": report_markdown(report, first=first).encode(),
    }


def _of_logs(given: Given, run: Run, neighbors: Neighbors | None) -> Made:
    logs = LogReader().finish() if run.logs is None else run.logs
    loaded = LoadedLogs(logs, given.told)
    report = quoting(logs, build_log_report(loaded, neighbors, find_config().thresholds))
    return Made(_log_files(report, given), log_verdict(report), logs=report, told=given.told)


def _log_files(report: LogReport, given: Given) -> dict[str, bytes]:
    return {
        "report.html": render_log(report, title=given.name, told=given.told).encode(),
        "report.json": json_text(report.to_dict()).encode(),
        "report.md": log_markdown(report, told=given.told).encode(),
    }
