"""The main cause of the findings: what the verdict names, and nothing beside it names another."""

from __future__ import annotations

from collections.abc import Iterable

from commscope.findings.model import Finding
from commscope.sanitize import shortened

_MOST_TITLE = 40


def main_cause(findings: Iterable[Finding]) -> Finding | None:
    """The finding with the largest bound, the first of several; null where it is too small."""
    cause = max(findings, key=lambda found: found.bound_ns or 0, default=None)
    if cause is None or cause.severity == "low" or not cause.bound_ns:
        return None
    return cause


def in_short(found: Finding) -> str:
    """A finding in a few words."""
    where = "" if found.rank is None else f" rank {found.rank}"
    return shortened(f"{found.title.lower()}{where}", _MOST_TITLE)
