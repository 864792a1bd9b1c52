"""What explains the change of the step time: causes that add up to it, exactly.

Compute, exposed communication, copies and idle time of all ranks add up to the step. A rank that is
late shows twice in that sum: as waiting on the others, and as what it did meanwhile itself. Where
rule C1 names such a rank on either side, both are one cause.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from commscope.compare.attribution import Key, Spent, spent_in, without_waits
from commscope.compare.means import mean_sums, whole_numbers
from commscope.compare.model import Cause, CausePart
from commscope.compare.scope import Sides

#: Reason of lateness -> the part of its own time in which a late rank shows it.
_SHOWN_IN = {"host": "idle", "compute": "compute", "copy": "exposed_copy"}
_COUNTED = ("compute", "exposed_comm", "exposed_transfer", "exposed_unmatched")
#: Names of causes, by the part of the step that they are.
_NAMES = {
    "exposed_comm": "communication",
    "exposed_wait": "waiting",
    "exposed_copy": "copies",
    "exposed_transfer": "transfer",
    "exposed_unmatched": "unmatched",
}


class _Piece(NamedTuple):
    """A line of the explanation: a key whose rank is null where it does not matter."""

    part: str
    detail: str
    rank: int | None


def blamed_ranks(sides: Sides) -> set[int]:
    """The ranks that rule C1 calls stragglers in any run."""
    findings = (finding for scope in sides.every for finding in scope.run.report.findings)
    return {f.rank for f in findings if f.rule == "C1" and f.rank is not None}


def causes_of(sides: Sides, parts: Sequence[str]) -> tuple[Cause, ...]:
    """The causes of the change, the largest first; ``parts`` are those that all runs can tell."""
    waits = "exposed_wait_ns" in parts
    of_run = spent_in if waits else without_waits
    base, new = ([of_run(scope) for scope in side] for side in (sides.base, sides.new))
    blamed = blamed_ranks(sides) if waits else set()
    reasons = {rank: _reason((*base, *new), rank) for rank in blamed}
    lines = _lines(sides, base, new, reasons)
    grouped: defaultdict[tuple[str, int | None], list[CausePart]] = defaultdict(list)
    for line in lines:
        grouped[_cause_of(line, reasons)].append(line)
    change = sum(line.change_ns for line in lines)
    causes = (
        _with_pauses(_cause(name, rank, of, change), base, new)
        for (name, rank), of in grouped.items()
    )
    return tuple(sorted(causes, key=lambda cause: (-abs(cause.change_ns), cause.name)))


def _reason(spent: Iterable[Spent], rank: int) -> str:
    """Why a rank was late for most of the time that others waited for it."""
    waited: defaultdict[str, int] = defaultdict(int)
    for run in spent:
        for key, ns in run.ns.items():
            if key.part == "exposed_wait" and key.rank == rank:
                waited[key.detail] += ns
    return max(sorted(waited), key=lambda reason: waited[reason], default="unclear")


def _lines(
    sides: Sides, base: Sequence[Spent], new: Sequence[Spent], reasons: dict[int, str]
) -> list[CausePart]:
    times = [
        whole_numbers(_folded(mean_sums(scopes, [run.ns for run in spent]), reasons))
        for scopes, spent in ((sides.base, base), (sides.new, new))
    ]
    counts = [
        _folded(mean_sums(scopes, [run.count for run in spent]), reasons)
        for scopes, spent in ((sides.base, base), (sides.new, new))
    ]
    pieces = sorted({*times[0], *times[1]}, key=str)
    return [
        _line(piece, [of.get(piece, 0) for of in times], [of.get(piece) for of in counts])
        for piece in pieces
    ]


def _folded(means: dict[Key, Fraction], reasons: dict[int, str]) -> dict[_Piece, Fraction]:
    """Without the ranks of lines that are no rank's in particular."""
    total: dict[_Piece, Fraction] = {}
    for key, value in means.items():
        own = key.part == _SHOWN_IN.get(reasons.get(key.rank, ""))
        told = own or key.part == "exposed_wait"
        piece = _Piece(key.part, key.detail, key.rank if told and key.rank >= 0 else None)
        total[piece] = total.get(piece, Fraction(0)) + value
    return total


def _line(piece: _Piece, ns: Sequence[int], counts: Sequence[Fraction | None]) -> CausePart:
    line = CausePart(*piece, ns[0], ns[1], None, None, None, None)
    if piece.part not in _COUNTED:
        return line
    before, after = (count or Fraction(0) for count in counts)
    by_count = _by_count(ns, before, after)
    return replace(
        line,
        base_count=float(before),
        new_count=float(after),
        by_count_ns=by_count,
        by_each_ns=line.change_ns - by_count,
    )


def _by_count(ns: Sequence[int], before: Fraction, after: Fraction) -> int:
    """What the changed number of them accounts for, each as long as on the mean of both sides.

    The other factor likewise: Bennet's decomposition (J. R. Stat. Soc. 83 (1920) 455), which treats
    both sides alike and leaves no rest. Where a side has none the number accounts for all.
    """
    if not before or not after:
        return ns[1] - ns[0] if before != after else 0
    each = (Fraction(ns[0]) / before + Fraction(ns[1]) / after) / 2
    return round((after - before) * each)


def _cause_of(line: CausePart, reasons: dict[int, str]) -> tuple[str, int | None]:
    """The cause that a line belongs to, by name and rank."""
    if line.rank in reasons:
        return "late_rank", line.rank
    return _NAMES.get(line.part, line.part), None


def _cause(name: str, rank: int | None, lines: Sequence[CausePart], change: int) -> Cause:
    ordered = sorted(lines, key=lambda line: (-abs(line.change_ns), line.part, line.detail))
    base, new = (sum(ns) for ns in zip(*((line.base_ns, line.new_ns) for line in lines)))
    share = (new - base) / change if change else None
    return Cause(name, "", rank, base, new, share, tuple(ordered))


def _with_pauses(cause: Cause, base: Sequence[Spent], new: Sequence[Spent]) -> Cause:
    if cause.rank is None:
        return cause
    before, after = (max(run.pauses_ns.get(cause.rank, 0) for run in side) for side in (base, new))
    return replace(cause, base_pause_ns=before, new_pause_ns=after)
