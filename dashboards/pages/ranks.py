"""Ranks: who is late, who waits, and how each host kept up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import Dash, dcc, html
from dash.development.base_component import Component

from commscope.dashboards import step_charts, tables
from commscope.dashboards.app_data import AppData
from commscope.dashboards.pages.sections import sentence, titled
from commscope.dashboards.urlstate import UrlState
from commscope.report.html.opening import has_steps
from commscope.report.html.run_tables import imbalance_table, launch_table, ranks_table
from commscope.report.html.step_bars import shown_steps
from commscope.report.html.tables import Column, Table, count, table, time
from commscope.report.model import Report, WaitedFor
from commscope.sanitize import shortened
from commscope.units import size, span

PATH, TITLE = "/ranks", "Ranks"


def layout(app_data: AppData, state: UrlState) -> Component:
    """The page of one run."""
    report = app_data.runs[state.run].report
    shown = shown_steps(report) if has_steps(report) else []
    waits = step_charts.waits_chart(report)
    heat = step_charts.heat_chart(shown) if shown else None
    return html.Div(
        [
            html.H1(TITLE),
            *(html.P(sentence(says)) for says in _verdicts(report)),
            html.Div(
                [
                    titled("Who waits, and for whom", waits, step_charts.no_waits(report)),
                    titled("Exposed share by rank and step", heat, step_charts.NO_HEAT),
                ],
                className="pair",
            ),
            *_arrivals(app_data, state.run, report),
            html.H2("Tables"),
            html.Div(tables.every(_tables(report)), className="tables"),
            *_waiting(app_data, state.run, report),
        ]
    )


def register(app: Dash, app_data: AppData) -> None:
    """The map's callback is registered by the overview."""


def _verdicts(report: Report) -> list[str]:
    return [shortened(says, 600) for says in report.verdicts]


def _tables(report: Report) -> Sequence[Table | None]:
    return [
        ranks_table(report),
        imbalance_table(report),
        launch_table(report),
    ]


def _waiting(data: AppData, run: int, report: Report) -> list[Component]:
    """Where the tables on waiting are."""
    if not len(report.waiting):
        return []
    link = dcc.Link("page on collectives", href=data.link("/collectives", run))
    return [html.P(["Who waited for whom in which group: see the ", link, "."], className="note")]


def _arrivals(data: AppData, run: int, report: Report) -> list[Component]:
    """The order in which the ranks came to the collective for which they waited longest."""
    waited = None if report.worst_step is None else report.worst_step.waited_for
    if waited is None:
        return []
    drawn = tables.every([arrivals_table(waited)])
    start = min(row["start_ns"] for row in waited.arrivals)
    end = max(row["end_ns"] for row in waited.arrivals)
    href = data.link("/timeline", run, **_around(start, end))
    return [
        html.H2("Order of arrival"),
        html.P([f"{_named(waited)} ", dcc.Link("show in timeline", href=href)]),
        *drawn,
    ]


def _around(start: int, end: int) -> dict[str, Any]:
    around = max((end - start) // 4, 1_000)
    return {"t0": start - around, "t1": end + around}


def _named(waited: WaitedFor) -> str:
    of = "" if waited.bytes is None else f" of {size(waited.bytes)}"
    op = waited.op or "collective"
    group = shortened(waited.communicator, 60)
    return (
        f"The {op}{of} in {group} for which its members waited longest with nothing else to do: "
        f"{span(waited.skew_ns)} from the first arrival to the last."
    )


def arrivals_table(waited: WaitedFor) -> Table | None:
    """The members by arrival."""
    rows = sorted(waited.arrivals, key=lambda row: (row["start_ns"], row["rank"]))
    first = rows[0]["start_ns"] if rows else 0
    placed = [
        {**row, "place": place, "after_ns": row["start_ns"] - first}
        for place, row in enumerate(rows, start=1)
    ]
    columns = [
        Column("came as", count("place")),
        Column("rank", count("rank")),
        Column("after the first by", time("after_ns")),
        Column("waited", time("wait_ns")),
    ]
    return table("arrivals", "Members of this collective, first to last", columns, placed)
