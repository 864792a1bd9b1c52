"""Size against bus bandwidth, as it was and as it is expected to be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from dash.development.base_component import Component

from commscope.dashboards import charts
from commscope.dashboards.app_data import LoadedRun
from commscope.dashboards.beside import Links
from commscope.dashboards.pages.sections import empty, paragraph
from commscope.report.collectives import slow_busbw_gbps
from commscope.report.html.reasons import Row
from commscope.report.model import Report
from commscope.units import percent, size, span

_CURVE_POINTS = 48
_MOST_OPS = 8
#: Colour and symbol by operation: never the colour alone.
_LOOKS = (
    ("compute", "circle"), ("exposed", "diamond"), ("copy", "square"), ("comm", "cross"),
    ("medium", "star"), ("ok", "hexagon"), ("high", "pentagon"), ("dim", "bowtie"),
)  # fmt: skip
_HEIGHT = 420


def points(report: Report) -> list[Row]:
    """The kinds of collectives of which size and bus bandwidth are known."""
    return [row for row in report.collectives if row["busbw_gbps"] and row["bytes"]]


def bandwidth_chart(run: LoadedRun) -> list[Component]:
    """The chart, and where the expected curve is from."""
    rows = points(run.report)
    if not rows:
        reasons = dict.fromkeys(row["bandwidth_note"] or "" for row in run.report.collectives)
        why = "; ".join(reason for reason in reasons if reason)
        return [empty(f"No bandwidth is known{f': {why}' if why else ''}.")]
    return [
        charts.chart("bandwidth", bandwidth_figure(rows, run.beside.links), _describes(rows)),
        paragraph(_sources(rows), "note"),
    ]


def _describes(rows: Sequence[Row]) -> str:
    best = max(rows, key=lambda row: row["busbw_gbps"])
    return (
        f"Bus bandwidth by size of {len(rows)} kinds of collectives; the most is "
        f"{best['busbw_gbps']:,.1f} GB/s at {size(best['bytes'])}. The table below has all numbers."
    )


def _sources(rows: Sequence[Row]) -> str:
    """Where the lines are from, and what open symbols are."""
    sources = dict.fromkeys(row["expected_from"] for row in rows if row["expected_from"])
    told = f"Dashed: expected, from {'; '.join(sources)}." if sources else (
        "What to expect is not known of these GPUs: give a measurement of rccl-tests or nccl-tests "
        "of this machine with --reference."
    )  # fmt: skip
    open_ones = any(row["bandwidth_note"] for row in rows)
    bound = " Open symbols are lower bounds: the time may hold waiting." if open_ones else ""
    spread = " A line down from a symbol leads to the slow 5 %." if _has_spread(rows) else ""
    return f"{told}{bound}{spread}"


def _has_spread(rows: Sequence[Row]) -> bool:
    return any(slow_busbw_gbps(row) < row["busbw_gbps"] for row in rows)


def bandwidth_figure(rows: Sequence[Row], links: Links) -> go.Figure:
    """The kinds by operation and number of ranks, each with the curve that is expected of it."""
    of_series: defaultdict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        of_series[row["op"] or "unknown", row["group_size"] or 0].append(row)
    curves = {key: curve(links, *key, *_reach(rows)) for key in of_series}
    traces = list(_traces(of_series, curves))
    rates = [row["busbw_gbps"] for row in rows] + [slow_busbw_gbps(row) for row in rows]
    rates += [gbps for _, expected in curves.values() for gbps in expected]
    return charts.figure(
        x="size of the message", y="bus bandwidth (GB/s)", height=_HEIGHT, traces=traces,
        xaxis=charts.size_axis(*_reach(rows)), yaxis=charts.rate_axis(min(rates), max(rates)),
    )  # fmt: skip


def _reach(rows: Sequence[Row]) -> tuple[float, float]:
    """The sizes that the axis shows: at least a decade."""
    sizes = [row["bytes"] for row in rows]
    least, most = min(sizes), max(sizes)
    room = max((10 * least / most) ** 0.5, 1.0)
    return least / room, most * room


def curve(
    links: Links, op: str, members: int, least: float, most: float
) -> tuple[list[int], list[float]]:
    """Sizes and the bus bandwidths that are expected of them; empty where that is not known."""
    sizes = [round(it) for it in np.geomspace(max(least, 1), max(most, 2), _CURVE_POINTS).tolist()]
    found = [(at, links.expected(op, members, at).busbw_gbps) for at in dict.fromkeys(sizes)]
    known = [(at, gbps) for at, gbps in found if gbps]
    return [at for at, _ in known], [gbps for _, gbps in known]


def _traces(
    of_series: dict[tuple[str, int], list[Row]],
    curves: dict[tuple[str, int], tuple[list[int], list[float]]],
) -> Iterator[Any]:
    ops = list(dict.fromkeys(op for op, _ in of_series))
    for (op, members), rows in sorted(of_series.items()):
        name, symbol = _LOOKS[min(ops.index(op), _MOST_OPS - 1)]
        told = f"{op} on {members} ranks" if members else op
        group = f"{op} {members}"
        sizes, rates = curves[op, members]
        if sizes:
            yield go.Scatter(
                x=sizes, y=rates, mode="lines", name=charts.text(f"{told}, expected"),
                legendgroup=group, hoverinfo="skip", showlegend=False,
                line={"color": charts.colour(name), "dash": "dash", "width": 1.5},
            )  # fmt: skip
        yield _symbols(rows, charts.text(told), group, charts.colour(name), symbol)


def _symbols(rows: Sequence[Row], name: str, group: str, colour: str, symbol: str) -> Any:
    down = [row["busbw_gbps"] - slow_busbw_gbps(row) for row in rows]
    return go.Scatter(
        x=[row["bytes"] for row in rows], y=[row["busbw_gbps"] for row in rows], mode="markers",
        name=name, legendgroup=charts.text(group), hoverinfo="text",
        hovertext=[_hover(row) for row in rows],
        marker={
            "color": colour, "size": 10, "line": {"color": colour, "width": 1.5},
            "symbol": [f"{symbol}{'-open' if row['bandwidth_note'] else ''}" for row in rows],
        },
        error_y={
            "type": "data", "symmetric": False, "array": [0.0] * len(rows), "arrayminus": down,
            "color": colour, "thickness": 1, "width": 3, "visible": any(down),
        },
    )  # fmt: skip


def _hover(row: Row) -> str:
    mark = "more than " if row["bandwidth_note"] else ""
    group = charts.text(row["communicator"], 40)
    lines = [
        f"{charts.text(row['op'] or 'unknown')} of {size(row['bytes'])} in {group}",
        f"bus bandwidth {mark}{row['busbw_gbps']:,.1f} GB/s",
    ]
    if row["expected_busbw_gbps"]:
        share = percent(row["share_of_expected"])
        lines.append(f"expected {row['expected_busbw_gbps']:,.1f} GB/s: {share} of it")
    if row["transfer_p50_ns"]:
        lines.append(f"transfer {span(row['transfer_p50_ns'])} (median), {row['count']:,} in all")
    return "<br>".join(lines)
