"""The report on a job's logs and their neighbours: one frozen model that feeds every output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from commscope.engine.logs import LoadedLogs
from commscope.engine.neighbors import Neighbors
from commscope.findings.log_case import LogCase
from commscope.findings.log_rules import look_at_logs
from commscope.findings.model import Finding, Looked
from commscope.findings.plugins import all_log_rules
from commscope.logs.hang_model import Hang
from commscope.logs.hangs import find_hangs
from commscope.logs.neighbor_summary import NeighborSummary, summarize_neighbors
from commscope.logs.summary import LogSummary, summarize


@dataclass(frozen=True, slots=True)
class LogReport:
    """What the logs say, what rules found in them, and what their neighbours add."""

    summary: LogSummary
    findings: tuple[Finding, ...]
    looked: tuple[Looked, ...]
    neighbors: NeighborSummary | None
    hangs: tuple[Hang, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract of docs/log.md."""
        from commscope.report.log_json import log_dict  # noqa: PLC0415 - a renderer of this model

        return log_dict(self)


def build_log_report(
    loaded: LoadedLogs, neighbors: Neighbors | None, limits: Mapping[str, float]
) -> LogReport:
    """Sums up, lets the rules look, and finds where ranks part."""
    summary = summarize(loaded.logs, loaded.notes)
    findings, looked = look_at_logs(LogCase(loaded.logs, summary), all_log_rules(), limits)
    return LogReport(
        summary,
        findings,
        looked,
        None if neighbors is None else summarize_neighbors(neighbors),
        find_hangs(loaded.logs.tables, {} if neighbors is None else neighbors.tables),
    )
