"""Kernels: families, those that took most time, and what communication beside them costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa
from dash import Dash
from dash.development.base_component import Component

from commscope.counters.model import KernelCounters
from commscope.dashboards import charts, tables
from commscope.dashboards.app_data import AppData, LoadedRun
from commscope.dashboards.pages.sections import empty, page, paragraph, section, sentence
from commscope.dashboards.tables import LongTable
from commscope.dashboards.theme import PALETTE
from commscope.dashboards.urlstate import UrlState
from commscope.report.html.reasons import Row
from commscope.report.html.run_tables import kernel_tables, withheld_kernels
from commscope.report.html.tables import (
    UNKNOWN_CELL,
    Cell,
    Column,
    Show,
    Table,
    count,
    decimal,
    table,
    time,
    word,
)
from commscope.report.model import Report
from commscope.report.text_counters import roofline_of
from commscope.units import percent, size, span
from commscope.wording import counted

PATH = "/kernels"
TITLE = "Kernels"
_MOST_CONTENDED = 20
_MOST_BARS = 12
_MOST_NAME = 110
_BAR_PX, _AROUND_PX = 28, 84


def layout(app_data: AppData, state: UrlState) -> Component:
    """The page of a run."""
    run = app_data.runs[state.run]
    report = run.report
    if withheld := withheld_kernels(report):
        return page(TITLE, empty(sentence(f"The tables of kernels are {withheld}")))
    if not len(report.kernels):
        return page(TITLE, empty("No activity of a GPU was recorded."))
    families, _ = kernel_tables(report)
    return page(
        TITLE,
        paragraph(summary(report), "lead"),
        section("families", "Families", *_families(report, families)),
        section("every", "Kernels and copies", *_every(app_data, state.run)),
        section("contention", "What overlap costs", *_contention(run)),
        section("counters", "What limits kernels", *_counters(run)),
    )


def register(app: Dash, app_data: AppData) -> None:
    """Fetches rows of the long table while one scrolls."""
    tables.register_rows(app, "kernels", lambda run: every_kernel(app_data.runs[run].report))


def summary(report: Report) -> str:
    """How many kernels there are, and which family takes most."""
    activities = sum(row["count"] for row in report.families)
    first = report.families.head(1)[0]
    names = counted(len(report.kernels), "name")
    return (
        f"{counted(activities, 'activity', 'activities')} of the GPU under {names}, all ranks "
        f"together. Most time goes to {first['family']}: {span(first['total_ns'])}, "
        f"{percent(first['share'])} of all."
    )


def _families(report: Report, made: Table) -> list[Component]:
    rows = report.families.head(_MOST_BARS)
    says = f"Time by family: {', '.join(_told(row) for row in rows[:3])}. The table has all."
    drawn = bars(
        [charts.text(row["family"]) for row in rows],
        [row["total_ns"] for row in rows],
        [f"{span(row['total_ns'])} ({percent(row['share'])})" for row in rows],
        [family_colour(row["family"]) for row in rows],
    )
    return [charts.chart("families", drawn, says), tables.shown(made)]


def _told(row: Row) -> str:
    return f"{row['family']} {percent(row['share'])}"


def family_colour(family: str) -> str:
    """The colour of a family, as on the timeline."""
    return charts.colour(family if family in PALETTE else "other")


def bars(
    names: Sequence[str], lengths_ns: Sequence[int], says: Sequence[str], colours: Sequence[str]
) -> go.Figure:
    """Times as bars from left to right, the first one on top, with what is said of each."""
    drawn = go.Bar(
        x=list(lengths_ns), y=list(names), orientation="h", text=list(says), cliponaxis=False,
        textposition="outside", hoverinfo="none", marker={"color": list(colours)},
    )  # fmt: skip
    longest = max(lengths_ns, default=1)
    axis = {**charts.time_axis(longest), "range": [0, 1.22 * longest]}
    return charts.figure(
        x="time, all ranks together", y="", traces=[drawn],
        height=len(names) * _BAR_PX + _AROUND_PX, xaxis=axis, margin={"t": 8},
        yaxis={"type": "category", "autorange": "reversed", "showgrid": False},
    )  # fmt: skip


def every_kernel(report: Report) -> LongTable:
    """All kernels by time, with how much longer they take beside communication."""
    made = kernel_tables(report)[-1]
    columns = (*made.columns, Column("beside communication", _stretch))
    by = ("name", "family", "count", "total_ns", "p50_ns", "max_ns", "hidden_share", "stretch")
    return LongTable("Kernels by time", columns, by, report.kernels.arrow)


def _stretch(row: Row) -> Cell:
    """How many times as long as alone; nothing where it is not compared."""
    value = row["stretch"]
    return Cell("", is_missing=True) if value is None else Cell(f"{value:,.2f} x", value)


def _every(app_data: AppData, run: int) -> list[Component]:
    made = every_kernel(app_data.runs[run].report)
    return [tables.long_table("kernels", run, made)]


def contended(run: LoadedRun) -> list[Row]:
    """Kernels that ran both beside communication and alone, with most time lost first."""
    rows: list[Row] = run.beside.contention.slice(0, _MOST_CONTENDED).to_pylist()
    return rows


def _contention(run: LoadedRun) -> list[Component]:
    rows = contended(run)
    if not rows:
        return [
            empty(
                "No kernel ran both beside communication and alone within the steps: what overlap "
                "costs cannot be compared."
            )
        ]
    lost = _lost(run.beside.contention)
    says = (
        f"Kernels of compute that ran beside communication took {span(abs(lost))} "
        f"{'more' if lost >= 0 else 'less'} than as many alone, all ranks together."
    )
    slow = [row for row in rows if row["extra_ns"] > 0][:_MOST_BARS]
    charted = [charts.chart("contention", contention_figure(slow), _slowest(slow))] if slow else []
    made = table(
        "contended",
        "The same kernel beside communication and alone",
        _CONTENDED,
        rows,
        note=_of_all(run.beside.contention.num_rows),
    )
    return [paragraph(says), *charted, *tables.every([made])]


def _lost(contention: pa.Table) -> int:
    return int(sum(contention.column("extra_ns").to_pylist()))


def _of_all(count: int) -> str:
    more = f"The {_MOST_CONTENDED} of {count:,} with most time lost. " * (count > _MOST_CONTENDED)
    return f"{more}Beside: communication runs for 90 % of the kernel or more; alone: never."


def _slowest(rows: Sequence[Row]) -> str:
    worst = rows[0]
    return (
        f"Median length alone and beside communication; most time is lost by {worst['name'][:60]} "
        f"on rank {worst['rank']}, {worst['stretch']:.2f} times as long. The table has all numbers."
    )


_CONTENDED = (
    Column("kernel", lambda row: word(row["name"], _MOST_NAME), is_number=False),
    Column("rank", count("rank")),
    Column("work-groups", count("workgroups")),
    Column("beside", count("beside")),
    Column("alone", count("alone")),
    Column("median beside", time("beside_p50_ns")),
    Column("median alone", time("alone_p50_ns")),
    Column("times as long", decimal("stretch", 2)),
    Column("lost in all", time("extra_ns")),
)


def contention_figure(rows: Sequence[Row]) -> go.Figure:
    """Of each kernel its median length alone and beside communication, joined by a line."""
    names = [f"{charts.name_of(row['name'], 48)} \u00b7 rank {row['rank']}" for row in rows]
    places = list(range(len(rows)))
    longest = max(row["beside_p50_ns"] for row in rows)
    halves = (
        ("alone_p50_ns", "alone", "compute", "circle"),
        ("beside_p50_ns", "beside communication", "exposed", "diamond"),
    )
    traces = [_joining(rows), *(_half(rows, *half) for half in halves)]
    return charts.figure(
        x="median length", y="", traces=traces, height=len(rows) * _BAR_PX + _AROUND_PX + 20,
        xaxis={**charts.time_axis(longest), "range": [0, 1.08 * longest]},
        yaxis={
            "tickmode": "array", "tickvals": places, "ticktext": names, "showgrid": False,
            "range": [len(rows) - 0.5, -0.5],
        },
    )  # fmt: skip


def _half(rows: Sequence[Row], column: str, name: str, look: str, symbol: str) -> Any:
    return go.Scatter(
        x=[row[column] for row in rows], y=list(range(len(rows))), mode="markers", name=name,
        hoverinfo="text", hovertext=[_hover(row, column, name) for row in rows],
        marker={"color": charts.colour(look), "size": 11, "symbol": symbol},
    )  # fmt: skip


def _hover(row: Row, column: str, name: str) -> str:
    full = charts.text(row["name"], _MOST_NAME)
    return f"{full}<br>{name}: {span(row[column])} (median)"


def _joining(rows: Sequence[Row]) -> Any:
    x: list[int | None] = []
    y: list[int | None] = []
    for place, row in enumerate(rows):
        x += [row["alone_p50_ns"], row["beside_p50_ns"], None]
        y += [place, place, None]
    return go.Scatter(
        x=x, y=y, mode="lines", hoverinfo="skip", showlegend=False,
        line={"color": charts.colour("idle"), "width": 3},
    )  # fmt: skip


def counted_kernels(run: LoadedRun) -> list[Row]:
    """Kernels of which counters are known, those with most time in the trace first."""
    return [
        {**row, "it": run.beside.counters[row["name"]]}
        for row in run.report.kernels
        if row["name"] in run.beside.counters
    ]


def _counters(run: LoadedRun) -> list[Component]:
    if not run.beside.counters:
        return [
            empty(
                "No hardware counters are known of these kernels: give a profile of omniperf, "
                "rocprof-compute or rocprofv3 with `--counters`."
            )
        ]
    caption = "Kernels by their hardware counters, of a profile of the same kernels"
    made = table("counted", caption, _COUNTED, counted_kernels(run), most=_MOST_CONTENDED)
    return list(tables.every([made]))


def _of_counters(
    say: Callable[[float], str], read: Callable[[KernelCounters], float | None]
) -> Show:
    """A column of what counters tell of a kernel."""

    def show(row: Row) -> Cell:
        value = read(row["it"])
        return UNKNOWN_CELL if value is None else Cell(say(value), value)

    return show


def _rate(value: float) -> str:
    return f"{value:,.0f}"


def _intensity(value: float) -> str:
    return f"{value:,.3g}"


def _hbm(it: KernelCounters) -> float | None:
    return it.measured.gbps.get("hbm")


_COUNTED = (
    Column("kernel", lambda row: word(row["name"], _MOST_NAME), is_number=False),
    Column("total", time("total_ns")),
    Column("roofline", lambda row: word(roofline_of(row["it"])), is_number=False),
    Column("FLOP/B", _of_counters(_intensity, lambda it: it.measured.intensity.get("hbm"))),
    Column("MFMA", _of_counters(percent, lambda it: it.measured.mfma_utilization)),
    Column("GB/s HBM", _of_counters(_rate, _hbm)),
    Column("read", _of_counters(size, lambda it: it.measured.fabric.read_bytes)),
    Column("written", _of_counters(size, lambda it: it.measured.fabric.write_bytes)),
    Column("remote", _of_counters(size, lambda it: it.measured.fabric.remote_bytes)),
)
