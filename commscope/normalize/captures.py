"""Several files of one rank: captures one after the other, or a conflict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from commscope.errors import RankConflict, UsageError
from commscope.normalize.parts import Part
from commscope.trace import Note

Capture = list[Part]


def choose_captures(parts: Sequence[Part], wanted: int | str | None) -> tuple[Capture, list[Note]]:
    """The parts of the wanted capture: a number from 0 (oldest), ``"all"``, or null.

    Null is the newest capture that holds all ranks. Raises RankConflict where two files of one
    rank overlap in time, UsageError where the wanted capture is not there.
    """
    by_rank = _by_rank(parts)
    captures = _group(by_rank)
    if wanted == "all" or len(captures) < 2:
        return [part for capture in captures for part in capture], []
    if wanted is None:
        number = _newest_complete(captures, len(by_rank))
    else:
        number = int(wanted)
        if not 0 <= number < len(captures):
            raise UsageError(f"--capture {number}: there are captures 0 to {len(captures) - 1}")
    return captures[number], [_note(captures, number, len(by_rank))]


def _by_rank(parts: Sequence[Part]) -> dict[int, list[Part]]:
    by_rank: dict[int, list[Part]] = defaultdict(list)
    for part in parts:
        by_rank[part.rank].append(part)
    for rank, files in by_rank.items():
        if len(files) > 1:
            files.sort(key=Part.span_ns)
            _check_apart(rank, files)
    return by_rank


def _check_apart(rank: int, files: Sequence[Part]) -> None:
    for earlier, later in pairwise(files):
        if later.span_ns()[0] < earlier.span_ns()[1]:
            raise RankConflict(
                f"rank {rank} is claimed by two files that cover the same time: {earlier.file} "
                f"and {later.file}; leave one out, or tell them apart with --rank N=FILE"
            )


def _group(by_rank: dict[int, list[Part]]) -> list[Capture]:
    """Captures, oldest first: by order where every rank has as many files, else by time."""
    counts = {len(files) for files in by_rank.values()}
    if len(counts) == 1:
        return [[files[i] for files in by_rank.values()] for i in range(counts.pop())]
    captures: list[Capture] = []
    reach = None
    for part in sorted((p for files in by_rank.values() for p in files), key=Part.span_ns):
        start, end = part.span_ns()
        if reach is None or start >= reach:
            captures.append([])
            reach = end
        captures[-1].append(part)
        reach = max(reach, end)
    return captures


def _newest_complete(captures: Sequence[Capture], ranks: int) -> int:
    complete = [i for i, capture in enumerate(captures) if len(capture) == ranks]
    if complete:
        return complete[-1]
    most = max(len(capture) for capture in captures)
    return max(i for i, capture in enumerate(captures) if len(capture) == most)


def _note(captures: Sequence[Capture], number: int, ranks: int) -> Note:
    held = len(captures[number])
    return Note(
        "captures",
        f"capture {number} of 0 to {len(captures) - 1} is shown, with {held} of {ranks} ranks; "
        "the others are left out (--capture N or --capture all)",
    )
