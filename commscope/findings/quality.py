"""Can the trace be trusted? All rules of trust, before any number.

A rule fails on what the trace shows, and withholds only the numbers that rest on it.
"""

from __future__ import annotations

from commscope.analysis.result import Analysis
from commscope.findings.completeness import (
    check_asymmetry,
    check_coverage,
    check_graphs,
    check_syntax,
)
from commscope.findings.labels import (
    check_classification,
    check_metadata,
    check_streams,
    check_versions,
)
from commscope.findings.model import Check, Metric, Result, Trust
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
    blind = {
        withheld.rank
        for check in checks
        for withheld in check.withheld
        if withheld.metric == Metric.OVERLAP and withheld.step is None
    }
    if None in blind or set(analysis.ranks.column("rank").to_pylist()) <= blind:
        return Trust("unusable", checks)
    limited = any(check.withheld for check in checks if check.result == Result.FAIL)
    return Trust("limited" if limited else "ok", checks)
