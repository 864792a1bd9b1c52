"""All rules that give findings, in the order in which they claim exposed time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from commscope.analysis.result import Analysis
from commscope.findings import (
    accumulation,
    contended,
    exposed,
    hosts,
    job_rules,
    late_ranks,
    links,
)
from commscope.findings.case import Beside, Case
from commscope.findings.model import SEVERITIES, Finding, Grade, Looked, Measured, Trust
from commscope.findings.rule import Draft, Outcome, TraceRule

_ORDER = (
    *("C1", "P1", "C9", "C6", "C5", "P2", "C4", "C8", "C3", "C2", "O7", "O6"),
    *("H7", "H9", "H8", "H1", "H6", "H3", "H10"),
    *("O3", "O9", "O2", "O11", "O10", "O12", "O1"),
)


def _in_order(rules: Sequence[TraceRule]) -> tuple[TraceRule, ...]:
    """Rules that claim gaps first, in the order above; then those that claim none."""
    place = {name: number for number, name in enumerate(_ORDER)}
    return tuple(sorted(rules, key=lambda rule: place.get(rule.id, len(_ORDER))))


BUILT_IN = _in_order(
    [
        rule
        for module in (late_ranks, links, job_rules, accumulation, exposed, contended, hosts)
        for rule in module.RULES
    ]
)


def look(
    analysis: Analysis,
    trust: Trust,
    rules: Sequence[TraceRule],
    limits: Mapping[str, float],
    beside: Beside | None = None,
) -> tuple[tuple[Finding, ...], tuple[Looked, ...]]:
    """What the rules find, the largest bound first, and how each of them ended."""
    case = Case.of(analysis, trust, beside)
    if not case.usable.any() and not case.counts.any():
        reason = "what trust withholds leaves no step to judge"
        return (), tuple(Looked(r.id, r.title, "could_not_look", reason) for r in rules)
    findings: list[Finding] = []
    looked = []
    for rule in rules:
        outcome, found = _asked(rule, case, limits)
        findings += found
        looked.append(rule.looked(found, outcome.unable))
    findings.sort(key=lambda finding: -(finding.bound_ns or 0))
    return tuple(_numbered(findings)), tuple(looked)


def _asked(
    rule: TraceRule, case: Case, limits: Mapping[str, float]
) -> tuple[Outcome[Draft], list[Finding]]:
    """What a rule says, and its findings; what is too short to be one leaves its time to others."""
    unable = rule.unable(case)
    if unable is not None:
        return Outcome(unable=unable), []
    left = case.left_ns, case.idle_left_ns
    outcome = rule.look(case, rule.thresholds(limits))
    found = [finding for draft in outcome.drafts for finding in _findings(case, rule, draft)]
    if not found:
        case.restore(*left)
    return outcome, found


def _findings(case: Case, rule: TraceRule, draft: Draft) -> Iterator[Finding]:
    """The finding of a draft, unless what it is about is too short to matter."""
    bound = case.bound(draft.claimed_ns) if draft.bound_ns is None else draft.bound_ns
    weighed = case.severity(bound) or _informs(draft)
    if weighed is None:
        return
    severity = _lesser(weighed, draft.at_most)
    evidence = draft.evidence or (case.evidence(draft.gaps) if draft.gaps is not None else ())
    speedup = case.step_ns / max(case.step_ns - bound, 1)
    yield Finding(
        id=rule.id,
        rule=rule.id,
        severity=severity,
        confidence=_lesser("medium" if _alone(case) else "high", draft.confidence),
        title=rule.title,
        says=draft.says + ("" if rule.family == "host" else _caveat(case)),
        rank=draft.rank,
        measured={**draft.measured, "speedup": Measured(speedup, "ratio")},
        evidence=evidence,
        bound_ns=bound,
        quotes=draft.quotes,
        advice=draft.advice or rule.advice,
    )


def _informs(draft: Draft) -> Grade | None:
    """A draft that claims nothing by its own word is not weighed."""
    return "low" if draft.bound_ns == 0 and not draft.claimed_ns.any() else None


def _lesser(one: Grade, other: Grade) -> Grade:
    return max(one, other, key=SEVERITIES.index)


def _alone(case: Case) -> bool:
    """Whether nothing is known of what other ranks did, although there are some."""
    across = case.analysis.across
    sizes = [c.size for c in across.matching.communicators.found]
    sizes += case.analysis.trace.ranks.column("world_size").drop_null().to_pylist()
    return not across.waiting.has_matches.any() and max(sizes, default=1) > 1


def _caveat(case: Case) -> str:
    """What else may be behind exposed communication."""
    if not _alone(case):
        return ""
    why = "whose file is not here" if len(case.ranks) == 1 else "as no collective was matched"
    return f". Part of it may be waiting for another rank, {why}"


def _numbered(findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings with an id each: several of one rule are told apart by a number."""
    seen: dict[str, int] = {}
    for finding in findings:
        seen[finding.rule] = seen.get(finding.rule, 0) + 1
        number = seen[finding.rule]
        yield finding if number == 1 else replace(finding, id=f"{finding.rule}-{number}")
