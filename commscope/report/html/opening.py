"""What the page says first: verdict, trust, the six numbers, and the findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import starmap

from commscope.findings.main_cause import in_short, main_cause
from commscope.findings.model import Advice, Evidence, Finding, Measured, Metric, Quote
from commscope.report.html.reasons import Reasons
from commscope.report.model import Report, Shares, StepTimes
from commscope.sanitize import shortened
from commscope.units import percent, size, span
from commscope.wording import counted

_MOST_FINDINGS = 40
_MOST_TEXT = 1_000
_MOST_QUOTE = 300
_MOST_QUOTES = 4
#: The rule that names the rank for which the others wait.
STRAGGLER = "C1"
#: More places than these are counted.
MOST_PLACES = 3


@dataclass(frozen=True, slots=True)
class Number:
    """One of the six: what it is, the number, and what it is of."""

    name: str
    value: str
    says: str
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class FindingText:
    """A finding in words."""

    anchor: str
    rule: str
    severity: str
    confidence: str
    title: str
    says: str
    bound: str
    measured: tuple[str, ...]
    evidence: str
    quotes: tuple[str, ...]
    advice: tuple[tuple[str, str, str], ...]  #: what to do, why, and the source


def numbers(report: Report) -> list[Number]:
    """The six numbers; what is withheld says by which rule."""
    summary = report.summary
    shares = summary.shares or Shares(None, None, None, None)
    return [
        _step_time(summary.step_times),
        _share(report, "Compute", shares.compute),
        _share(report, "Exposed comm.", shares.exposed_comm),
        _share(report, "Idle", shares.idle),
        _overlap(report),
        _to_win(report),
    ]


def _step_time(times: StepTimes | None) -> Number:
    if times is None:
        return Number("Step time", "none", "no step that shows its end", is_missing=True)
    says = f"median \u00b7 95 % within {span(times.p95_ns)}"
    return Number("Step time", span(times.p50_ns), says)


def _share(report: Report, name: str, value: float | None) -> Number:
    says = "of the time in steps" if has_steps(report) else "of the trace"
    return _missing(report, name) if value is None else Number(name, percent(value), says)


def _overlap(report: Report) -> Number:
    ratio, name, shares = report.summary.overlap_ratio, "Overlap", report.summary.shares
    if ratio is not None:
        return Number(name, percent(ratio), "of communication is hidden")
    if shares and shares.exposed_comm is not None:
        return Number(name, "none", "no communication ran", is_missing=True)
    return _missing(report, name)


def _missing(report: Report, name: str) -> Number:
    """A number that no step has, since a rule withholds it of all, or nothing was measured."""
    why = Reasons(report.trust).first(Metric.OVERLAP, Metric.IDLE)
    if why is None:
        return Number(name, "not known", "nothing to measure it by", is_missing=True)
    return Number(name, "withheld", f"{why.rule}: {shortened(why.says, 160)}", is_missing=True)


def _to_win(report: Report) -> Number:
    """The larger bound: that of the main cause, or that of hiding all communication.

    Who is late makes the others wait, and to hide that waiting does not make the late one faster.
    """
    cause, bound, name = main_cause(report.findings), report.summary.upper_bound, "To win at most"
    hidden_ns = None if bound is None else bound.exposed_hidden_ns
    if cause is not None and cause.bound_ns and (hidden_ns is None or hidden_ns <= cause.bound_ns):
        return Number(name, span(cause.bound_ns), _mending(report, cause, hidden_ns))
    if bound is None:
        return _missing(report, name)
    return Number(name, span(bound.exposed_hidden_ns), _faster(report, bound.speedup))


def _mending(report: Report, cause: Finding, hidden_ns: int | None) -> str:
    """The rank to mend, or what else is to be mended, and what hiding would win."""
    each = "a step" if has_steps(report) else "in the trace"
    is_rank = cause.rule == STRAGGLER and cause.rank is not None
    what = f"rank {cause.rank}" if is_rank else f"the main cause, {in_short(cause)}"
    hidden = "" if hidden_ns is None else f"; {span(hidden_ns)} if all communication were hidden"
    return f"{each}: mend {what}{hidden}"


def _faster(report: Report, speedup: float) -> str:
    if speedup == 1:
        return "the slowest rank exposes no communication"
    each = "a step: " if has_steps(report) else ""
    return f"{each}{speedup:.2f} times as fast if all were hidden"


def findings(report: Report) -> list[FindingText]:
    """The findings, in the order of the report."""
    return [
        finding_text(report, found, place)
        for place, found in enumerate(report.findings[:_MOST_FINDINGS], start=1)
    ]


def findings_left_out(report: Report) -> str:
    """How many findings there is no room for."""
    more = len(report.findings) - _MOST_FINDINGS
    return f"{counted(more, 'more finding')} in the JSON report." if more > 0 else ""


def has_steps(report: Report) -> bool:
    """Whether numbers are of steps; else the whole trace is one window."""
    return report.summary.step_source != "whole_trace"


def finding_text(report: Report, found: Finding, place: int) -> FindingText:
    """One of them in words; ``place`` counts from 1."""
    each = "a step" if has_steps(report) else "in the trace"
    bound = f"At most {span(found.bound_ns)} {each} to win." if found.bound_ns else ""
    says = shortened(found.says, _MOST_TEXT)
    return FindingText(
        anchor=f"finding-{place}",
        rule=found.rule,
        severity=found.severity,
        confidence=found.confidence,
        title=shortened(found.title, 120),
        says=says[:1].upper() + says[1:] + ("" if says.endswith(".") else "."),
        bound=bound,
        measured=tuple(starmap(_measured, found.measured.items())),
        evidence=_places(found.evidence, report.origin_ns, has_steps(report)),
        quotes=tuple(_quotes(found)),
        advice=tuple(map(_advice, found.advice)),
    )


def _advice(advice: Advice) -> tuple[str, str, str]:
    do, why, source = (
        shortened(text, _MOST_TEXT) for text in (advice.do, advice.why, advice.source)
    )
    return do, why, source


def _measured(name: str, value: Measured) -> str:
    number = (_times if name in _TIMES else _MEASURES.get(value.unit, _count))(value.value)
    return f"{_WORDS.get(name, name.replace('_', ' '))} {number}"


#: Numbers whose names alone do not say what they are.
_WORDS = {
    "behind": "ranks behind",
    "busbw": "bus bandwidth",
    "cause": "of its cause",
    "exposed": "exposed communication",
    "expected": "expected bandwidth",
    "part": "this part of it",
    "roof_share": "of what the GPU can do",
    "saved": "bytes saved",
    "share": "of what is expected",
    "share_of_expected": "of what is expected",
    "share_of_waiting": "of all waiting",
    "speedup": "without it a step is faster by",
    "stretch": "beside communication it takes",
    "waiting": "others wait",
}
#: Ratios that are factors and no shares.
_TIMES = ("imbalance", "skew", "speedup", "stretch")


def _times(value: float) -> str:
    return f"{value:.2f} times"


def _count(value: float) -> str:
    return f"{value:,}"


def _bandwidth(value: float) -> str:
    return f"{value:,.1f} GB/s"


_MEASURES = {"ns": span, "bytes": size, "gbps": _bandwidth, "ratio": percent}


def _places(evidence: tuple[Evidence, ...], origin: int, in_steps: bool) -> str:
    """Where it can be seen: times since the begin of the report."""
    places = [place_of(e, origin, in_steps) for e in evidence[:MOST_PLACES]]
    more = len(evidence) - len(places)
    return "; ".join(places) + (f" and {more:,} more" if more else "")


def place_of(evidence: Evidence, origin: int, in_steps: bool) -> str:
    """One place in words."""
    of_step = f" step {evidence.step}" if in_steps and evidence.step is not None else ""
    times = (span(at - origin) for at in (evidence.t0_ns, evidence.t1_ns))
    return f"rank {evidence.rank}{of_step}, {' to '.join(times)}"


def _quotes(found: Finding) -> Iterator[str]:
    yield from (_quote(quote) for quote in found.quotes[:_MOST_QUOTES])
    more = len(found.quotes) - _MOST_QUOTES
    if more > 0:
        yield f"and {counted(more, 'more line')}"


def _quote(quote: Quote) -> str:
    where = f"{shortened(quote.file, 80)}:{quote.line}"
    return where if quote.text is None else f"{where}: {shortened(quote.text, _MOST_QUOTE)}"
