"""Rules on what is missing: kernels (Q1), text (Q7), graph replays (Q8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from commscope.analysis.result import Analysis
from commscope.columns import int64
from commscope.findings.model import OUTSIDE, WHOLE, Check, Metric, Result, Withheld
from commscope.trace import SourceFile
from commscope.wording import counted, on_ranks

#: Q1, Q8: share of launches that must have found what they launched.
MIN_COVERAGE = 0.98
#: Q7: share of events that may be lost before overlap is withheld.
MAX_LOST = 0.001
#: Q8: share of kernels in graphs from which single operations cannot be told.
MAX_GRAPH = 0.05

#: What a missing kernel makes wrong.
RESTS_ON_KERNELS = (Metric.OVERLAP, Metric.IDLE)

#: A row of ``Analysis.coverage`` or ``Analysis.graphs``.
_Row = dict[str, Any]


def withhold_kernels(places: Iterable[tuple[int, int | None]]) -> tuple[Withheld, ...]:
    """What rests on all kernels being there, at each of the (rank, step)."""
    return tuple(Withheld(metric, *place) for place in places for metric in RESTS_ON_KERNELS)


def check_coverage(analysis: Analysis) -> Check:
    """Q1: did the launches find their kernels?"""
    title = "Kernels recorded for their launches"
    rows = analysis.coverage.to_pylist()
    whole = [row for row in rows if row["step"] is None]
    if not sum(row["launches"] for row in whole):
        says = "no kernel launch is in the file, so whether kernels are missing cannot be told"
        return Check("Q1", title, Result.NOT_CHECKED, says + _unlinked(analysis))
    shown = set(zip(*(analysis.steps.column(name).to_pylist() for name in ("rank", "step"))))
    bad = [
        row
        for row in rows
        if _share(row) < MIN_COVERAGE
        and (row["step"] is None or (row["rank"], row["step"]) in shown)
    ]
    if bad:
        withheld = withhold_kernels(_lacking(bad)) + _withhold_outside(rows)
        return Check("Q1", title, Result.FAIL, _says_missing(bad, len(whole)), withheld)
    found, launches = sum(r["found"] for r in whole), sum(r["launches"] for r in whole)
    says = (
        f"{found:,} of {counted(launches, 'kernel launch', 'kernel launches')} found their kernel"
    )
    cut = sum(row["cut"] for row in whole)
    if cut:
        says += f", but for {cut:,} at the end, which the recording stopped before"
    return Check("Q1", title, Result.PASS, says + _unlinked(analysis))


def _share(row: _Row) -> float:
    """Share of the launches before the recording stopped that found what they launched."""
    return row["found"] / _expected(row) if _expected(row) else 1.0


def _expected(row: _Row) -> int:
    """The launches whose kernel had begun before the recording stopped."""
    return int(row["launches"] - row["cut"])


def _after(row: _Row) -> str:
    return f", and {row['cut']:,} after the last one found" if row["cut"] else ""


def _lacking(bad: Sequence[_Row]) -> list[tuple[int, int | None]]:
    """(Rank, step) of what cannot be told: all of a rank only if nothing of it was recorded."""
    blind = {row["rank"] for row in bad if row["step"] is None and not row["found"]}
    rest = [row for row in bad if row["rank"] not in blind]
    places = [(row["rank"], WHOLE if row["step"] is None else row["step"]) for row in rest]
    return [*((rank, None) for rank in sorted(blind)), *places]


def _withhold_outside(rows: Sequence[_Row]) -> tuple[Withheld, ...]:
    """The overlap of what is in no step, of ranks whose launches there found too few kernels."""
    outside: dict[int, _Row] = {}
    for row in rows:
        sign = 1 if row["step"] is None else -1
        total = outside.setdefault(row["rank"], {"launches": 0, "found": 0, "cut": 0})
        for name in total:
            total[name] += sign * row[name]
    bad = [rank for rank, row in sorted(outside.items()) if _share(row) < MIN_COVERAGE]
    return tuple(Withheld(Metric.OVERLAP, rank, OUTSIDE) for rank in bad)


def _says_missing(bad: Sequence[_Row], ranks: int) -> str:
    worst = min(bad, key=_share)
    places = (f"rank {worst['rank']}" if ranks > 1 else "", f"step {worst['step']}")
    where = " ".join(places if worst["step"] is not None else places[:1]).strip()
    if not any(row["found"] for row in bad):
        launches = counted(worst["launches"], "kernel launch", "kernel launches")
        return (
            f"no kernel was recorded for {launches}{f' of {where}' if where else ''}: start the "
            "profiler before the first use of the GPU, or shorten its warm-up"
        )
    return (
        f"only {_share(worst):.1%} of the kernel launches{f' of {where}' if where else ''} found "
        f"their kernel ({worst['found']:,} of {_expected(worst):,}{_after(worst)}): what ran "
        "besides is not known; leave such steps out, or record again"
    )


def _unlinked(analysis: Analysis) -> str:
    """What kernels without a launch in the file have to do with the numbers."""
    unlinked, kernels = (
        int(int64(analysis.launch, name).sum()) for name in ("unlinked", "kernels")
    )
    if not unlinked:
        return ""
    return (
        f"; {unlinked:,} of {counted(kernels, 'kernel has', 'kernels have')} no launch in the file "
        "(launched before the recording began, or their ids were lost) and count by the time they "
        "ran"
    )


def check_syntax(analysis: Analysis) -> Check:
    """Q7: could the files be read whole?"""
    files = analysis.trace.files
    damaged = [f for f in files if f.cut or f.events_lost or f.events_repaired or f.bytes_lost]
    useless = [note.says for note in analysis.trace.notes if note.topic == "damage"]
    if not damaged and not useless:
        says = f"{counted(len(files), 'file was', 'files were')} read whole"
        return Check("Q7", "Syntax", Result.PASS, says)
    # That every launch found its kernel proves nothing here: where a profiler writes both next to
    # each other, as on CUDA, what is lost takes both.
    lacking = {
        rank: None
        for file in damaged
        if file.lacks_events or file.events_lost > MAX_LOST * file.events
        for rank in _ranks_of(file, analysis)
    }
    says = "; ".join([*useless[:3], *(_says_damage(file, analysis) for file in damaged[:3])])
    if len(damaged) > 3:
        says += f"; {counted(len(damaged) - 3, 'more file is', 'more files are')} damaged"
    return Check("Q7", "Syntax", Result.FAIL, says, withhold_kernels(lacking.items()))


def _ranks_of(file: SourceFile, analysis: Analysis) -> list[int]:
    """The ranks read from a file; none if it is of a capture that is not shown."""
    if file.rank is not None:
        return [file.rank]
    ranks = analysis.trace.ranks
    pairs = zip(ranks.column("rank").to_pylist(), ranks.column("file").to_pylist())
    return [rank for rank, name in pairs if name == file.file]


def _says_damage(file: SourceFile, analysis: Analysis) -> str:
    says = [f"{file.file}: {counted(file.events, 'event')} read"]
    if file.cut:
        says.append(f"then {file.cut}{_last_good(file, analysis)}")
    if file.events_lost:
        says.append(f"{file.events_lost:,} could not be read")
    if file.bytes_lost:
        says.append(f"{counted(file.bytes_lost, 'byte')} lost")
    if file.events_repaired:
        says.append(f"{file.events_repaired:,} mended")
    return ", ".join(says)


def _last_good(file: SourceFile, analysis: Analysis) -> str:
    """When the last event before the cut began; nothing where none of the file is shown."""
    ranks, timeline = _ranks_of(file, analysis), analysis.timeline
    shown = [rank for rank in ranks if rank in timeline.ranks]
    if file.last_good_ns is None or not shown:
        return ""
    after = file.last_good_ns - int(timeline.first_ns[timeline.index_of(np.array(shown))].min())
    return f" (last good time: {after / 1e6:,.3f} ms after the first activity)"


def check_graphs(analysis: Analysis) -> Check:
    """Q8: are kernels replayed by graphs, and were they recorded?"""
    title = "Graph replays"
    ranks = analysis.ranks.num_rows
    rows = [row for row in analysis.graphs.to_pylist() if row["step"] is None]
    empty = [row for row in rows if _share(row) < MIN_COVERAGE]
    if empty:
        bad = [row["rank"] for row in empty]
        missing = sum(row["launches"] - row["found"] - row["cut"] for row in empty)
        says = (
            f"{counted(missing, 'graph launch has', 'graph launches have')} no kernel in the trace"
            f"{on_ranks(bad, ranks)}: what they replayed is not known; profile once without graphs"
        )
        return Check("Q8", title, Result.FAIL, says, withhold_kernels((r, None) for r in bad))
    shares = {row["rank"]: row["graph_share"] or 0.0 for row in analysis.launch.to_pylist()}
    most = max(shares.values(), default=0.0)
    many = [rank for rank, share in shares.items() if share > MAX_GRAPH]
    if many:
        says = (
            f"{most:.0%} of the kernels were replayed by graphs{on_ranks(many, ranks)}: they share "
            "one launch, so queue delays and single operations cannot be told; the timeline holds"
        )
        withheld = tuple(Withheld(Metric.LAUNCH, rank) for rank in many)
        return Check("Q8", title, Result.FAIL, says, withheld)
    says = f"{most:.1%} of the kernels were replayed by graphs" if most else "no graph was replayed"
    return Check("Q8", title, Result.PASS, says)
