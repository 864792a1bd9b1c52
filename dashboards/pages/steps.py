"""Steps: the parts of each, by rank, why communication was exposed, and every gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc
from dash import Dash, Input, Output, State, dcc, html
from dash.development.base_component import Component

from commscope.dashboards import charts, step_charts, tables
from commscope.dashboards.app_data import AppData
from commscope.dashboards.places import timeline_link
from commscope.dashboards.tables import Linked, LongTable
from commscope.dashboards.urlstate import UrlState, parse
from commscope.report.causes import CAUSES
from commscope.report.html.opening import has_steps
from commscope.report.html.reasons import Row
from commscope.report.html.run_tables import OPEN_NOTE, causes_table, step_columns
from commscope.report.html.step_bars import ShownStep, note_of, says_of, shown_steps
from commscope.report.html.tables import Cell, Column, Show, bytes_of, count, time, words
from commscope.report.model import Report
from commscope.wording import counted

PATH, TITLE = "/steps", "Steps"
_CHART, _CAUSES = "steps", "step-causes"
_MEAN = "mean"
_HEIGHT = 320


def layout(app_data: AppData, state: UrlState) -> Component:
    """The page of one run."""
    run, report = state.run, app_data.runs[state.run].report
    parts = _charts(report) if has_steps(report) else [_no_steps()]
    return html.Div(
        [
            html.H1(TITLE),
            *parts,
            *tables.every([causes_table(report)]),
            *_table("steps", run, steps_table(app_data, run)),
            html.H2("Gaps"),
            html.P("A gap is a stretch of exposed communication with one cause.", className="note"),
            *(
                _table("gaps", run, gaps_table(app_data, run))
                or [html.P("No communication was exposed.", className="empty")]
            ),
        ]
    )


def _no_steps() -> Component:
    return html.P(
        "No steps were found: the whole trace counts as one window. "
        "commscope dash --step-marker REGEX names annotations that begin a step.",
        className="empty",
    )


def register(app: Dash, app_data: AppData) -> None:
    """The choice of a rank, and rows of long tables."""

    @app.callback(
        Output(charts.figure_id(_CHART), "data"),
        Input("steps-rank", "value"),
        State("location", "pathname"),
        State("location", "search"),
        prevent_initial_call=True,
    )
    def of_rank(rank: str, pathname: str, search: str) -> Any:
        run = parse(pathname, search, app_data.prefix, len(app_data.runs)).run
        return rank_figure(app_data.runs[run].report, rank).to_plotly_json()

    tables.register_rows(app, "steps", lambda run: steps_table(app_data, run))
    tables.register_rows(app, "gaps", lambda run: gaps_table(app_data, run))


def _charts(report: Report) -> list[Component]:
    shown = shown_steps(report)
    if not shown:
        return [html.P("No step has any activity of a GPU.", className="empty")]
    ranks = sorted({row["rank"] for step in shown for row in step.rows})
    return [
        html.Div(
            [
                html.Section(
                    [
                        html.Div(
                            [html.H2("Step time"), _choice(ranks)], className="heading-and-choice"
                        ),
                        step_charts.bars_chart(shown, _CHART, _HEIGHT),
                        html.P(f"{says_of(shown)} {note_of(report, shown)}", className="note"),
                    ]
                ),
                html.Section(
                    [
                        html.H2("Why communication was exposed, mean over ranks"),
                        _causes(report, shown),
                    ]
                ),
            ],
            className="pair",
        )
    ]


def _causes(report: Report, shown: Sequence[ShownStep]) -> Component:
    if not len(report.gap_sums):
        return html.P("No communication was exposed.", className="empty")
    drawn = step_charts.causes_figure(report, shown, _HEIGHT)
    return charts.chart(_CAUSES, drawn, "Stacked bars: exposed communication of steps by cause")


def _choice(ranks: Sequence[int]) -> Component:
    options = [{"label": "mean over ranks", "value": _MEAN}]
    options += [{"label": f"rank {rank}", "value": str(rank)} for rank in ranks]
    return dcc.Dropdown(options, _MEAN, id="steps-rank", clearable=False, className="choice")


def rank_figure(report: Report, rank: str) -> go.Figure:
    """The steps of a rank; of all for anything that is none."""
    steps = shown_steps(report)
    if rank.isascii() and rank.isdigit():
        of_rank = [_only(step, int(rank)) for step in steps]
        steps = [step for step in of_rank if step.rows]
    return step_charts.bars_figure(steps, _HEIGHT)


def _only(step: ShownStep, rank: int) -> ShownStep:
    rows = [row for row in step.rows if row["rank"] == rank]
    return replace(step, rows=rows, is_open=any(row["open"] for row in rows))


def _table(name: str, run: int, made: LongTable) -> list[Component]:
    """A table with as few means as its length allows; nothing where it has no rows."""
    if made.rows.num_rows > tables.MOST_HTML:
        return [tables.long_table(name, run, made)]
    drawn = tables.table(
        made.columns, made.rows.to_pylist(), name=name, caption=made.caption, note=made.note
    )
    return [] if drawn is None else [drawn]


def steps_table(data: AppData, run: int) -> LongTable:
    """Every step of every rank; its number leads to the timeline."""
    report = data.runs[run].report
    first, *rest = step_columns(report)
    rows = report.steps.arrow.filter(report.steps.arrow.column("window_ns").is_valid())
    if not has_steps(report):
        rows = rows.slice(0, 0)
    return LongTable(
        f"Steps ({report.summary.step_source}): {counted(rows.num_rows, 'row')}",
        [Column("step", _to_step(data, run, first.show)), *rest],
        ["step", *(_SORTED_BY[column.head] for column in rest)],
        rows,
        OPEN_NOTE if pc.any(rows.column("open")).as_py() else "",
    )


_SORTED_BY = {
    "rank": "rank",
    "window": "window_ns",
    "compute": "compute_ns",
    "exposed comm.": "exposed_comm_ns",
    "of it waiting": "exposed_wait_ns",
    "exposed copy": "exposed_copy_ns",
    "idle": "idle_ns",
    "overlap": "overlap_ratio",
}


def _to_step(data: AppData, run: int, show: Show) -> Show:
    def linked(row: Row) -> Cell:
        cell = show(row)
        href = timeline_link(data, run, row["rank"], row["start_ns"], row["end_ns"])
        return Linked(cell.text, cell.sort, "show in timeline", href=href)

    return linked


def gaps_table(data: AppData, run: int) -> LongTable:
    """Every gap, longest first; its length leads to the timeline."""
    gaps: pa.Table = data.runs[run].report.gaps.arrow
    columns = [
        Column("length", _to_gap(data, run)),
        Column("rank", count("rank")),
        Column("step", count("step")),
        Column("begins at", time("start_ns")),
        Column("cause", _cause, is_number=False),
        Column("operation", words("op", 24), is_number=False),
        Column("size", bytes_of("bytes")),
        Column("waited for rank", count("straggler")),
        Column("next kernel", words("after", 60), is_number=False),
    ]
    by = ["dur_ns", "rank", "step", "start_ns", "cause", "op", "bytes", "straggler", "after"]
    note = "Times are those of the rank's own clock, since the begin of the trace."
    return LongTable(f"{counted(gaps.num_rows, 'gap')}, longest first", columns, by, gaps, note)


def _to_gap(data: AppData, run: int) -> Show:
    show = time("dur_ns")

    def linked(row: Row) -> Cell:
        cell, end = show(row), row["start_ns"] + row["dur_ns"]
        href = timeline_link(data, run, row["rank"], row["start_ns"], end)
        return Linked(cell.text, cell.sort, "show in timeline", href=href)

    return linked


def _cause(row: Row) -> Cell:
    known = CAUSES[row["cause"]]
    return Cell(f"{known}: {row['missing']}" if row["missing"] else known)
