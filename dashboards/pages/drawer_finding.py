"""A finding on the timeline: what it says, where it can be seen, and what that place shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from commscope.dashboards.app_data import AppData, LoadedRun
from commscope.dashboards.pages.drawer import heading
from commscope.dashboards.pages.sections import prose
from commscope.dashboards.places import finding_link, on_common_clock
from commscope.errors import UsageError
from commscope.findings.model import Evidence, Finding
from commscope.report.html import opening
from commscope.sanitize import shortened

_MOST_PLACES = 12


@dataclass(frozen=True, slots=True)
class Seen:
    """A finding at one of its places; null where it has none. Times are on the common clock."""

    finding: Finding
    number: int  #: of the place
    rank: int | None = None  #: of the place
    t0: int = 0
    t1: int = 0

    @property
    def marked(self) -> int | None:
        """The rank that the finding is about, else that of the place."""
        return self.rank if self.finding.rank is None else self.finding.rank

    def stretch(self) -> dict[str, Any] | None:
        """As the timeline marks it."""
        if self.rank is None:
            return None
        words = shortened(self.finding.title.lower(), 40)
        times = {"t0": self.t0, "t1": self.t1}
        return {"rank": self.rank, **times, "marked": self.marked, "words": words}


def seen(run: LoadedRun, name: str, number: int) -> Seen:
    """A finding by its id, at a place by its number; raises UsageError where there is none."""
    found = next((each for each in run.report.findings if each.id == name), None)
    if found is None:
        raise UsageError(
            f"the address asks for finding {shortened(name, 40)}, which this run has not"
        )
    if not found.evidence and number == 0:
        return Seen(found, 0)
    if not 0 <= number < len(found.evidence):
        raise UsageError(
            f"the address asks for place {number} of finding {found.id}, which has "
            f"{len(found.evidence)}, counted from 0"
        )
    place = found.evidence[number]
    return Seen(found, number, place.rank, *_common(run, place))


def _common(run: LoadedRun, place: Evidence) -> tuple[int, int]:
    origin = run.report.origin_ns
    t0, t1 = (on_common_clock(run, place.rank, at - origin) for at in (place.t0_ns, place.t1_ns))
    return t0, t1


def covering(run: LoadedRun, rank: int, t0: int, t1: int) -> Seen | None:
    """The first finding with a place on a rank that has most of a stretch; null without one."""
    best: tuple[int, Seen] | None = None
    for found in run.report.findings:
        for number, place in enumerate(found.evidence):
            if place.rank == rank:
                begin, end = _common(run, place)
                inside = min(end, t1) - max(begin, t0)
                if inside > 0 and (best is None or inside > best[0]):
                    best = inside, Seen(found, number, rank, begin, end)
    return None if best is None else best[1]


def line_of(data: AppData, run: int, found: Seen) -> Component:
    """The finding in a sentence, with the way to it."""
    text = _text(data.runs[run], found.finding)
    href = finding_link(data, run, found.finding, found.number)
    link = dcc.Link(f"show finding {text.rule}", href=href)
    told: list[Any] = [html.B(f"{text.title}: "), prose(text.says), " ", link]
    return html.P(told, className="cs-evidence")


def of_finding(data: AppData, run: int, shown: Seen) -> list[Component]:
    """All that a finding says, what to do, and its places."""
    text = _text(data.runs[run], shown.finding)
    badge = html.Span(text.severity, className=f"severity {text.severity}")
    says: list[Any] = [prose(text.says), " ", html.B(text.bound)]
    return [
        heading(text.title, f"{text.rule}, confidence {text.confidence}", badge),
        html.P(says, className="cs-evidence"),
        *(_advice(do, why) for do, why, _ in text.advice),
        *_evidence(data, run, shown, text),
    ]


def _text(run: LoadedRun, found: Finding) -> opening.FindingText:
    return opening.finding_text(run.report, found, 1)


def _advice(do: str, why: str) -> Component:
    parts: list[Any] = [html.B("Try: "), f"{do} ", html.Span(why, className="dim")]
    return html.P(parts, className="cs-evidence")


def _evidence(
    data: AppData, run: int, shown: Seen, text: opening.FindingText
) -> Iterator[Component]:
    if text.measured:
        yield html.P(f"Measured: {', '.join(text.measured)}.", className="cs-evidence")
    for quote in text.quotes:
        yield html.P(quote, className="quote")
    if shown.finding.evidence:
        places: list[Any] = ["Seen on ", *_places(data, run, shown), "."]
        yield html.P(places, className="cs-evidence")


def _places(data: AppData, run: int, shown: Seen) -> list[Any]:
    """The places, of which all but the one that is shown are links."""
    report, found = data.runs[run].report, shown.finding
    parts: list[Any] = []
    for number, place in enumerate(found.evidence[:_MOST_PLACES]):
        words = opening.place_of(place, report.origin_ns, opening.has_steps(report))
        href = finding_link(data, run, found, number)
        here = html.B(f"{words} (shown)")
        parts += ["; ", here if number == shown.number else dcc.Link(words, href=href)]
    more = len(found.evidence) - _MOST_PLACES
    return [*parts[1:], *([f" and {more:,} more"] if more > 0 else [])]
