"""Whether the first finding names the planned cause, and nothing is found in a healthy job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commscope.findings.model import Finding
from commscope.generator.grading.model import Blame, Numbers, Place, Row, Suspect, held, not_told
from commscope.generator.grading.traces import Traces
from commscope.generator.grading.truths import Truths
from commscope.generator.truth_file import TruthCause
from commscope.sanitize import shortened

_CHECK = "causes"
_MOST = 160
#: Rules on links, transports and the library's log; the letters are those of the rules.
_FABRIC = ("C2", "C3", "C4", "C5", "C7", "C8", "P2", "L", "S")
_PROFILER = ("Q",)


def cause_rows(truths: Truths, traces: Traces, *, agree: bool) -> Iterator[Row]:
    """A row for the planned causes, and one for each grave finding that nobody planned.

    ``agree``: whether all numbers do, so that what is found was measured by the job, too.
    """
    header = truths.header
    if header is None or header.scenario is None:
        yield not_told(_CHECK, Place(), "the truth does not tell what was planned")
        return
    lacking = len(set(truths.of_rank) - set(traces.ranks))
    if lacking:
        yield not_told(_CHECK, Place(), f"of {lacking:,} ranks there is no trace to find causes in")
        return
    causes = list({cause: None for t in truths.of_rank.values() for cause in t.causes})
    bounded = [found for found in traces.report.findings if found.bound_ns is not None]
    if causes:
        yield _first(causes, bounded, is_host=header.backend == "host")
        return
    if header.engine == "torch":
        yield not_told(_CHECK, Place(), "nobody was made late, and PyTorch may be so by itself")
        return
    grave = [found for found in traces.report.findings if found.severity != "low"]
    for found in grave:
        says = f"the job is healthy, but {found.rule} is found: {shortened(found.says, _MOST)}"
        if agree and header.backend == "host":
            says += "; the numbers are those of the job: its threads were late by themselves"
            yield not_told(_CHECK, Place(found.rank), says)
        else:
            numbers = Numbers("nothing", found.rule, unit="words")
            yield held(_CHECK, Place(found.rank), numbers, _alarm(found, says, agree=agree))
    if not grave:
        numbers = Numbers("nothing", "nothing", unit="words")
        yield held(_CHECK, Place(), numbers, Blame("commscope", ""))


def _first(causes: Sequence[TruthCause], found: Sequence[Finding], *, is_host: bool) -> Row:
    """Whether a cause is named first, or at all where threads are late by themselves, too."""
    first = next(iter(found), None)
    named = "nothing" if first is None else _named(first.rule, first.rank)
    planned = [_named(cause.rule, cause.rank) for cause in causes]
    named_by = found if is_host else found[:1]
    is_right = any(_names(finding, cause) for finding in named_by for cause in causes)
    says = f"the job was made to show {' or '.join(planned)}, and {named} is found first"
    if first is not None:
        says += f": {shortened(first.says, _MOST)}"
    numbers = Numbers(planned[0], planned[0] if is_right else named, unit="words")
    return held(_CHECK, Place(), numbers, Blame(_suspect(first), says))


def _names(found: Finding, cause: TruthCause) -> bool:
    return found.rule == cause.rule and (cause.rank is None or found.rank == cause.rank)


def _named(rule: str, rank: int | None) -> str:
    return rule if rank is None else f"{rule} of rank {rank}"


def _alarm(found: Finding, says: str, *, agree: bool) -> Blame:
    suspect = _suspect(found)
    if suspect == "commscope" and agree:
        return Blame("fabric", f"{says}; the numbers are those of the job: the machine did that")
    return Blame(suspect, says)


def _suspect(found: Finding | None) -> Suspect:
    if found is not None and found.rule.startswith(_FABRIC):
        return "fabric"
    return "profiler" if found is not None and found.rule.startswith(_PROFILER) else "commscope"
