"""The report: one frozen model, computed once, that feeds every output."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from commscope.findings.model import Finding, Trust
from commscope.sanitize import plain

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "commscope.report/1"


@dataclass(frozen=True, slots=True, repr=False)
class ReportTable:
    """A table for people: rows, Arrow, pandas, and HTML in a notebook."""

    arrow: pa.Table

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.arrow.to_pylist())

    def __repr__(self) -> str:
        return f"ReportTable({len(self)} rows: {', '.join(self.columns)})"

    @property
    def columns(self) -> list[str]:
        """Names of the columns; the unit is the last word of the name."""
        return list(self.arrow.column_names)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a DataFrame; whole numbers stay whole where some are missing."""
        frame: pd.DataFrame = self.arrow.to_pandas(integer_object_nulls=True)
        return frame

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        rows = "".join(_html_row(row) for row in self.arrow.slice(0, 50).to_pylist())
        more = f"<p>{len(self) - 50} more rows</p>" if len(self) > 50 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _html_row(row: dict[str, Any]) -> str:
    cells = ("" if value is None else html.escape(plain(str(value))) for value in row.values())
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


@dataclass(frozen=True, slots=True)
class UpperBound:
    """What could be won at most if all exposed communication were hidden and nothing else moved."""

    exposed_hidden_ns: int  #: by how much the median step would shorten, on the slowest rank
    speedup: float


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Lengths of the closed steps of all ranks."""

    p50_ns: int
    p95_ns: int
    max_ns: int


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of the time in steps, of all ranks together; null where withheld."""

    compute: float | None
    exposed_comm: float | None
    exposed_copy: float | None
    idle: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The six numbers and the sentence; over closed steps where there are any."""

    ranks: int
    steps: int
    step_source: str
    step_confidence: float
    step_times: StepTimes | None
    shares: Shares | None
    overlap_ratio: float | None
    verdict: str
    upper_bound: UpperBound | None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is known of a run, ready to be shown.

    ``ranks``, ``steps``, ``collectives``, ``kernels``, ``families`` and ``launch`` are tables; the
    names and units of their columns are those of docs/json-report.md. ``calls`` has one row a
    collective on a rank, with what was hidden and exposed of it. Times are ns since ``origin_ns``,
    the first activity of all ranks on the wall clock.
    """

    inputs: tuple[dict[str, Any], ...]
    environment: dict[str, Any]
    clock: dict[str, Any]
    trust: Trust
    summary: Summary
    ranks: ReportTable
    steps: ReportTable
    collectives: ReportTable
    calls: ReportTable
    kernels: ReportTable
    families: ReportTable
    launch: ReportTable
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    trust_line: str
    origin_ns: int

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract of docs/json-report.md."""
        from commscope.report.json import report_dict  # noqa: PLC0415 - a renderer of this model

        return report_dict(self)

    def to_json(self) -> str:
        """The contract as text: sorted keys, equal bytes for equal input."""
        from commscope.report.json import report_json  # noqa: PLC0415

        return report_json(self)

    def to_text(self, width: int = 120) -> str:
        """What ``commscope analyze`` prints, without colours."""
        from commscope.report.text import report_text  # noqa: PLC0415

        return report_text(self, width)

    def __str__(self) -> str:
        return self.summary.verdict

    def _repr_html_(self) -> str:
        verdict, trust = (html.escape(plain(t)) for t in (self.summary.verdict, self.trust_line))
        return f"<p><b>{verdict}</b></p><p>{trust}</p>{self.steps._repr_html_()}"
