"""What was not measured: withheld numbers, checks, rules that could not look, and guesses."""

from __future__ import annotations

from collections.abc import Sequence

from dash import Dash, html
from dash.development.base_component import Component

from commscope.dashboards import tables
from commscope.dashboards.app_data import AppData
from commscope.dashboards.pages.sections import page, section
from commscope.dashboards.urlstate import UrlState
from commscope.findings.model import Result
from commscope.report.html.about_tables import Missing, checks_table, missing
from commscope.report.model import Report
from commscope.sanitize import shortened
from commscope.wording import counted

PATH, TITLE = "/unmeasured", "Not measured"
_MOST_TEXT = 4_000
#: How what is missing begins -> its heading, and what is said where there is none.
_SECTIONS = (
    ("Withheld", "Withheld numbers", "No number was withheld."),
    ("Check not passed", "Checks that did not pass", "Every check that was made passed."),
    ("Not checked", "What could not be checked", "Everything could be checked."),
    ("Rule", "Rules that could not look", "Every rule had what it needs."),
    ("Note", "Decided on the way, and guesses", "Nothing had to be decided or guessed."),
)


def layout(app_data: AppData, state: UrlState) -> Component:
    """The page of one run."""
    report = app_data.runs[state.run].report
    return page(
        TITLE,
        _trust(report),
        *(_section(*part) for part in _sorted(missing(report))),
        _looked(report),
        *tables.every([checks_table(report)]),
    )


def register(app: Dash, app_data: AppData) -> None:
    """The page has no callbacks."""


def _trust(report: Report) -> Component:
    line = shortened(report.trust_line.partition(": ")[2], _MOST_TEXT)
    verdict = report.trust.verdict
    passed = sum(check.result is Result.PASS for check in report.trust.checks)
    counts = f"{passed} of {counted(len(report.trust.checks), 'check')} passed."
    if verdict == "ok" and any(check.result is Result.FAIL for check in report.trust.checks):
        counts += " What did not pass withholds no number: it only informs."
    return html.P(
        [html.B(f"Trust: {verdict}", className=verdict), f" {line}. {counts}"], className="trust"
    )


def _sorted(every: Sequence[Missing]) -> list[tuple[str, str, list[Missing]]]:
    """What is missing, under its headings."""
    return [
        (title, nothing, [one for one in every if one.what.startswith(begin)])
        for begin, title, nothing in _SECTIONS
    ]


def _section(title: str, nothing: str, found: Sequence[Missing]) -> Component:
    items = [html.Li([html.B(_of_what(one)), html.Span(one.why)]) for one in found]
    inside = html.Ul(items, className="missing-list") if items else html.P(nothing, className="dim")
    return html.Section([html.H2(title), inside])


def _of_what(one: Missing) -> str:
    """What is missing, without what the heading says already."""
    return one.what.partition(": ")[2] or one.what


def _looked(report: Report) -> Component | None:
    """The rules that looked and found nothing: that is an answer too."""
    titles = [
        f"{looked.title} ({looked.rule})" for looked in report.looked if looked.result == "nothing"
    ]
    if not titles:
        return None
    return section(
        "looked",
        "Looked for, and not there",
        html.P(f"{counted(len(titles), 'rule')} looked and found nothing:", className="dim"),
        html.Ul([html.Li(title) for title in titles], className="in-columns"),
    )
