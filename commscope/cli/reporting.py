"""From the options of a command to a report: reading, thresholds, configuration, cache."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commscope.cli.cached import chosen_store
from commscope.cli.options import read_trace
from commscope.config import DEFAULT_FILE
from commscope.engine.cached_reports import CachedReports, Question

if TYPE_CHECKING:
    from commscope.report.model import Report

# What reads and analyses takes longer to import than a report that was kept takes to print: it is
# imported where there is none.

THRESHOLD = click.option(
    "--threshold", "thresholds", multiple=True, metavar="RULE.NAME=VALUE",
    help="Another threshold of a rule, see commscope rules.",
)  # fmt: skip

_log = logging.getLogger(__name__)

_PATHS = ("paths", "logs", "topology", "counters")


def analyze_as_set(
    thresholds: Sequence[str],
    config: Path | None,
    *,
    quiet: bool,
    no_cache: bool,
    **reading: Any,
) -> Report:
    """The report of what the reading options say, by the thresholds of options and file."""
    store = chosen_store(no_cache=no_cache)
    if store is None:
        return _analyzed(thresholds, config, quiet=quiet, no_cache=no_cache, **reading)
    question = _question(thresholds, config, reading)
    reports = CachedReports(store)
    key = question.key(reports.least_bytes)
    kept = None if key is None else reports.get(key)
    found = None if kept is None else _report_in(kept)
    if found is not None:
        return found
    report = _analyzed(thresholds, config, quiet=quiet, no_cache=no_cache, **reading)
    data = None if key is None else _bytes_of(report)
    if key is not None and data is not None:
        reports.put(key, data, question)
    return report


def _report_in(kept: bytes) -> Report | None:
    """The report that was kept; null where the bytes hold none."""
    from commscope.report.kept import report_in  # noqa: PLC0415

    try:
        return report_in(kept)
    except ValueError as error:
        _log.debug("not taken from the cache: %s", error)
        return None


def _bytes_of(report: Report) -> bytes | None:
    """The report as bytes; null where it cannot be kept."""
    from commscope.report.kept import report_bytes  # noqa: PLC0415

    try:
        return report_bytes(report)
    except ValueError as error:  # a name that is no Unicode, as an UnicodeEncodeError
        _log.debug("not kept in the cache: %s", error)
        return None


def _analyzed(
    thresholds: Sequence[str], config: Path | None, *, quiet: bool, **reading: Any
) -> Report:
    from commscope.api import analyze  # noqa: PLC0415
    from commscope.config import find_config  # noqa: PLC0415

    trace = read_trace(config=config, quiet=quiet, **reading)
    given = find_config(config).thresholds
    return analyze(trace, thresholds=thresholds, default_thresholds=given)


def _question(thresholds: Sequence[str], config: Path | None, reading: dict[str, Any]) -> Question:
    """All files by their stamps, the settings among them; the rest as it was given."""
    paths = [path for name in _PATHS for path in reading[name]]
    settings = config if config is not None or not DEFAULT_FILE.is_file() else DEFAULT_FILE
    paths += [path for path in (reading["reference"], settings) if path is not None]
    return Question(paths, {**reading, "thresholds": thresholds, "config": settings})
