"""Overview: the verdict, six numbers, what was found, and where the time of the steps went."""

from __future__ import annotations

from typing import Any

from dash import Dash, dcc, html
from dash.development.base_component import Component

from commscope.dashboards import step_charts
from commscope.dashboards.app_data import AppData
from commscope.dashboards.pages.sections import titled
from commscope.dashboards.places import finding_link
from commscope.dashboards.urlstate import UrlState
from commscope.findings.model import Finding
from commscope.report.html import opening
from commscope.report.html.document import sentences
from commscope.report.html.opening import STRAGGLER, FindingText, Number
from commscope.report.html.step_bars import note_of, says_of, shown_steps
from commscope.report.model import Report
from commscope.sanitize import shortened
from commscope.units import span

PATH, TITLE = "/overview", "Overview"
_CAUSE = "Main cause: "
_MOST_TEXT = 4_000


def layout(app_data: AppData, state: UrlState) -> Component:
    """The page of one run."""
    report = app_data.runs[state.run].report
    return html.Div(
        [
            html.H1("Overview", className="aside"),
            html.Div([_verdict(report), _trust(app_data, state, report)]),
            numbers_list(numbers(report)),
            html.Div(
                [_findings(app_data, state.run, report), _charts(report)], className="overview"
            ),
        ]
    )


def register(app: Dash, app_data: AppData) -> None:
    """The map leads to the timeline."""
    step_charts.register(app, app_data)


def _verdict(report: Report) -> Component:
    """The verdict, with the sentence on the main cause set apart."""
    first, rest = sentences(shortened(report.summary.verdict, _MOST_TEXT))
    before, mark, after = rest.partition(_CAUSE)
    cause, end, more = after.partition(". ")
    lines: list[Component] = [html.P(first, className="first")]
    if mark:
        lines += [
            html.P([before, html.B(mark), html.Span(cause + end.strip())]),
            html.P(more, className="dim"),
        ]
    elif rest:
        lines.append(html.P(rest))
    return html.Div(lines, className="verdict")


def _trust(data: AppData, state: UrlState, report: Report) -> Component:
    verdict = report.trust.verdict
    return html.P(
        [
            html.B(f"Trust: {verdict}", className=verdict),
            f" {shortened(report.trust_line.partition(': ')[2], _MOST_TEXT)}. ",
            dcc.Link("What was not measured", href=data.link("/unmeasured", state.run)),
        ],
        className="trust",
    )


def numbers(report: Report) -> list[Number]:
    """The six: those of the HTML report, with the straggler in the place of idle time."""
    step, compute, exposed, _, overlap, to_win = opening.numbers(report)
    return [compute, exposed, overlap, step, straggler(report), to_win]


def straggler(report: Report) -> Number:
    """The rank for which the others wait, if it is one."""
    name = "Straggler"
    found = next((f for f in report.findings if f.rule == STRAGGLER and f.rank is not None), None)
    if found is not None:
        return Number(name, f"rank {found.rank}", _waited(report, found))
    if not len(report.instances):
        why = "one rank alone" if report.summary.ranks == 1 else "no collective could be matched"
        return Number(name, "not known", why, is_missing=True)
    return Number(name, "none", shortened("; ".join(report.verdicts[:1]), 90) or "no waiting found")


def _waited(report: Report, found: Finding) -> str:
    waiting = found.measured.get("waiting")
    each = " a step" if opening.has_steps(report) else ""
    return f"others wait up to {span(waiting.value)}{each}" if waiting else "arrives last"


def numbers_list(six: list[Number]) -> Component:
    """Numbers as cards."""
    return html.Dl([_number(number) for number in six], className="numbers")


def _number(number: Number) -> Component:
    look = "value missing" if number.is_missing else "value"
    return html.Div(
        [html.Dt(number.name), html.Dd(number.value, className=look), html.Dd(number.says)]
    )


def _findings(data: AppData, run: int, report: Report) -> Component:
    told = opening.findings(report)
    more = opening.findings_left_out(report)
    return html.Section(
        [
            html.H2("Findings"),
            *(_finding(data, run, of, text) for of, text in zip(report.findings, told)),
            *([] if told else [html.P("Nothing worth telling was found.")]),
            *([html.P(more, className="note")] if more else []),
        ]
    )


def _finding(data: AppData, run: int, found: Finding, text: FindingText) -> Component:
    title = f"{text.anchor}-title"
    labelled: Any = {"aria-labelledby": title}
    return html.Article(
        [
            html.P(text.severity, className=f"severity {text.severity}"),
            html.Div(
                [
                    html.Div([_title(text, title), *_shown(data, run, found)], className="heading"),
                    html.P([f"{text.says} ", html.B(text.bound)]),
                    *(_advice(do, why) for do, why, _ in text.advice),
                    *_evidence(data, run, found, text),
                ]
            ),
        ],
        className="finding",
        id=text.anchor,
        **labelled,
    )


def _title(text: FindingText, name: str) -> Component:
    return html.H3([text.title, html.Span(f" {text.rule}, confidence {text.confidence}")], id=name)


def _advice(do: str, why: str) -> Component:
    return html.P([html.B("Try: "), f"{do} ", html.Span(why, className="dim")])


def _shown(data: AppData, run: int, found: Finding) -> list[Component]:
    if not found.evidence:
        return []
    href = finding_link(data, run, found)
    return [dcc.Link("show in timeline", href=href, className="show")]


def _evidence(data: AppData, run: int, found: Finding, text: FindingText) -> list[Component]:
    """What was measured, where it is seen, lines of logs, and where the advice is known from."""
    parts: list[Component] = [html.P(quote, className="quote") for quote in text.quotes]
    if text.measured:
        parts.append(html.P(f"Measured: {', '.join(text.measured)}."))
    if found.evidence:
        parts.append(html.P(["Seen on ", *_places(data, run, found), "."]))
    sources = [source for _, _, source in text.advice if source]
    parts += [html.P(f"Known from: {source}") for source in sources]
    return [html.Details([html.Summary("Evidence"), *parts])] if parts else []


def _places(data: AppData, run: int, found: Finding) -> list[Any]:
    report = data.runs[run].report
    parts: list[Any] = []
    for number, place in enumerate(found.evidence[: opening.MOST_PLACES]):
        words = opening.place_of(place, report.origin_ns, opening.has_steps(report))
        parts += ["; ", dcc.Link(words, href=finding_link(data, run, found, number))]
    more = len(found.evidence) - opening.MOST_PLACES
    return [*parts[1:], *([f" and {more:,} more"] if more > 0 else [])]


def _charts(report: Report) -> Component:
    has_steps = opening.has_steps(report)
    shown = shown_steps(report) if has_steps else []
    parts = [
        titled(
            "Who waits, and for whom",
            step_charts.waits_chart(report),
            step_charts.no_waits(report),
        ),
        titled(
            "Step time, mean over ranks",
            step_charts.bars_chart(shown) if shown else None,
            "No steps were found: the whole trace counts as one window.",
            f"{says_of(shown)} {note_of(report, shown)}" if shown else "",
        ),
        titled(
            "Exposed share by rank and step",
            step_charts.heat_chart(shown) if shown else None,
            step_charts.NO_HEAT,
        ),
    ]
    return html.Div(parts, className="charts")
