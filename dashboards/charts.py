"""Plotly figures in the colours of the app, and how a page shows them.

Figures are made in the light colours; the browser puts the dark ones in their place where the dark
theme is on, so that both need one figure. Plotly reads pseudo-HTML in texts: names from files pass
``text`` first.
"""

from __future__ import annotations

import html as entities
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from dash import MATCH, ClientsideFunction, Dash, Input, Output, dcc, html

from commscope.dashboards.theme import COLOURS, PALETTE
from commscope.report.html.axis import time_ticks
from commscope.sanitize import shortened, shortened_inside
from commscope.units import size

#: Where the shell keeps the theme that is on: ``light`` or ``dark``.
THEME = ("theme", "data")
_FONT = 'ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
_MOST_TEXT, _MOST_SAYS = 60, 600
_CONFIG: Any = {
    "displaylogo": False,
    "modeBarButtons": [["toImage", "resetScale2d"]],
    "showTips": False,
    "responsive": True,
}
_DECADE = (1, 2, 5)
#: Above this share of the full colour a cell is bright, and what is written on it is dark.
_BRIGHT, _ON_BRIGHT = 0.75, "#14181d"


@dataclass(frozen=True, slots=True)
class Cell:
    """What is written on a cell of a heat map, which has a share of the full colour."""

    column: int
    row: int
    says: str
    share: float


def colour(name: str) -> str:
    """The light colour of a part of the page, or of a category of events."""
    known = COLOURS["light"].get(name)
    return PALETTE[name]["light"] if known is None else known


def _in_the_dark() -> dict[str, str]:
    """Light colour -> dark colour."""
    pairs = {of["light"]: of["dark"] for of in PALETTE.values()}
    light, dark = COLOURS["light"], COLOURS["dark"]
    return {**pairs, **{light[name]: dark[name] for name in light if name not in _ALIKE}}


#: Those that are another one in the light theme only.
_ALIKE = ("mark", "low")


def text(words: str, most: int = _MOST_TEXT) -> str:
    """Text from a file for a figure: at most so many characters, of which none is read as HTML."""
    return entities.escape(shortened(words, most), quote=False)


def name_of(words: str, most: int) -> str:
    """The same for a name among others that begin alike: what is too long is cut inside."""
    return entities.escape(shortened_inside(words, most), quote=False)


def figure(
    *, x: str, y: str, traces: Iterable[Any] = (), height: int = 320, **layout: Any
) -> go.Figure:
    """An empty chart in the style of the app, with the titles of its axes and their units."""
    drawn = go.Figure(data=list(traces))
    drawn.update_layout(template=_template(), height=height, meta={"dark": _in_the_dark()})
    drawn.update_xaxes(title_text=x)
    drawn.update_yaxes(title_text=y)
    drawn.update_layout(**layout)
    return drawn


def _template() -> go.layout.Template:
    ink, dim, line, card = (colour(name) for name in ("ink", "dim", "line", "card"))
    axis = {
        "gridcolor": line, "linecolor": line, "zeroline": False, "automargin": True,
        "title": {"font": {"size": 12.5, "color": dim}, "standoff": 10},
        "tickfont": {"size": 12, "color": dim}, "ticks": "", "fixedrange": False,
    }  # fmt: skip
    return go.layout.Template(
        layout={
            "font": {"family": _FONT, "size": 13, "color": ink},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": [colour(it) for it in ("compute", "exposed", "copy", "comm", "medium")],
            "margin": {"l": 56, "r": 16, "t": 34, "b": 44},
            "legend": {
                "orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "title": {"text": ""},
                "font": {"size": 12.5, "color": dim}, "bgcolor": "rgba(0,0,0,0)",
            },
            "hoverlabel": {
                "bgcolor": card, "bordercolor": line, "align": "left", "namelength": -1,
                "font": {"family": _FONT, "size": 12.5, "color": ink},
            },
            "hovermode": "closest",
            "bargap": 0.12,
            "xaxis": axis,
            "yaxis": axis,
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": dim, "activecolor": ink},
        }
    )  # fmt: skip


