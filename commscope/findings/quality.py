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


def check_slices(analysis: Analysis) -> Check:
    """Q10: are there activities that never ended? Kineto writes complete ones only."""
    formats = {file.format for file in analysis.trace.files}
    says = f"does not arise in {', '.join(sorted(formats))}"
    return Check("Q10", "Unfinished activities", Result.NOT_CHECKED, says)


def check_clocks(analysis: Analysis) -> Check:
    """Q12: how far apart are the clocks of the ranks?"""
    ranks = analysis.ranks.num_rows
    says = "one rank only" if ranks < 2 else "collectives are not matched across ranks"
    return Check("Q12", "Clocks of the ranks", Result.NOT_CHECKED, says)


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
    """All checks of a trace, in the order of their numbers, and what they come to."""
    checks = tuple(rule(analysis) for rule in RULES)
    if _is_blind(analysis, checks):
        return Trust("unusable", checks)
    limited = any(check.withheld for check in checks)
    return Trust("limited" if limited else "ok", checks)


def _is_blind(analysis: Analysis, checks: Sequence[Check]) -> bool:
    """Whether overlap is withheld of every rank and step that could have it."""
    gone = {(w.rank, w.step) for c in checks for w in c.withheld if w.metric == Metric.OVERLAP}
    steps = analysis.steps.filter(pa.array(int64(analysis.steps, "start_ns") != NONE))
    pairs = set(zip(steps.column("rank").to_pylist(), steps.column("step").to_pylist()))
    ranks = analysis.ranks.column("rank").to_pylist()
    pairs |= {(rank, WHOLE) for rank in ranks}
    return all(gone & {(rank, step), (rank, None), (None, None)} for rank, step in pairs)
