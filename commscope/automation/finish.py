"""The files of one node, read once by the node itself: what is joined later is small."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from commscope import api
from commscope.automation.nodes import NODES, SAVED, files_of
from commscope.config import find_config
from commscope.engine.logs import LoadedLogs, load_logs
from commscope.engine.quotes import texts_of
from commscope.engine.run import Run
from commscope.engine.saved import saved_beside
from commscope.errors import DataError, FormatError, SchemaError, UnknownFormat, UsageError
from commscope.findings.log_rules import lines_of, with_texts
from commscope.parsers.opening import open_session
from commscope.parsers.rccl_log import Logs
from commscope.parsers.sources import find_sources
from commscope.report.log_report import LogReport, build_log_report
from commscope.saved import run_files, write_folder
from commscope.saved.files import with_quotes
from commscope.saved.pack import Files, unfinished, unwritable
from commscope.trace import Note

#: As ``load`` takes them.
Paths = Sequence["str | os.PathLike[str]"]


def finish_node(run_dir: Path, node: str) -> None:
    """Keeps what the traces, logs and tools of a node tell as ``.saved``, whole or not at all.

    What is damaged is left out, and said in the notes of what is kept; a node without any trace
    keeps its logs. Raises UsageError where there is no such node, or it cannot be written.
    """
    folder = run_dir / NODES / node
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such node; name one in {run_dir / NODES}")
    _keep(run_files(_with_lines(read_nodes([files_of(run_dir, node)]))), folder / SAVED)


def read_nodes(paths: Paths) -> Run:
    """What can be read of nodes; without any trace only their logs, with the reason as a note."""
    patterns = find_config().patterns
    try:
        return api.read(paths, default_patterns=patterns)
    except (UnknownFormat, UsageError):
        return _logs_only(paths, "no trace of a GPU was recorded")
    except (FormatError, SchemaError, DataError) as error:
        return _logs_only(paths, str(error))


def _logs_only(paths: Paths, why: str) -> Run:
    notes = _saved_notes(paths) or (Note("files", why),)
    try:
        return Run((), notes, load_logs(paths).logs)
    except (FormatError, UsageError):
        return Run((), notes)


def _saved_notes(paths: Paths) -> tuple[Note, ...]:
    """What was said as the nodes were read, if they were."""
    try:
        with open_session():
            return tuple(dict.fromkeys(saved_beside(find_sources(paths).sources).notes))
    except (FormatError, UsageError):
        return ()


def quoting(logs: Logs, report: LogReport) -> LogReport:
    """The report with the lines of logs that its findings quote."""
    texts = texts_of(logs, lines_of(report.findings))
    return replace(report, findings=with_texts(report.findings, texts))


def _with_lines(run: Run) -> Run:
    """The run with the lines of logs that findings quote: its logs are not kept."""
    if run.logs is None:
        return run
    report = build_log_report(LoadedLogs(run.logs, ()), None, find_config().thresholds)
    return with_quotes(run, quoting(run.logs, report).findings)


def _keep(files: Files, target: Path) -> None:
    """Puts the files in place of those of an earlier try."""
    new, old = unfinished(target), unfinished(target)
    try:
        write_folder(files, new)
        if target.exists():
            target.rename(old)
        new.rename(target)
    except OSError as error:
        raise unwritable(target, error) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
