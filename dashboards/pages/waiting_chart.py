"""Who waited for whom: a matrix of ranks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from dash.development.base_component import Component

from commscope.dashboards import charts
from commscope.dashboards.pages.sections import paragraph
from commscope.report.model import Report
from commscope.units import span

_MOST_RANKS = 64
_MOST_NUMBERED = 16
_CELL_PX, _LEAST_CELL_PX, _MOST_PX = 40, 9, 640
_AROUND_PX, _LEAST_WIDE_PX = 96, 420


@dataclass(frozen=True, slots=True)
class Waits:
    """How long ranks (rows) waited for others (columns), in ns; ``left_out`` are not shown."""

    ranks: tuple[int, ...]
    wait_ns: tuple[tuple[int, ...], ...]
    left_out: int


def waits(report: Report) -> Waits:
    """All groups together; of many ranks those with most waiting of their own or for them."""
    pairs: defaultdict[tuple[int, int], int] = defaultdict(int)
    part: defaultdict[int, int] = defaultdict(int)
    for row in report.waiting:
        pairs[row["waiter"], row["straggler"]] += row["wait_ns"]
        for rank in (row["waiter"], row["straggler"]):
            part[rank] += row["wait_ns"]
    every = [row["rank"] for row in report.ranks]
    most = sorted(every, key=lambda rank: (-part[rank], rank))[:_MOST_RANKS]
    shown = sorted(most)
    cells = tuple(tuple(pairs[waiter, late] for late in shown) for waiter in shown)
    return Waits(tuple(shown), cells, len(every) - len(shown))


def waiting_chart(report: Report) -> list[Component] | None:
    """The matrix; null where nobody waited."""
    found = waits(report)
    if not any(map(any, found.wait_ns)):
        return None
    more = f" {found.left_out:,} ranks with less waiting are not shown." if found.left_out else ""
    note = f"All groups together: sums over all collectives, exposed or hidden.{more}"
    return [
        charts.chart("waiting", waiting_figure(found), f"{describes(found)} The table has more."),
        paragraph(note, "note"),
    ]


def describes(found: Waits) -> str:
    """The longest waiting in words."""
    longest, waiter, late = max(
        (wait, -waiter, -late)
        for waiter, row in zip(found.ranks, found.wait_ns)
        for late, wait in zip(found.ranks, row)
    )
    return f"Rank {-waiter} waited longest: {span(longest)} for rank {-late}."


def waiting_figure(found: Waits) -> go.Figure:
    """The matrix as a heat map, with numbers where there is room for them."""
    count, most = len(found.ranks), max(map(max, found.wait_ns))
    cell = min(_CELL_PX, max(_MOST_PX // count, _LEAST_CELL_PX))
    names = [f"rank {rank}" for rank in found.ranks]
    hover = [
        [
            f"rank {waiter} waited {span(wait)} for rank {late}" if wait else ""
            for late, wait in zip(found.ranks, row)
        ]
        for waiter, row in zip(found.ranks, found.wait_ns)
    ]
    drawn = go.Heatmap(
        x=names, y=names, z=found.wait_ns, hovertext=hover, hoverinfo="text",
        colorscale=charts.heat_scale(), showscale=count > _MOST_NUMBERED, xgap=2, ygap=2, zmin=0,
        colorbar={"title": {"text": "waited"}, "thickness": 12, **charts.time_axis(most, 4)},
    )  # fmt: skip
    numbers = [_numbers(found, names)] if count <= _MOST_NUMBERED else []
    return charts.figure(
        x="waited for", y="who waited", height=count * cell + _AROUND_PX,
        traces=[drawn, *numbers], width=max(count * 3 * cell + 2 * _AROUND_PX, _LEAST_WIDE_PX),
        xaxis={"type": "category", "showgrid": False, "side": "top"},
        yaxis={"type": "category", "showgrid": False, "autorange": "reversed"},
        margin={"t": 56, "b": 16, "l": 64, "r": 16},
    )  # fmt: skip


def _numbers(found: Waits, names: list[str]) -> Any:
    """The waiting in words on its cells."""
    most = max(map(max, found.wait_ns))
    cells = (
        charts.Cell(late, waiter, span(wait), wait / most)
        for waiter, row in enumerate(found.wait_ns)
        for late, wait in enumerate(row)
        if wait
    )
    return charts.cell_texts(names, names, cells)
