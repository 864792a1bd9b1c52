"""The report: one frozen model, computed once, that feeds every output."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from commscope.findings.model import Finding, Looked, Trust
from commscope.sanitize import plain, shortened

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "commscope.report/1"
_BATCH_ROWS = 1024
_PAGE_ROWS = 50
_VERDICT_CHARACTERS = 200


@dataclass(frozen=True, slots=True, repr=False)
class ReportTable:
    """A table for people: rows, Arrow, pandas, and HTML in a notebook."""

    arrow: pa.Table
    withheld: str | None = None  #: the rule of trust that keeps all rows from being shown

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.arrow.to_batches(max_chunksize=_BATCH_ROWS):
            yield from batch.to_pylist()

    def __repr__(self) -> str:
        rows = f"withheld by {self.withheld}" if self.withheld else f"{len(self)} rows"
        return f"<ReportTable: {rows}: {', '.join(self.columns)}>"

    def head(self, n: int) -> list[dict[str, Any]]:
        """The first n rows, or all if there are fewer."""
        rows: list[dict[str, Any]] = self.arrow.slice(0, n).to_pylist()
        return rows

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
        rows = "".join(_html_row(row) for row in self.head(_PAGE_ROWS))
        more = f"<p>{len(self) - _PAGE_ROWS} more rows</p>" if len(self) > _PAGE_ROWS else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _html_row(row: dict[str, Any]) -> str:
    cells = ("" if value is None else html.escape(plain(str(value))) for value in row.values())
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


@dataclass(frozen=True, slots=True)
class LogSection:
    """The logs of the job, and what they tell of the trace's collectives.

    ``paths`` has a row a communicator, operation, size and route; ``transports`` one a route, most
    exposed first. Exposed times are sums of gaps, so that they add up to what is exposed.
    """

    files: tuple[str, ...]
    joined_by: str
    notes: tuple[str, ...]
    communicators: ReportTable
    paths: ReportTable
    transports: ReportTable
    stretches: ReportTable


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that the report rests on; the rank is null where it holds several or was not used."""

    file: str
    format: str
    rank: int | None
    sha256: str | None  #: of the file as stored; null for one read in part
    bytes: int
    events: int


@dataclass(frozen=True, slots=True)
class Environment:
    """What the traces say of the machines."""

    versions: Mapping[str, str]  #: component -> version, or all of them where files disagree
    gpus: tuple[str, ...]
    platform: Literal["rocm", "cuda"] | None
    source: str


@dataclass(frozen=True, slots=True)
class RankClock:
    """How one rank's clock relates to the common one; the error is null if not measured.

    It is ahead by ``offset_ns`` at the rank's first activity, and gains ``drift_ppm`` from there.
    """

    rank: int
    offset_ns: int
    error_ns: int | None
    drift_ppm: float = 0.0


@dataclass(frozen=True, slots=True)
class Clock:
    """How the clocks of the ranks were aligned, and when the report's time begins."""

    method: str
    origin_ns: int
    ranks: tuple[RankClock, ...]


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
class WaitedFor:
    """The collective of a step for which its members waited longest with nothing else to do.

    ``arrivals`` has a row a member, by rank: ``rank``, when its kernel began (``start_ns``) and
    ended (``end_ns``), and ``wait_ns``. All times are on the common clock.
    """

    communicator: str
    op: str | None
    bytes: int | None
    straggler: int | None  #: who arrived last; null if the clocks are not that exact
    last_arrival_ns: int
    skew_ns: int  #: from the first arrival to the last
    arrivals: ReportTable


@dataclass(frozen=True, slots=True)
class WorstStep:
    """The closed step with the most exposed communication on any rank, as a picture needs it.

    It is an open one where there are no others, and the whole trace where there are no steps.
    ``ranks`` has a row a rank with its window and the parts of it; ``lanes`` one a stretch of
    ``compute``, ``communication`` or ``exposed`` communication. Stretches less than
    ``resolution_ns`` apart are one, which is busy for ``covered_ns`` of its ``dur_ns``: these add
    up exactly to the parts in ``ranks``. A lane has 240 of them at most, and 16 ranks are shown.
    Times are on the common clock, since the origin of the report.
    """

    step: int | None  #: null for the whole trace
    rank: int  #: the one with most
    exposed_comm_ns: int  #: of that rank
    start_ns: int
    end_ns: int
    resolution_ns: int
    says: str  #: why this one
    ranks: ReportTable
    lanes: ReportTable
    waited_for: WaitedFor | None  #: null where nobody is known to have waited
    notes: tuple[str, ...]  #: on ranks that are not shown


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """Everything that is known of a run, ready to be shown.

    The names and units of the tables' columns are those of docs/json-report.md, where ``bubbles``
    are called ``pipeline``, ``traffic`` ``all_to_all`` and ``families`` ``kernel_families``.
    ``calls`` has one row a collective on a rank, with what was hidden and exposed of it. Times are
    ns since ``origin_ns``, the first activity of all ranks on the wall clock. A table that a rule
    of trust withholds has no rows and names the rule in ``withheld``.
    """

    inputs: tuple[InputFile, ...]
    environment: Environment
    clock: Clock
    trust: Trust
    summary: Summary
    ranks: ReportTable
    steps: ReportTable
    communicators: ReportTable
    collectives: ReportTable
    bandwidth: ReportTable
    roles: ReportTable
    bubbles: ReportTable
    imbalance: ReportTable
    traffic: ReportTable
    calls: ReportTable
    instances: ReportTable
    waiting: ReportTable
    stragglers: ReportTable
    verdicts: tuple[str, ...]
    kernels: ReportTable
    families: ReportTable
    launch: ReportTable
    gaps: ReportTable
    gap_sums: ReportTable
    findings: tuple[Finding, ...]
    looked: tuple[Looked, ...]
    worst_step: WorstStep | None  #: null where no rank is known to have exposed communication
    log: LogSection | None  #: null without logs
    notes: tuple[str, ...]
    trust_line: str
    origin_ns: int

    def to_dict(self, *, more: Sequence[str] = ()) -> dict[str, Any]:
        """The JSON contract of docs/json-report.md; ``more`` as in ``to_json``."""
        from commscope.report.json import report_dict  # noqa: PLC0415 - a renderer of this model

        return report_dict(self, more=more)

    def to_json(self, *, more: Sequence[str] = ()) -> str:
        """The contract as text: sorted keys, equal bytes for equal input.

        ``more`` names long sections that are left out by default: ``instances``.
        """
        from commscope.report.json import report_json  # noqa: PLC0415

        return report_json(self, more=more)

    def to_text(self, width: int = 120) -> str:
        """What ``commscope analyze`` prints, without colours."""
        from commscope.report.text import report_text  # noqa: PLC0415

        return report_text(self, width)

    def __str__(self) -> str:
        return self.summary.verdict

    def __repr__(self) -> str:
        found = f"{self.summary.ranks} ranks, {self.summary.steps} steps"
        verdict = shortened(self.summary.verdict, _VERDICT_CHARACTERS)
        return f"<Report: {found}, trust {self.trust.verdict}: {verdict}>"

    def _repr_html_(self) -> str:
        verdict, trust = (html.escape(plain(t)) for t in (self.summary.verdict, self.trust_line))
        return f"<p><b>{verdict}</b></p><p>{trust}</p>{self.steps._repr_html_()}"
