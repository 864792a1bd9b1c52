"""Several files of one rank: captures one after the other, or a conflict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from commscope.errors import RankConflict, UsageError
from commscope.normalize.parts import Part
from commscope.trace import Note
from commscope.wording import counted


@dataclass(frozen=True, slots=True)
class _Timed:
    """A part and its span, which is costly to ask for."""

    start_ns: int
    end_ns: int
    part: Part


Capture = list[Part]
_Group = list[_Timed]


def choose_captures(
    parts: Sequence[Part], wanted: int | str | None
) -> tuple[list[Capture], list[Note]]:
    """The wanted captures, oldest first: a number from 0, ``"all"``, or null.

    Null is the newest of those with most ranks. Raises RankConflict where two files of one
    rank overlap in time, UsageError where the wanted capture is not there.
    """
    by_rank = _by_rank(parts)
    captures = [[timed.part for timed in group] for group in _group(by_rank)]
    last = len(captures) - 1
    if wanted == "all":
        return captures, [_together(captures)] if last else []
    number = _newest_complete(captures) if wanted is None else int(wanted)
    if not 0 <= number <= last:
        there = f"there are captures 0 to {last}" if last else "there is capture 0 only"
        raise UsageError(f"--capture {number}: {there}")
    return [captures[number]], [_alone(captures, number, len(by_rank))] if last else []


def _by_rank(parts: Sequence[Part]) -> dict[int, _Group]:
    by_rank: dict[int, _Group] = defaultdict(list)
    for part in parts:
        by_rank[part.rank].append(_Timed(*part.span_ns(), part))
    for rank in sorted(by_rank):
        by_rank[rank].sort(key=_by_time)
        _check_apart(rank, by_rank[rank])
    return by_rank


def _by_time(timed: _Timed) -> tuple[int, int, str]:
    return timed.start_ns, timed.end_ns, timed.part.file


def _check_apart(rank: int, files: _Group) -> None:
    for earlier, later in pairwise(files):
        if later.start_ns < earlier.end_ns:
            raise RankConflict(
                f"rank {rank} is claimed by two files that cover the same time: "
                f"{earlier.part.file} and {later.part.file}; leave one out, or tell them apart "
                "with --rank N=FILE"
            )


def _group(by_rank: dict[int, _Group]) -> list[_Group]:
    """Captures, oldest first.

    Files that overlap in time belong together. Clocks of several hosts may not be comparable: where
    that gives no capture with all ranks, but all ranks have as many files, they go by their order.
    """
    by_time = _overlapping(by_rank)
    counts = {len(files) for files in by_rank.values()}
    if len(counts) > 1 or any(len(group) == len(by_rank) for group in by_time):
        return by_time
    return [list(group) for group in zip(*by_rank.values())]


def _overlapping(by_rank: dict[int, _Group]) -> list[_Group]:
    """Groups of files that cover time together, no rank twice, one after the other."""
    groups: list[_Group] = []
    held: set[int] = set()
    reach = 0
    for timed in sorted((t for files in by_rank.values() for t in files), key=_by_time):
        if not groups or timed.start_ns >= reach or timed.part.rank in held:
            groups.append([])
            held.clear()
            reach = timed.end_ns
        groups[-1].append(timed)
        held.add(timed.part.rank)
        reach = max(reach, timed.end_ns)
    return groups


def _newest_complete(captures: Sequence[Capture]) -> int:
    """The newest of the captures with most ranks."""
    most = max(map(len, captures))
    return max(number for number, capture in enumerate(captures) if len(capture) == most)


def _alone(captures: Sequence[Capture], number: int, ranks: int) -> Note:
    held = f"{len(captures[number])} of {counted(ranks, 'rank')}"
    return Note(
        "captures",
        f"capture {number} of 0 to {len(captures) - 1} is shown, with {held}; the others are left "
        "out (--capture N or --capture all)",
    )


def _together(captures: Sequence[Capture]) -> Note:
    return Note(
        "captures",
        f"{len(captures)} captures are shown as one trace: the time between them was not recorded "
        "and counts as idle of the ranks, but in no step",
    )
