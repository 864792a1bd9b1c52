"""What a trace must show for a rule to look: each gives null, or the reason why it cannot."""

from __future__ import annotations

from commscope.columns import NONE, int64
from commscope.findings.case import Case

#: Steps that somebody marked; others are guessed from what repeats, or there are none.
_MARKED = ("annotation", "marker")


def launches(case: Case) -> str | None:
    """Calls of the hosts that launched what ran."""
    if (case.analysis.host.launch != NONE).any():
        return None
    return "the files have no launches: nothing shows what the hosts did"


def partners(case: Case) -> str | None:
    """Collectives of which all members are in the files."""
    if case.analysis.across.waiting.has_matches.any():
        return None
    return "no collective was matched across ranks: nothing shows who waited"


def pipeline(case: Case) -> str | None:
    """Stages of a pipeline."""
    if case.analysis.bubbles.num_rows:
        return None
    return "no pipeline is known (see --role pp=REGEX)"


def sizes(case: Case) -> str | None:
    """Collectives that tell their size, where there are any."""
    calls = case.analysis.across.calls
    if not calls.num_rows or (int64(calls, "bytes") > 0).any():
        return None
    return "no collective tells its size"


def ends_of_steps(case: Case) -> str | None:
    """Steps, so that there is a last collective of each."""
    if case.analysis.trace.step_source.kind != "whole_trace":
        return None
    return "no steps are known: nothing shows where one ends (see --step-marker)"


def marked_steps(case: Case) -> str | None:
    """Steps that are told apart from their own repeating parts."""
    if case.analysis.trace.step_source.kind in _MARKED:
        return None
    return "no steps are marked: micro-steps cannot be told from steps (see --step-marker)"
