"""Overlap gaps as the program finds them, and the rows that the independent calculator needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import reference_gaps
from reference_gaps import Activity, Call, Collective, Gap, Rows, Window

from commscope.analysis.across import Across
from commscope.analysis.causes import CAUSES, Causes
from commscope.analysis.gaps import PARTS, Gaps
from commscope.analysis.result import Analysis
from commscope.classify import ActivityClass
from commscope.schema import Flag
from commscope.trace import Trace

_KINDS = {kind.value: kind.name.lower() for kind in ActivityClass}


def found_gaps(analysis: Analysis, gaps: Gaps, causes: Causes) -> dict[int, list[Gap]]:
    """The program's gaps by rank, in order, on the clock of their rank."""
    steps = [row["step"] for row in analysis.trace.steps.to_pylist() if row["start_ns"] is not None]
    found: dict[int, list[Gap]] = {rank: [] for rank in analysis.timeline.ranks.tolist()}
    ranks = analysis.timeline.ranks[gaps.rank].tolist()
    start = (gaps.start - analysis.timeline.shift_ns[gaps.rank]).tolist()
    numbers = (gaps.window, gaps.length, gaps.part, causes.cause)
    for rank, begin, *row in zip(ranks, start, *(of.tolist() for of in numbers), strict=True):
        step, length, part, cause = row
        number = None if step < 0 else steps[step]
        found[rank].append(Gap(number, begin, length, PARTS[part], CAUSES[cause]))
    return found


def expected_gaps(trace: Trace, across: Across) -> dict[int, list[Gap]]:
    """The same by the calculator."""
    return {rank: reference_gaps.gaps(rows) for rank, rows in rows_of(trace, across).items()}


def rows_of(trace: Trace, across: Across) -> dict[int, Rows]:
    """What the calculator needs, by rank."""
    ranks = sorted(trace.ranks.column("rank").to_pylist())
    activities, calls = _activities(trace), _calls(trace.host)
    collectives, windows = _collectives(across), _windows(trace.steps)
    shown = reference_gaps.shows_waits((activities[rank], calls[rank]) for rank in ranks)
    return {
        rank: Rows(activities[rank], calls[rank], collectives[rank], windows[rank], shown)
        for rank in ranks
    }


def _activities(trace: Trace) -> dict[int, list[Activity]]:
    families = dict(zip(_words(trace.events, "name"), trace.classes.family))
    found = defaultdict(list)
    kinds = trace.classes.of_event.tolist()
    for row, kind in zip(trace.events.to_pylist(), kinds, strict=True):
        if row["dur_ns"] > 0 and not row["flags"] & Flag.BROKEN:
            found[row["rank"]].append(
                Activity(
                    _KINDS[kind],
                    *_span(row),
                    name=row["name"],
                    stream=row["stream"],
                    queue=row["queue"],
                    step=row["step"],
                    correlation=None if row["launch_ns"] is None else row["correlation"],
                    is_optimizer=families[row["name"]] == "optimizer",
                )
            )
    return found


def _words(table: pa.Table, name: str) -> Iterable[str]:
    words: list[str] = table.column(name).unify_dictionaries().chunk(0).dictionary.to_pylist()
    return words


def _calls(host: pa.Table) -> dict[int, list[Call]]:
    found = defaultdict(list)
    for row in host.to_pylist():
        found[row["rank"]].append(
            Call(*_span(row), row["name"], row["kind"], row["thread"], row["correlation"])
        )
    return found


def _collectives(across: Across) -> dict[int, list[Collective]]:
    found = defaultdict(list)
    matching = across.matching
    judged = zip(matching.instance.tolist(), matching.wait_ns.tolist(), strict=True)
    for row, (instance, wait) in zip(across.calls.to_pylist(), judged, strict=True):
        found[row["rank"]].append(Collective(*_span(row), None if instance < 0 else wait))
    return found


def _windows(steps: pa.Table) -> dict[int, list[Window]]:
    found = defaultdict(list)
    for row in steps.to_pylist():
        if row["start_ns"] is not None:
            found[row["rank"]].append(Window(row["start_ns"], row["end_ns"], row["step"]))
    return found


def _span(row: dict[str, Any]) -> tuple[int, int]:
    return row["start_ns"], row["start_ns"] + row["dur_ns"]
