"""Rules on what is missing: kernels (Q1), ranks' shares (Q2), text (Q7), graph replays (Q8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commscope.analysis.coverage import empty_graph_launches
from commscope.analysis.result import Analysis
from commscope.columns import int64
from commscope.findings.model import Check, Metric, Result, Withheld
from commscope.trace import SourceFile

#: Q1: share of kernel launches that must have found their kernel.
MIN_COVERAGE = 0.98
#: Q2: by how much a rank may fall short of the others' activities in a step.
MAX_SHORTFALL = 0.20
#: Q7: share of events that may be lost before overlap is withheld.
MAX_LOST = 0.001
#: Q8: share of kernels in graphs from which single operations cannot be told.
MAX_GRAPH = 0.05

#: What a missing kernel makes wrong.
_RESTS_ON_KERNELS = (Metric.OVERLAP, Metric.IDLE)


def check_coverage(analysis: Analysis) -> Check:
    """Q1: did the launches find their kernels?"""
    title = "Kernels recorded for their launches"
    rows = analysis.coverage.to_pylist()
    whole = [row for row in rows if row["step"] is None]
    if not sum(row["launches"] for row in whole):
        says = "the file has no kernel launches: whether kernels are missing cannot be told"
        return Check("Q1", title, Result.NOT_CHECKED, says + _unlinked(analysis))
    bad = [row for row in rows if _share(row) < MIN_COVERAGE]
    withheld = tuple(
        Withheld(metric, row["rank"], row["step"]) for row in bad for metric in _RESTS_ON_KERNELS
    )
    if bad:
        return Check("Q1", title, Result.FAIL, _says_missing(bad, len(whole)), withheld)
    found, launches = sum(r["found"] for r in whole), sum(r["launches"] for r in whole)
    says = f"{found:,} of {launches:,} kernel launches found their kernel"
    cut = sum(row["cut"] for row in whole)
    if cut:
        says += f", but for {cut:,} at the end, which the recording stopped before"
    return Check("Q1", title, Result.PASS, says + _unlinked(analysis))


def _share(row: dict[str, int]) -> float:
    """Share of the launches before the recording stopped that found their kernel."""
    expected = row["launches"] - row["cut"]
    return row["found"] / expected if expected else 1.0


def _says_missing(bad: Sequence[dict[str, int]], ranks: int) -> str:
    worst = min(bad, key=_share)
    where = f"rank {worst['rank']}" if ranks > 1 else "the trace"
    where += "" if worst["step"] is None else f", step {worst['step']}"
    if not any(row["found"] for row in bad):
        return (
            f"no kernel was recorded for {worst['launches']:,} launches ({where}): GPU activity "
            "was lost; start the profiler before the first use of the GPU, or shorten its warm-up"
        )
    return (
        f"only {_share(worst):.1%} of the kernel launches found their kernel ({where}: "
        f"{worst['found']:,} of {worst['launches']:,}); what ran in between is not known"
    )


def _unlinked(analysis: Analysis) -> str:
    """What kernels without a launch in the file have to do with the numbers."""
    unlinked = sum(analysis.launch.column("unlinked").to_pylist())
    kernels = sum(analysis.launch.column("kernels").to_pylist())
    if not unlinked:
        return ""
    return (
        f"; {unlinked:,} of {kernels:,} kernels have no launch in the file (launched before the "
        "recording began, or their ids were lost): they count by the time they ran"
    )


def check_asymmetry(analysis: Analysis) -> Check:
    """Q2: does one rank lack what the others have?"""
    title = "Ranks recorded alike"
    counts = analysis.counts
    if len(counts) < 2:
        return Check("Q2", title, Result.NOT_CHECKED, "one rank only")
    lacking = _lacking_kinds(counts) + _fewer_in_steps(analysis)
    if not lacking:
        return Check(
            "Q2", title, Result.PASS, f"{len(counts)} ranks have the same kinds of activity"
        )
    says = "; ".join(says for _, says in lacking[:4])
    no_compute = {rank for rank, count in counts.items() if not count["kernels"]}
    withheld = tuple(Withheld(metric, r) for r in sorted(no_compute) for metric in _RESTS_ON_KERNELS)
    return Check("Q2", title, Result.FAIL, says, withheld)


def _lacking_kinds(counts: dict[int, dict[str, int]]) -> list[tuple[int, str]]:
    return [
        (rank, f"rank {rank} has no {kind}, which other ranks have")
        for kind in ("kernels", "collectives")
        for rank, count in counts.items()
        if not count[kind] and any(other[kind] for other in counts.values())
    ]


def _fewer_in_steps(analysis: Analysis) -> list[tuple[int, str]]:
    """Ranks with far fewer kernels than the median of the others in a closed step."""
    steps = analysis.steps
    closed = ~np.asarray(steps.column("open").to_numpy(zero_copy_only=False), np.bool_)
    number, rank, kernels = (int64(steps, name) for name in ("step", "rank", "kernels"))
    found = []
    for step in np.unique(number[closed]):
        rows = np.flatnonzero(closed & (number == step))
        usual = float(np.median(kernels[rows]))
        found += [
            (int(rank[r]), f"rank {rank[r]} has {kernels[r]:,} kernels in step {step}, the median {usual:,.0f}")
            for r in rows
            if kernels[r] < (1 - MAX_SHORTFALL) * usual
        ]  # fmt: skip
    return found


def check_syntax(analysis: Analysis) -> Check:
    """Q7: could the files be read whole?"""
    files = analysis.trace.files
    damaged = [f for f in files if f.cut or f.events_lost or f.events_repaired or f.bytes_lost]
    if not damaged:
        says = (
            f"{len(files)} files were read whole" if len(files) > 1 else "the file was read whole"
        )
        return Check("Q7", "Syntax", Result.PASS, says)
    complete = _complete_ranks(analysis)
    withheld = tuple(
        Withheld(metric, rank)
        for file in damaged
        if file.cut or file.events_lost > MAX_LOST * file.events
        for rank in _ranks_of(file, analysis)
        if rank not in complete
        for metric in _RESTS_ON_KERNELS
    )
    says = "; ".join(_says_damage(file) for file in damaged[:3])
    return Check("Q7", "Syntax", Result.FAIL, says, withheld)


def _ranks_of(file: SourceFile, analysis: Analysis) -> list[int]:
    return [file.rank] if file.rank is not None else analysis.ranks.column("rank").to_pylist()


def _complete_ranks(analysis: Analysis) -> set[int]:
    """Ranks whose launches all found their kernels in spite of the damage."""
    return {
        row["rank"]
        for row in analysis.coverage.to_pylist()
        if row["step"] is None and row["launches"] and row["found"] == row["launches"]
    }


def _says_damage(file: SourceFile) -> str:
    says = [f"{file.file}: {file.events:,} events read"]
    if file.cut:
        says.append(f"then {file.cut}")
    if file.events_lost:
        says.append(f"{file.events_lost:,} could not be read")
    if file.bytes_lost:
        says.append(f"{file.bytes_lost:,} bytes lost")
    if file.events_repaired:
        says.append(f"{file.events_repaired:,} were mended")
    return ", ".join(says)


def check_graphs(analysis: Analysis) -> Check:
    """Q8: are kernels replayed by graphs, and were they recorded?"""
    title = "Graph replays"
    launches = empty_graph_launches(analysis.trace)
    shares = [share or 0.0 for share in analysis.launch.column("graph_share").to_pylist()]
    withheld = tuple(
        Withheld(metric, rank)
        for rank, (count, empty) in launches.items()
        if empty > (1 - MIN_COVERAGE) * count
        for metric in _RESTS_ON_KERNELS
    )
    if withheld:
        empty = sum(e for _, e in launches.values())
        says = f"{empty:,} graph launches have no kernel in the trace: it was under-recorded"
        return Check("Q8", title, Result.FAIL, says, withheld)
    if max(shares, default=0.0) > MAX_GRAPH:
        says = (
            f"{max(shares):.0%} of the kernels were replayed by graphs: they share one launch, so "
            "queue delays and single operations cannot be told; the timeline holds"
        )
        return Check("Q8", title, Result.FAIL, says, (Withheld(Metric.LAUNCH),))
    return Check("Q8", title, Result.PASS, "no kernels are replayed by graphs to speak of")
