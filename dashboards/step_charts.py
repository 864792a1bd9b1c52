"""Charts of steps and ranks that several pages show: their data, and how they are drawn."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import plotly.graph_objects as go
from dash import Dash, Input, Output, State, html, no_update

from commscope.dashboards import charts
from commscope.dashboards.app_data import AppData
from commscope.dashboards.places import timeline_link
from commscope.dashboards.urlstate import parse
from commscope.report.causes import CAUSES
from commscope.report.html.heat import ranks_of, shares_of
from commscope.report.html.step_bars import (
    PARTS,
    ShownStep,
    hover_of,
    known_of,
    mean_of,
    name_of,
)
from commscope.report.model import Report
from commscope.units import percent, span
from commscope.wording import counted

HEAT = "heat"
_MOST_NUMBERED, _MOST_NUMBERED_RANKS = 12, 16
_MOST_RANKS = 48
#: Room beside the bars for what is written there, as a share of both sides.
_LABEL_ROOM, _LABEL_PX = 0.25, 12.5
_ROW_PX, _LEAST_PX, _MOST_PX, _AXES_PX = 26, 150, 560, 84
NO_HEAT = "No rank's step is known to have exposed communication."
_OF_RANK = re.compile("rank ([0-9]+)")
_OF_STEP = re.compile(r"(-?[0-9]+)\*?")
#: The colour of each cause, by the names of the theme.
_CAUSE_COLOURS = {
    "straggler_wait": "exposed_wait",
    "host_late": "host_sync",
    "host_sync": "optimizer",
    "stream_order": "comm",
    "dependency": "exposed",
    "step_tail": "exposed_unmatched",
    "kernel_gap": "copy",
    "unknown": "other",
}


def bars_chart(shown: Sequence[ShownStep], name: str = "steps", height: int = 300) -> html.Div:
    """Steps by length and parts."""
    says = f"Stacked bars: the parts of {counted(len(shown), 'step')}, mean over ranks"
    return charts.chart(name, bars_figure(shown, height), says)


def bars_figure(shown: Sequence[ShownStep], height: int = 300) -> go.Figure:
    """The parts of each step as a stack, the mean over its ranks; what is withheld is hollow."""
    names = [name_of(step) for step in shown]
    knowns = [known_of(step.rows) for step in shown]
    hover = [hover_of(step) for step in shown]
    traces = [
        _bar(words, names, [mean_of(k, key) if k else None for k in knowns], part, hover)
        for part, key, words in PARTS
    ]
    if not all(knowns):
        whole = [None if k else step.window_ns for k, step in zip(knowns, shown)]
        traces.append(_bar("withheld", names, whole, "card", hover))
    return _stacked(traces, max((step.window_ns for step in shown), default=1), height)


def _stacked(traces: Sequence[go.Bar], longest_ns: float, height: int) -> go.Figure:
    """Bars of the steps upon each other."""
    return charts.figure(
        x="step",
        y="",
        traces=traces,
        height=height,
        barmode="stack",
        xaxis={"type": "category", "nticks": 20},
        yaxis=charts.time_axis(longest_ns),
    )


def _bar(
    words: str, names: Sequence[str], values: Sequence[Any], colour: str, hover: Sequence[str]
) -> go.Bar:
    says = [
        f"{words} {span(value)}<br>{whole}" if value is not None else whole
        for value, whole in zip(values, hover)
    ]
    return go.Bar(
        name=words, x=names, y=values, hovertext=says, hoverinfo="text",
        marker={"color": charts.colour(colour), "line": {"width": 0}},
    )  # fmt: skip


def heat_chart(shown: Sequence[ShownStep]) -> html.Div | None:
    """Exposed share by rank and step; null where nothing is known."""
    ranks, more = ranks_of(shown)
    shares = shares_of(shown, ranks)
    if not any(share for of_rank in shares for share in of_rank):
        return None
    says = "Map of the exposed share by rank and step; the table of steps has its numbers"
    note = f"{counted(more, 'rank')} with less exposed communication not shown. " if more else ""
    return html.Div(
        [
            charts.chart(HEAT, heat_figure(shown, ranks, shares), says),
            html.P(f"{note}A click shows the step on the timeline.", className="note"),
        ]
    )


def heat_figure(
    shown: Sequence[ShownStep], ranks: Sequence[int], shares: Sequence[Sequence[float | None]]
) -> go.Figure:
    """The map; with numbers where there is room for them."""
    steps = [name_of(step) for step in shown]
    texts = [[_share(share) for share in of_rank] for of_rank in shares]
    most = max(share or 0 for of_rank in shares for share in of_rank)
    names = [f"rank {rank}" for rank in ranks]
    is_numbered = len(steps) <= _MOST_NUMBERED and len(ranks) <= _MOST_NUMBERED_RANKS
    numbers = [charts.cell_texts(steps, names, _cells(shares, most))] if is_numbered else []
    hover = [
        [f"rank {rank}, step {step}<br>{text} exposed" for step, text in zip(steps, row)]
        for rank, row in zip(ranks, texts)
    ]
    drawn = go.Heatmap(
        z=shares, x=steps, y=names, zmin=0, zmax=most,
        colorscale=charts.heat_scale(), xgap=1 if len(steps) < 100 else 0,
        ygap=1, hovertext=hover, hoverinfo="text",
        colorbar={"tickformat": ".0%", "thickness": 10, "outlinewidth": 0, "len": 1, "nticks": 5},
    )  # fmt: skip
    return charts.figure(
        x="step",
        y="",
        traces=[drawn, *numbers],
        height=_height(len(ranks)),
        xaxis={"type": "category", "nticks": 20, "showgrid": False},
        yaxis={"autorange": "reversed", "showgrid": False, "nticks": 20, "ticklabelstandoff": 8},
        margin={"t": 8},
    )


def _cells(shares: Sequence[Sequence[float | None]], most: float) -> Iterator[charts.Cell]:
    for row, of_rank in enumerate(shares):
        for column, share in enumerate(of_rank):
            yield charts.Cell(column, row, _share(share), (share or 0) / most if most else 0)


def _share(share: float | None) -> str:
    return "withheld" if share is None else percent(share)


def _height(rows: int) -> int:
    return _AXES_PX + min(max(rows * _ROW_PX, _LEAST_PX), _MOST_PX)


def waits_chart(report: Report) -> html.Div | None:
    """Who waits and who is waited for; null where no waiting is known."""
    sums = wait_sums(report)
    if not sums:
        return None
    says = "Bars by rank: how long it waits for others, and how long others wait for it"
    return charts.chart("waits", waits_figure(sums), says)


def no_waits(report: Report) -> str:
    """Why there is no such chart."""
    if report.summary.ranks == 1:
        return "One rank's file alone does not show whether it waits for others."
    return "No collective could be matched between ranks, so no waiting is known."


def wait_sums(report: Report) -> list[tuple[int, int, int]]:
    """By rank: ns that it waits for others, and that others wait for it; most of many ranks."""
    waits: defaultdict[int, int] = defaultdict(int)
    caused: defaultdict[int, int] = defaultdict(int)
    for row in report.waiting:
        waits[row["waiter"]] += row["wait_ns"]
        caused[row["straggler"]] += row["wait_ns"]
    if not waits:
        return []
    every = [(row["rank"], waits[row["rank"]], caused[row["rank"]]) for row in report.ranks]
    most = sorted(every, key=lambda sums: -max(sums[1:]))[:_MOST_RANKS]
    return sorted(most)


def waits_figure(sums: Sequence[tuple[int, int, int]]) -> go.Figure:
    """Waiting to the left, being waited for to the right."""
    names = [f"rank {rank}" for rank, _, _ in sums]
    left, right = (max(of_rank[place] for of_rank in sums) for place in (1, 2))
    room = _LABEL_ROOM * (left + right)
    sides = (("waits for others", 1, -1, "exposed"), ("others wait for it", 2, 1, "high"))
    traces = [
        go.Bar(
            name=words, y=names, x=[sign * of_rank[place] for of_rank in sums], orientation="h",
            marker={"color": charts.colour(colour), "line": {"width": 0}}, hoverinfo="text",
            text=[span(of_rank[place]) if of_rank[place] else "" for of_rank in sums],
            textposition="outside", cliponaxis=False, textfont={"size": _LABEL_PX},
            hovertext=[f"rank {of_rank[0]}: {words} {span(of_rank[place])}" for of_rank in sums],
        )
        for words, place, sign, colour in sides
    ]  # fmt: skip
    return charts.figure(
        x="waiting in collectives, exposed or hidden: sums over the whole trace",
        y="",
        traces=traces,
        height=_height(len(sums)),
        barmode="relative",
        bargap=0.3,
        xaxis={**_both_ways(max(left, right)), "range": [-left - room, right + room]},
        yaxis={"autorange": "reversed", "showgrid": False, "type": "category"},
    )


def _both_ways(longest_ns: int) -> dict[str, Any]:
    """Ticks at round times on either side of zero."""
    half = charts.time_axis(longest_ns, 3)
    pairs = list(zip(half["tickvals"], half["ticktext"], strict=True))
    every = [*((-at, label) for at, label in reversed(pairs[1:])), *pairs]
    return {**half, "tickvals": [at for at, _ in every], "ticktext": [label for _, label in every]}


def causes_figure(report: Report, shown: Sequence[ShownStep], height: int = 300) -> go.Figure:
    """Exposed communication of the steps by cause, the mean over their ranks."""
    sums = cause_sums(report)
    names = [name_of(step) for step in shown]
    causes = sorted({cause for _, cause in sums}, key=list(CAUSES).index)
    means = {
        cause: [sums.get((step.step, cause), 0) / max(len(step.rows), 1) for step in shown]
        for cause in causes
    }
    traces = [
        go.Bar(
            name=CAUSES[cause], x=names, y=means[cause], hoverinfo="text",
            marker={"color": charts.colour(_CAUSE_COLOURS[cause])},
            hovertext=[
                f"step {name}: {CAUSES[cause]}, {span(mean)} a rank"
                for name, mean in zip(names, means[cause])
            ],
        )
        for cause in causes
    ]  # fmt: skip
    stacks = [sum(stack) for stack in zip(*means.values(), strict=True)]
    return _stacked(traces, max(stacks, default=1), height)


def cause_sums(report: Report) -> dict[tuple[int | None, str], int]:
    """(step, cause) -> exposed ns of all ranks."""
    sums: defaultdict[tuple[int | None, str], int] = defaultdict(int)
    for row in report.gap_sums:
        sums[row["step"], row["cause"]] += row["total_ns"]
    return dict(sums)


def register(app: Dash, data: AppData) -> None:
    """A click on the map leads to that step and rank on the timeline."""

    @app.callback(
        Output("location", "href", allow_duplicate=True),
        Input(charts.graph_id(HEAT), "clickData"),
        State("location", "pathname"),
        State("location", "search"),
        prevent_initial_call=True,
    )
    def show(click: dict[str, Any] | None, pathname: str, search: str) -> Any:
        run = parse(pathname, search, data.prefix, len(data.runs)).run
        return no_update if click is None else _clicked(data, run, click) or no_update


def _clicked(data: AppData, run: int, click: dict[str, Any]) -> str | None:
    point = click["points"][0]
    rank, step = _OF_RANK.fullmatch(str(point["y"])), _OF_STEP.fullmatch(str(point["x"]))
    if rank is None or step is None:
        return None
    return step_link(data, run, int(rank[1]), int(step[1]))


def step_link(data: AppData, run: int, rank: int, step: int) -> str | None:
    """The timeline at a rank's step; null where the rank has no such step."""
    for row in data.runs[run].report.steps:
        if (row["rank"], row["step"]) == (rank, step) and row["start_ns"] is not None:
            return timeline_link(data, run, rank, row["start_ns"], row["end_ns"])
    return None
