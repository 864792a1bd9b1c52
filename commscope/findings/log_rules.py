"""All rules that look at logs, and how they look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from commscope.findings import (
    log_errors,
    log_hangs,
    log_links,
    log_settings,
    log_startup,
    log_transport,
    log_versions,
    log_warnings,
)
from commscope.findings.log_case import LogCase
from commscope.findings.model import SEVERITIES, Finding, Looked
from commscope.findings.rule import LogDraft, LogRule, Outcome

_MODULES = (
    *(log_errors, log_hangs, log_transport, log_links),
    *(log_startup, log_warnings, log_versions, log_settings),
)
#: Of findings of one severity, those of the earlier rule come first: failures before settings.
BUILT_IN_LOG: tuple[LogRule, ...] = tuple(rule for module in _MODULES for rule in module.RULES)


def look_at_logs(
    case: LogCase, rules: Sequence[LogRule], limits: Mapping[str, float]
) -> tuple[tuple[Finding, ...], tuple[Looked, ...]]:
    """What the rules find, the worst first, and how each of them ended."""
    findings: list[Finding] = []
    looked = []
    for rule in rules:
        outcome = _asked(rule, case, limits)
        found = list(_findings(rule, outcome.drafts))
        findings += found
        looked.append(rule.looked(found, outcome.unable))
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return tuple(findings), tuple(looked)


def _asked(rule: LogRule, case: LogCase, limits: Mapping[str, float]) -> Outcome[LogDraft]:
    unable = rule.unable(case)
    if unable is not None:
        return Outcome(unable=unable)
    return rule.look(case, rule.thresholds(limits))


def _findings(rule: LogRule, drafts: Sequence[LogDraft]) -> Iterator[Finding]:
    """The findings of a rule; several are told apart by a number, the worst is the first."""
    ordered = sorted(drafts, key=lambda draft: SEVERITIES.index(draft.severity))
    for number, draft in enumerate(ordered, 1):
        yield Finding(
            id=rule.id if number == 1 else f"{rule.id}-{number}",
            rule=rule.id,
            severity=draft.severity,
            confidence=draft.confidence,
            title=rule.title,
            says=draft.says,
            measured=dict(draft.measured),
            rank=draft.rank,
            quotes=draft.quotes,
            advice=draft.advice or rule.advice,
        )


def lines_of(findings: Sequence[Finding]) -> dict[str, set[int]]:
    """The lines that findings quote, by file."""
    wanted: dict[str, set[int]] = {}
    for quote in (quote for finding in findings for quote in finding.quotes):
        wanted.setdefault(quote.file, set()).add(quote.line)
    return wanted


def with_texts(
    findings: Sequence[Finding], texts: Mapping[tuple[str, int], str]
) -> tuple[Finding, ...]:
    """The findings with the text of the lines that they quote, where it is known."""
    return tuple(
        replace(
            finding,
            quotes=tuple(
                replace(quote, text=texts.get((quote.file, quote.line))) for quote in finding.quotes
            ),
        )
        for finding in findings
    )
