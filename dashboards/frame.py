"""What stands around every page: the header, the help, and messages in the place of a page."""

from __future__ import annotations

import re
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from commscope.dashboards.app_data import AppData
from commscope.dashboards.failures import PROBLEM
from commscope.dashboards.pages.sections import sentence
from commscope.dashboards.urlstate import UrlState
from commscope.findings.main_cause import in_short, main_cause
from commscope.report.html.document import sort_script
from commscope.report.model import Clock, Report
from commscope.sanitize import shortened
from commscope.units import percent, span

#: Set before anything is painted, so that no page flashes in the wrong theme.
_FIRST_SCRIPT = (
    'try{var t=localStorage.getItem("commscope-theme");'
    'if(t==="light"||t==="dark")document.documentElement.dataset.theme=t}catch(e){}'
)
#: What stands in the page itself.
SCRIPTS = (_FIRST_SCRIPT, sort_script())
_INDEX = """<!doctype html>
<html lang="en">
<head>
{%metas%}
<title>{%title%}</title>
<script>FIRST_SCRIPT</script>
<script>SORT_SCRIPT</script>
<style>VARIABLES</style>
{%favicon%}
{%css%}
</head>
<body>
{%app_entry%}
<noscript>The app needs JavaScript. The report of commscope report needs none.</noscript>
<footer>{%config%}{%scripts%}{%renderer%}</footer>
</body>
</html>"""

_SEARCHED = (
    "Search names of kernels, calls and annotations; collectives by operation, size or "
    "communicator; a step (step 3) or a rank (rank 1)"
)
_PARAMETER = re.compile(r"[a-z0-9]+(?:=| and t1 in the address| in the address)")

#: What the overlay of ``?`` tells, in three columns.
KEYS = (
    ("Timeline: move", (
        ("W S", "zoom in and out"),
        ("A D", "go left and right"),
        ("ctrl+wheel", "zoom at the pointer"),
        ("wheel", "scroll the lanes"),
        ("shift+wheel", "go left and right"),
        ("shift+drag", "move what is shown"),
        ("N P", "next and previous step"),
        ("E shift+E", "next and previous exposed communication"),
        (". ,", "next and previous event of the lane"),
        ("[ ]", "the same collective on the previous and next rank"),
        ("0", "the whole run"),
    )),
    ("Timeline: look", (
        ("click", "an event: details, its launch, its collective; an idle GPU: since when and why"),
        ("drag", "select a stretch of the ranks that it crosses; on the ruler, of all"),
        ("F", "zoom to it; again, or without any: the whole run"),
        ("R", "select as long as the event lasts"),
        ("M", "mark it until Esc"),
        ("shift+M", "mark it for good; again: take the mark away"),
        ("\u2191 \u2193", "from lane to lane, once the timeline has the focus"),
        ("Enter", "open and close the lane: streams, threads"),
        ("C", "fold the rank"),
        ("I", "pin the rank at the top"),
    )),
    ("Everywhere", (
        ("/", "search kernels, collectives by operation or size, step 3, rank 1"),
        ("Enter", "the next that was found in the lanes shown"),
        ("Esc", "close, or clear the selection"),
        ("?", "this help"),
    )),
)  # fmt: skip


def index_string(variables: str) -> str:
    """The page that the browser gets first, with the colours of both themes."""
    first, sort = SCRIPTS
    page = _INDEX.replace("FIRST_SCRIPT", first).replace("SORT_SCRIPT", sort)
    return page.replace("VARIABLES", variables)


def frame(data: AppData) -> Component:
    """The app around its pages; the navigation and the page itself come with the address."""
    return html.Div(
        [
            dcc.Location(id="location", refresh="callback-nav"),
            dcc.Store(id="theme", data="light"),
            html.A("Skip to the content", href="#content", className="skip"),
            html.Header(
                [
                    html.Div(
                        [
                            html.Span("commscope", className="brand"),
                            _runs(data),
                            html.Div(id="chips", className="chips"),
                            _search(),
                            _button("theme-button", "Theme", "Light or dark theme"),
                            _button("help-button", "?", "Keys and mouse"),
                        ],
                        className="top",
                    ),
                    html.Nav(id="pages", **_labelled("Pages")),
                    html.P(id="server-state", className="warns", role="status"),
                    html.P(id=PROBLEM, className="warns", role="alert"),
                ],
                className="header",
            ),
            html.Main(id="content", tabIndex=-1),
            _help(),
        ]
    )


