"""Can the trace be trusted? All rules of trust, before any number.

A rule fails on what the trace shows, and withholds only the numbers that rest on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from commscope.analysis.result import Analysis
from commscope.columns import NONE, int64
from commscope.findings.asymmetry import check_asymmetry
from commscope.findings.completeness import check_coverage, check_graphs, check_syntax
from commscope.findings.labels import (
    check_classification,
    check_metadata,
    check_streams,
    check_versions,
)
from commscope.findings.model import WHOLE, Check, Metric, Result, Trust
from commscope.findings.timing import check_durations, check_order, check_steps
from commscope.wording import counted, listed


def check_slices(analysis: Analysis) -> Check:
    """Q10: are there activities that never ended? Kineto writes complete ones only."""
    formats = {file.format for file in analysis.trace.files}
    says = f"does not arise in {', '.join(sorted(formats))}"
    return Check("Q10", "Unfinished activities", Result.NOT_CHECKED, says)


def check_clocks(analysis: Analysis) -> Check:
    """Q12: how well are the clocks of the ranks aligned, and their collectives matched?"""
    title, matching = "Clocks of the ranks", analysis.across.matching
    if analysis.ranks.num_rows < 2:
        return Check("Q12", title, Result.NOT_CHECKED, "one rank only")
    left_out = "".join(
        f", {count:,} left out: {why}" for why, count in matching.left_out.items() if count
    )
    matched = int((matching.instance >= 0).sum())
    says = f"{matched:,} of {len(matching.instance):,} collectives matched{left_out}"
    if not matched:
        strangers = _strangers(analysis.trace.ranks)
        if strangers:
            return Check("Q12", title, Result.FAIL, f"{says}; {strangers}")
        several = len(set(int64(analysis.across.calls, "rank").tolist())) > 1
        result = Result.FAIL if several else Result.NOT_CHECKED
        return Check("Q12", title, result, f"{says}: are these ranks of one run?")
    parts = len(set(matching.clocks.part.tolist()))
    if parts > 1:
        says += (
            f"; no collective connects the clocks of {parts} groups of ranks: times compare "
            "only within them"
        )
        return Check("Q12", title, Result.FAIL, says)
    error = int(matching.clocks.error_ns.max())
    hosts = counted(analysis.across.hosts, "host", "hosts")
    return Check(
        "Q12", title, Result.PASS, f"{says}; clocks of {hosts} agree within {error / 1000:,.1f} us"
    )


def _strangers(ranks: pa.Table) -> str | None:
    """Why ranks of which nothing tells that they are of one job may be of several."""
    guessed = {"assumed", "file"}
    if not guessed.issuperset(ranks.column("source").to_pylist()):
        return None
    gpus = sorted({gpu for gpu in ranks.column("gpu").to_pylist() if gpu})
    if len(gpus) > 1:
        return f"these may be different jobs, on {listed(gpus)}: analyse each alone"
    hosts = {host for host in ranks.column("host").to_pylist() if host}
    if len(hosts) == ranks.num_rows:
        return "these may be different jobs, each on a host of its own: analyse each alone"
    return None


RULES = (
    check_coverage,
    check_asymmetry,
    check_steps,
    check_durations,
    check_metadata,
    check_streams,
    check_syntax,
    check_graphs,
    check_order,
    check_slices,
    check_classification,
    check_clocks,
    check_versions,
)


def trust_of(analysis: Analysis) -> Trust:
    """All checks of a trace, in the order of their numbers, and what they come to.

    It is limited where numbers are withheld, and where a file was too damaged to be used at all.
    """
    checks = tuple(rule(analysis) for rule in RULES)
    if _is_blind(analysis, checks):
        return Trust("unusable", checks)
    useless = any(note.topic == "damage" for note in analysis.trace.notes)
    limited = useless or any(check.withheld for check in checks)
    return Trust("limited" if limited else "ok", checks)


def _is_blind(analysis: Analysis, checks: Sequence[Check]) -> bool:
    """Whether overlap is withheld of every rank and step that could have it."""
    gone = {(w.rank, w.step) for c in checks for w in c.withheld if w.metric == Metric.OVERLAP}
    steps = analysis.steps.filter(pa.array(int64(analysis.steps, "start_ns") != NONE))
    pairs = set(zip(steps.column("rank").to_pylist(), steps.column("step").to_pylist()))
    ranks = analysis.ranks.column("rank").to_pylist()
    pairs |= {(rank, WHOLE) for rank in ranks}
    return all(gone & {(rank, step), (rank, None), (None, None)} for rank, step in pairs)
