"""Compare: what changed from one open run to another, why, and both side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from commscope.compare.html.page import FindingText, findings, outcome, trust
from commscope.compare.html.tables import (
    causes_table,
    collectives_table,
    environment_table,
    kernel_tables,
    parts_table,
    ranks_table,
    runs_table,
    steps_table,
)
from commscope.compare.model import Comparison
from commscope.dashboards import charts, tables
from commscope.dashboards.app_data import AppData
from commscope.dashboards.pages.compare_charts import causes_figure, steps_figure, steps_say
from commscope.dashboards.pages.compare_timelines import couple, timelines
from commscope.dashboards.pages.sections import (
    Content,
    empty,
    page,
    paragraph,
    present,
    prose,
    section,
    sentence,
)
from commscope.dashboards.urlstate import UrlState, parse
from commscope.errors import CommscopeError, UsageError
from commscope.report.html.document import sentences
from commscope.sanitize import shortened

PATH = "/compare"
TITLE = "Compare"


@dataclass(frozen=True, slots=True)
class Sides:
    """The numbers of the runs that are compared."""

    base: int
    new: int


def layout(app_data: AppData, state: UrlState) -> Component:
    """The page of two runs; raises UsageError where the address names one that there is not."""
    if app_data.comparisons is None:
        return page(
            TITLE,
            empty(
                "One run is open, so there is nothing to compare it with. Start the program with "
                "two or more: `commscope dash BASE NEW`."
            ),
        )
    sides = sides_of(state, len(app_data.runs))
    chooser = _chooser(app_data, sides)
    if sides.base == sides.new:
        return page(TITLE, chooser, empty("Both sides are the same run: choose another one."))
    try:
        found = app_data.comparisons.of(sides.base, sides.new)
    except CommscopeError as error:
        return page(TITLE, chooser, empty(sentence(f"These runs cannot be compared: {error}")))
    both = timelines(app_data, (sides.base, sides.new), found, state)
    changed, *why = _parts(found)
    return page(TITLE, chooser, *_verdict(found), changed, both, *why, *_more(found))


def sides_of(state: UrlState, runs: int) -> Sides:
    """What the address asks for: by default the first run against the second, or the one chosen."""
    told = {name: state.whole(name) for name in ("base", "new")}
    for name, number in told.items():
        if number is not None and not 0 <= number < runs:
            raise UsageError(f"{name}={number} in the address: there are {runs} runs, from 0")
    base = told["base"] if told["base"] is not None else 0
    new = told["new"] if told["new"] is not None else state.run or min(1, runs - 1)
    return Sides(base, new)


def register(app: Dash, app_data: AppData) -> None:
    """Another choice of runs is another address."""
    if app_data.comparisons is None:
        return
    couple(app)

    @app.callback(
        Output("location", "href", allow_duplicate=True),
        Input("compare-base", "value"),
        Input("compare-new", "value"),
        State("location", "pathname"),
        State("location", "search"),
        prevent_initial_call=True,
    )
    def choose(base: str, new: str, pathname: str | None, search: str | None) -> Any:
        state = parse(pathname, search, app_data.prefix, len(app_data.runs))
        chosen = Sides(int(base), int(new))
        if state.path != PATH or sides_of(state, len(app_data.runs)) == chosen:
            return no_update
        return address(app_data, chosen)


def address(app_data: AppData, sides: Sides) -> str:
    """The address of a comparison."""
    return app_data.link(PATH, sides.new, base=sides.base, new=sides.new)


def _chooser(app_data: AppData, sides: Sides) -> Component:
    swapped = address(app_data, Sides(sides.new, sides.base))
    return html.Div(
        [
            _choice(app_data, "base", "Base", sides.base),
            _choice(app_data, "new", "New", sides.new),
            dcc.Link("swap", href=swapped, className="swap", title="Exchange base and new"),
        ],
        className="chooser",
    )


def _choice(app_data: AppData, name: str, label: str, value: int) -> Component:
    names = app_data.names
    options = [{"label": told, "value": str(place)} for place, told in enumerate(names)]
    return html.Label(
        [
            html.Span(label),
            dcc.Dropdown(
                options, id=f"compare-{name}", value=str(value), clearable=False,
                searchable=len(names) > 8,
            ),
        ],
        className="choice",
    )  # fmt: skip


def _verdict(found: Comparison) -> list[Content]:
    first, rest = sentences(found.verdict)
    more = paragraph(rest) if rest else None
    said = outcome(found)
    worst, whose = trust(found)
    return [
        html.Div(present([paragraph(first, "first"), more]), className="verdict"),
        None if said is None else _chip_line(said[0], said[1], found.judged_by),
        _chip_line(f"Trust: {worst}", worst, whose),
    ]  # fmt: skip


def _chip_line(head: str, look: str, says: str) -> Component:
    return html.P([html.B(head, className=look), " ", prose(says)], className="trust")


def _parts(found: Comparison) -> list[Content]:
    return [
        section("parts", "What changed", *tables.every([parts_table(found)])),
        section("causes", "What explains the change", *_causes(found)),
        section("steps", "Step by step", *_steps(found)),
    ]


def _causes(found: Comparison) -> list[Content]:
    drawn = causes_figure(found)
    if drawn is None:
        if found.causes is None:
            return [empty("The change cannot be explained: what was not compared says why.")]
        return [empty("There is no change to explain.")]
    says = [html.Li(prose(sentence(cause.says))) for cause in found.causes or () if cause.says]
    made = causes_table(found)
    return [
        charts.chart("causes", drawn, "The causes of the change, which add up to it."),
        html.Ul(says, className="causes") if says else None,
        None if made is None else tables.shown(made, is_sortable=False),
    ]


def _steps(found: Comparison) -> list[Content]:
    drawn = steps_figure(found)
    if drawn is None:
        return [empty("The steps cannot be set side by side: not every run has closed steps.")]
    made = tables.every([steps_table(found), ranks_table(found)])
    return [charts.chart("both-steps", drawn, steps_say(found)), *made]


def _more(found: Comparison) -> list[Content]:
    made = collectives_table(found)
    about = [runs_table(found), environment_table(found)]
    return [
        section("findings", "Findings", *_findings(findings(found))),
        section(
            "collectives",
            "Collectives",
            tables.shown(made) if made else empty("Neither side has a collective to compare."),
        ),
        section("kernels", "Kernels", *_kernels(found)),
        section("about", "Runs and environment", *tables.every(about)),
        section("not-compared", "Not compared", _not_compared(found)),
    ]


def _kernels(found: Comparison) -> Sequence[Content]:
    return tables.every(kernel_tables(found)) or [empty("Kernels are not compared: see below.")]


def _findings(found: Sequence[FindingText]) -> list[Content]:
    if not found:
        return [empty("No rule found anything on either side.")]
    return [_finding(one) for one in found]


def _finding(found: FindingText) -> Component:
    named: Any = {"aria-labelledby": f"{found.anchor}-title"}
    says = [
        html.P([html.B(f"{side}: "), prose(text), " ", html.B(prose(bound))])
        for side, text, bound in found.says
    ]
    title = html.H3(
        [found.title, " ", html.Span(found.rule)], id=f"{found.anchor}-title"
    )  # fmt: skip
    mark = html.P(found.mark, className=f"severity {found.severity}")
    return html.Article([mark, html.Div([title, *says])], className="finding", **named)


def _not_compared(found: Comparison) -> Component:
    if not found.not_compared:
        return html.P("Nothing: all of both sides is compared.")
    notes = [html.Li(prose(sentence(shortened(it, 1_000)))) for it in found.not_compared]
    return html.Ul(notes, className="notes")
