"""What several ranks tell, for a terminal: who waited for whom, stragglers, roles, pipelines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from commscope.report.model import Report
from commscope.report.text_tables import (
    Cell,
    Row,
    count_of,
    share_of,
    text_of,
    text_table,
    time_of,
)
from commscope.sanitize import plain, shortened

_ROLES = {
    "dp": "data parallel",
    "tp": "tensor parallel",
    "pp": "pipeline parallel",
    "ep": "expert parallel",
    "cp": "context parallel",
}


def waiting(report: Report, most: int, width: int) -> RenderableType | None:
    """Who waited for whom, and whether one rank is to blame; nothing if nobody waited."""
    if not len(report.waiting):
        return None
    return _who_waited(report, most, report.verdicts[:most], width)


def _who_waited(report: Report, most: int, verdicts: Sequence[str], width: int) -> RenderableType:
    title, every = "Who waited for whom", len(report.waiting)
    if every > most:
        title += f", the first {most} of {every}"
    rows = report.waiting.head(most)
    cells = (
        Cell("rank", text_of("waiter")),
        Cell("waited for rank", text_of("straggler")),
        Cell("group", _communicator, "left", from_width=70),
        Cell("waiting", time_of("wait_ns")),
        Cell("of it exposed", time_of("exposed_wait_ns")),
    )
    table = text_table(title, cells, rows, width)
    return Group(table, *(Text(f"  {plain(says)}") for says in verdicts))


def _communicator(row: Row) -> str:
    return shortened(row["communicator"], 24)


def roles(report: Report, width: int) -> RenderableType | None:
    """Exposed communication by role; nothing where there are not several."""
    groups: defaultdict[str | None, list[Row]] = defaultdict(list)
    for row in report.roles:
        groups[row["role"]].append(row)
    if len(groups) < 2:
        return None
    cells = (
        Cell("role", lambda row: _ROLES.get(row["role"], row["role"] or "not known"), "left"),
        Cell("ranks", count_of("ranks")),
        Cell("communication", time_of("communication_ns")),
        Cell("exposed", time_of("exposed_comm_ns")),
        Cell("of the time", share_of("share"), from_width=70),
        Cell("of it waiting", time_of("exposed_wait_ns"), from_width=80),
    )
    rows = [{"role": role, **_mean(of_role, "exposed_comm_ns")} for role, of_role in groups.items()]
    rows.sort(key=lambda row: -(row["exposed_comm_ns"] or 0))
    title = "Roles (mean of their ranks, in steps; where two are exposed at once, both count)"
    return text_table(title, cells, rows, width)


def pipeline(report: Report, most: int, width: int) -> RenderableType | None:
    """The pipeline bubble of each stage; nothing where there is no pipeline."""
    stages: defaultdict[int, list[Row]] = defaultdict(list)
    for row in report.bubbles:
        stages[row["stage"]].append(row)
    if not stages:
        return None
    cells = (
        Cell("stage", count_of("stage")),
        Cell("its ranks", lambda row: shortened(row["names"], 24), "left"),
        Cell("bubble", time_of("bubble_ns")),
        Cell("of the time", share_of("share")),
        Cell("of it idle", time_of("idle_ns"), from_width=70),
    )
    rows = [
        {
            "stage": stage,
            "names": ", ".join(str(row["rank"]) for row in of_stage),
            **_mean(of_stage, "bubble_ns"),
        }
        for stage, of_stage in sorted(stages.items())[:most]
    ]
    title = "Pipeline bubble (mean of a stage's ranks: only its messages run, or nothing)"
    return text_table(title, cells, rows, width)


def _mean(rows: Sequence[Row], part: str) -> dict[str, Any]:
    """The mean of all times of the rows, null where one is, and the share of a part of them."""
    names = [name for name in rows[0] if name.endswith("_ns")]
    mean = {name: _mean_of([row[name] for row in rows]) for name in names}
    above, window = mean[part], mean["window_ns"]
    share = above / window if above is not None and window else None
    return {"ranks": len(rows), **mean, "share": share}


def _mean_of(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known)) if len(known) == len(values) else None


def print_stragglers(report: Report, console: Console, top: int) -> None:
    """Who arrived last, who waited for whom, and whether compute or a pipeline is uneven."""
    width = console.width
    if len(report.stragglers):
        console.print(_stragglers(report, top, width))
        console.print(_who_waited(report, top, report.verdicts[:top], width))
    else:
        matched = len(report.instances) > 0
        none = "no collective was matched across ranks: nobody can be told late"
        console.print(Text("none of these ranks arrived last" if matched else none))
        if len(report.waiting):
            console.print(_who_waited(report, top, (), width))
    for section in (_imbalance(report, top, width), pipeline(report, top, width)):
        if section is not None:
            console.print(section)


def _stragglers(report: Report, top: int, width: int) -> RenderableType:
    cells = (
        Cell("rank", text_of("rank")),
        Cell("group", _communicator, "left", from_width=70),
        Cell("role", lambda row: row["role"] or "", "left", from_width=90),
        Cell("last in", lambda row: f"{row['last_count']:,} of {row['instances']:,}"),
        Cell("late by (mean)", time_of("mean_lateness_ns")),
        Cell("others waited", time_of("waited_by_others_ns")),
        Cell("of all waiting", share_of("caused_share")),
    )
    return text_table("Who arrived last", cells, report.stragglers.head(top), width)


def _imbalance(report: Report, most: int, width: int) -> RenderableType | None:
    """Compute of each rank against its peers; nothing for one rank."""
    rows = [row for row in report.imbalance if row["ratio"] is not None]
    if not rows:
        return None
    has_stages = any(row["stage"] is not None for row in rows)
    cells = (
        Cell("rank", text_of("rank")),
        *([Cell("stage", text_of("stage"))] if has_stages else []),
        Cell("compute a step (p50)", time_of("compute_p50_ns")),
        Cell("its peers", time_of("peers_p50_ns")),
        Cell("ratio", lambda row: f"{row['ratio']:.3f}"),
    )
    peers = "the other ranks of its stage" if has_stages else "the other ranks"
    return text_table(f"Compute of a rank, against {peers}", cells, rows[:most], width)
