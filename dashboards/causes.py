"""The main cause of a report: what the verdict names, so that nothing beside it names another."""

from __future__ import annotations

from commscope.findings.model import Finding
from commscope.report.model import Report
from commscope.sanitize import shortened

_MOST_TITLE = 40


def main_cause(report: Report) -> Finding | None:
    """The finding with the largest bound, which the verdict names; null where it is too small."""
    cause = max(report.findings, key=lambda found: found.bound_ns or 0, default=None)
    if cause is None or cause.severity == "low" or not cause.bound_ns:
        return None
    return cause


def gravest(report: Report) -> Finding | None:
    """The main cause; where there is none, the first finding that matters."""
    return main_cause(report) or next(
        (found for found in report.findings if found.severity != "low"), None
    )


def in_short(found: Finding) -> str:
    """A finding in a few words."""
    where = "" if found.rank is None else f" rank {found.rank}"
    return shortened(f"{found.title.lower()}{where}", _MOST_TITLE)
