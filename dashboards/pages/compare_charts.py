"""Two runs in charts: what adds up to the change, and their steps side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go

from commscope.compare.lines import cause_name
from commscope.compare.model import Cause, Comparison
from commscope.compare.verdict import signed, whole_percent
from commscope.dashboards import charts
from commscope.units import span

_MOST_CAUSES = 8
_BAR_PX, _AROUND_PX = 34, 84
_STEPS_PX = 320
#: Side, its colour, its symbol, and how its line is drawn.
_SIDES = (("base", "dim", "circle", "dot"), ("new", "compute", "diamond", "solid"))


def causes_figure(found: Comparison) -> go.Figure | None:
    """The causes one after the other and their sum; null without a change that is explained."""
    causes = [cause for cause in found.causes or () if cause.change_ns]
    if not causes or found.step_time is None:
        return None
    shown, rest = causes[:_MOST_CAUSES], causes[_MOST_CAUSES:]
    names = [cause_name(cause.name, cause.rank) for cause in shown]
    changes = [cause.change_ns for cause in shown]
    if rest:
        names.append(f"{len(rest)} smaller causes")
        changes.append(sum(cause.change_ns for cause in rest))
    says = [*(_told(cause) for cause in shown), *([signed(changes[-1])] if rest else [])]
    names.append("all: the step")
    return _added_up(names, [*changes, found.step_time.change_ns],
                     [*says, signed(found.step_time.change_ns)])  # fmt: skip


def _told(cause: Cause) -> str:
    share = whole_percent(cause.share)
    return f"{signed(cause.change_ns)}{f' ({share})' if share else ''}"


def _added_up(names: list[str], changes: list[int], says: list[str]) -> go.Figure:
    starts = [0]
    for change in changes[:-1]:
        starts.append(starts[-1] + change)
    starts[-1] = 0
    low = min(0, *(min(at, at + by) for at, by in zip(starts, changes)))
    high = max(0, *(max(at, at + by) for at, by in zip(starts, changes)))
    colours = [charts.colour("exposed" if change > 0 else "ok") for change in changes[:-1]]
    colours.append(charts.colour("dim"))
    drawn = go.Bar(
        x=changes, base=starts, y=names, orientation="h", text=says, textposition="outside",
        cliponaxis=False, hoverinfo="none", marker={"color": colours},
    )  # fmt: skip
    room = 0.22 * max(high - low, 1)
    return charts.figure(
        x="change of the mean step", y="", traces=[drawn], margin={"t": 8},
        height=len(names) * _BAR_PX + _AROUND_PX,
        xaxis={**_signed_axis(low, high), "range": [low - (room if low else 0), high + room],
               "zeroline": True, "zerolinecolor": charts.colour("dim")},
        yaxis={"type": "category", "autorange": "reversed", "showgrid": False},
    )  # fmt: skip


def _signed_axis(low: int, high: int) -> dict[str, Any]:
    """Ticks at round times on both sides of nothing."""
    axis = charts.time_axis(max(high, -low), 4)
    pairs = list(zip(axis["tickvals"], axis["ticktext"]))
    below = [(-at, f"-{told}") for at, told in pairs if at and -at >= low]
    above = [(at, f"+{told}" if at else told) for at, told in pairs if at <= high]
    every = [*reversed(below), *above]
    return {"tickmode": "array", "tickvals": [at for at, _ in every],
            "ticktext": [told for _, told in every]}  # fmt: skip


def steps_figure(found: Comparison) -> go.Figure | None:
    """The length of each step of both runs, and what was exposed of it; null without steps."""
    if not found.steps:
        return None
    longest = max(
        side["window_ns"] for it in found.steps for side in (it.base_ns, it.new_ns) if side
    )
    steps = len(found.steps)
    return charts.figure(
        x="step, in the order in which they are compared", y="mean over ranks", height=_STEPS_PX,
        traces=list(_lines(found)), hovermode="x unified",
        yaxis={**charts.time_axis(longest), "range": [0, 1.08 * longest]},
        xaxis={"range": [0.5, steps + 0.5], **({"dtick": 1} if steps <= 20 else {})},
    )  # fmt: skip


def _lines(found: Comparison) -> Iterator[Any]:
    for side, colour, symbol, dash in _SIDES:
        yield _line(found, side, ("window_ns", "step"), charts.colour(colour), symbol, dash)
    if any(it.base_ns and "exposed_comm_ns" in _names(it.base_ns) for it in found.steps):
        for side, _, symbol, dash in _SIDES:
            exposed = charts.colour("exposed")
            yield _line(found, side, ("exposed_comm_ns", "exposed"), exposed, symbol, dash)


def _names(parts: dict[str, int]) -> set[str]:
    """The parts, of which waiting and transfer may stand for all that is exposed."""
    return {*parts, *(["exposed_comm_ns"] if "exposed_wait_ns" in parts else [])}


def _value(parts: dict[str, int] | None, name: str) -> int | None:
    if parts is None:
        return None
    if name == "exposed_comm_ns" and name not in parts:
        return sum(value for part, value in parts.items() if _is_exposed(part))
    return parts.get(name)


def _is_exposed(part: str) -> bool:
    return part in ("exposed_wait_ns", "exposed_transfer_ns", "exposed_unmatched_ns")


def _line(  # noqa: PLR0913, PLR0917 - one argument a property of the line
    found: Comparison, side: str, of: tuple[str, str], colour: str, symbol: str, dash: str
) -> Any:
    name, told = of
    parts = [it.base_ns if side == "base" else it.new_ns for it in found.steps]
    numbers = [it.base_step if side == "base" else it.new_step for it in found.steps]
    values = [_value(it, name) for it in parts]
    hover = [
        "" if value is None else f"{side} step {number}: {told} {span(value)}"
        for value, number in zip(values, numbers)
    ]
    return go.Scatter(
        x=list(range(1, len(values) + 1)), y=values, mode="lines+markers", name=f"{side}, {told}",
        hoverinfo="text", hovertext=hover, line={"color": colour, "dash": dash, "width": 2},
        marker={"color": colour, "symbol": symbol, "size": 8},
    )  # fmt: skip


def steps_say(found: Comparison) -> str:
    """The chart for those who do not see it."""
    longest = [
        max((side["window_ns"] for side in sides if side), default=0)
        for sides in (
            [it.base_ns for it in found.steps],
            [it.new_ns for it in found.steps],
        )
    ]
    return (
        f"Length of {len(found.steps)} steps of both runs; the longest is {span(longest[0])} in "
        f"the base and {span(longest[1])} in the new run. The table has all numbers."
    )