def _runs(data: AppData) -> Component:
    """The name of the run, or a choice where there are several."""
    names = data.names
    if len(names) == 1:
        return html.Span(names[0], className="run", title=names[0])
    options = [
        {"label": name, "value": str(place), "title": name} for place, name in enumerate(names)
    ]
    choice = dcc.Dropdown(
        options, id="run", value="0", clearable=False, searchable=len(names) > 8, className="run"
    )
    return html.Div(choice, className="runs")


def _search() -> Component:
    field = dcc.Input(
        id="search",
        type="search",
        placeholder="Search kernels, collectives, steps, ranks ( / )",
        maxLength=200,
        autoComplete="off",
    )
    label = html.Label(_SEARCHED, htmlFor="search", className="aside")
    return html.Div([label, field], className="search", role="search", title=_SEARCHED)


def _button(name: str, text: str, label: str) -> Component:
    return html.Button(text, id=name, type="button", title=label, **_labelled(label))


def _labelled(label: str) -> dict[str, Any]:
    return {"aria-label": label}


def _help() -> Component:
    columns = [
        html.Section(
            [
                html.H3(title),
                html.Dl([part for keys, does in rows for part in (_keys(keys), html.Dd(does))]),
            ]
        )
        for title, rows in KEYS
    ]
    labels: Any = {"aria-labelledby": "help-title"}
    return html.Dialog(
        [
            html.Div(
                [
                    html.H2("Keyboard and mouse", id="help-title"),
                    html.Button("Close", id="help-close", type="button"),
                ],
                className="head",
            ),
            html.Div(columns, className="keys"),
        ],
        id="help",
        **labels,
    )


def _keys(keys: str) -> Component:
    return html.Dt([html.Kbd(key) for key in keys.split()])


def navigation(data: AppData, state: UrlState, pages: list[tuple[str, str]]) -> list[Component]:
    """The pages' links (path and title), of which the one that is shown says so."""
    return [
        dcc.Link(
            title,
            href=data.link(path, state.run),
            className="here" if path == state.path else "",
        )
        for path, title in pages
    ]


def chips(report: Report) -> list[Component]:
    """In a glance: what is worst, and whether the clocks of the ranks can be compared."""
    return [_verdict_chip(report), _clock_chip(report.clock)]


def _verdict_chip(report: Report) -> Component:
    shares = report.summary.shares
    exposed = None if shares is None else shares.exposed_comm
    told = "exposed not known" if exposed is None else f"{percent(exposed)} exposed"
    matter = (found for found in report.findings if found.severity != "low")
    worst = main_cause(report.findings) or next(matter, None)
    if worst is not None:
        told += f": {in_short(worst)}"
    grade = "ok" if worst is None else worst.severity
    return html.Span(told, className=f"chip {grade}", title=shortened(report.summary.verdict, 600))


def _clock_chip(clock: Clock) -> Component:
    errors = [of.error_ns for of in clock.ranks]
    known = [error for error in errors if error is not None]
    if len(clock.ranks) < 2:
        told, grade = "one rank: no clocks to align", ""
    elif len(known) < len(errors):
        told, grade = "clocks not aligned", "medium"
    else:
        told, grade = f"clocks \u00b1 {span(max(known))}", ""
    return html.Span(told, className=f"chip {grade}", title=f"Clocks: {clock.method}")


def message(title: str, says: str, data: AppData, run: int = 0) -> Component:
    """In the place of a page: what is wrong, and where to go on."""
    return html.Div(
        [
            html.H1(title),
            html.P(_told(says)),
            html.P(dcc.Link("Go to the overview", href=data.link("/overview", run))),
        ],
        className="message",
        role="alert",
    )


def _told(says: str) -> str:
    """A sentence; the name of a parameter at its begin stays as it is written in the address."""
    told = sentence(says)
    return says[:1] + told[1:] if _PARAMETER.match(says) else told