def time_axis(longest_ns: float, most: int = 5) -> dict[str, Any]:
    """Ticks of an axis in ns at round times, in units that fit."""
    ticks = time_ticks(max(int(longest_ns), 1), most)
    places = [longest_ns * tick.place / 100 for tick in ticks]
    return {"tickmode": "array", "tickvals": places, "ticktext": [tick.label for tick in ticks]}


def size_axis(least: float, most: float) -> dict[str, Any]:
    """A logarithmic axis of sizes in bytes, with ticks at powers of ten."""
    return _log_axis(least, most, size, factors=(1,))


def rate_axis(least: float, most: float) -> dict[str, Any]:
    """A logarithmic axis of rates in GB/s, with ticks at 1, 2 and 5 times a power of ten."""
    decades = math.log10(most / least)
    return _log_axis(least, most, "{:,.9g}".format, factors=_DECADE if decades < 3 else (1,))


def _log_axis(
    least: float, most: float, say: Any, factors: Sequence[int]
) -> dict[str, Any]:  # fmt: skip
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    places = [f * 10.0**power for power in range(low, high + 1) for f in factors]
    names = [_round(say(place)) for place in places]
    room = 0.05 * max(math.log10(most / least), 1)
    return {
        "type": "log", "tickmode": "array", "tickvals": places, "ticktext": names,
        "range": [math.log10(least) - room, math.log10(most) + room],
    }  # fmt: skip


def _round(words: str) -> str:
    """A size without needless zeros: 10 MB."""
    number, _, unit = words.partition(" ")
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return f"{number} {unit}".strip()


def heat_scale(name: str = "exposed") -> list[list[Any]]:
    """A scale from nothing to the full colour."""
    return [[0.0, colour("card")], [1.0, colour(name)]]


def cell_texts(names: Sequence[Any], rows: Sequence[Any], cells: Iterable[Cell]) -> go.Scatter:
    """Words on cells of a heat map, each in the ink that can be read there in both themes."""
    found = list(cells)
    return go.Scatter(
        x=[names[cell.column] for cell in found], y=[rows[cell.row] for cell in found],
        mode="text", text=[cell.says for cell in found], hoverinfo="skip", showlegend=False,
        textfont={
            "color": [_ON_BRIGHT if cell.share > _BRIGHT else colour("ink") for cell in found],
            "size": 12.5,
        },
    )  # fmt: skip


def chart(name: str, drawn: go.Figure, says: str) -> html.Div:
    """A figure on a page: its place is kept free until it is drawn; ``says`` is read aloud.

    It is as wide as there is room, or as the width of its layout at most.
    """
    height = {"height": f"{drawn.layout.height:g}px"}
    widest = drawn.layout.width
    drawn.layout.width = None
    graph = dcc.Graph(id=graph_id(name), figure={}, config=_CONFIG, style=height, responsive=True)
    aria: Mapping[str, Any] = {"aria-label": shortened(says, _MOST_SAYS)}
    return html.Div(
        [graph, dcc.Store(id=figure_id(name), data=drawn.to_plotly_json())],
        className="chart-box",
        role="img",
        style=height if widest is None else {**height, "maxWidth": f"{widest:g}px"},
        **aria,
    )


def graph_id(name: str) -> dict[str, str]:
    """The id of a chart's graph: its ``clickData`` and ``hoverData`` are inputs of callbacks."""
    return {"type": "chart", "name": name}


def figure_id(name: str) -> dict[str, str]:
    """The id of the store from which a chart is drawn: its ``data`` is the figure as JSON."""
    return {"type": "chart-figure", "name": name}


def register(app: Dash) -> None:
    """Draws every chart in the colours of the theme that is on, and again when that changes."""
    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("commscope_charts", "coloured"),
        Output({"type": "chart", "name": MATCH}, "figure"),
        Input({"type": "chart-figure", "name": MATCH}, "data"),
        Input(*THEME),
    )
