"""What is said of one hang."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import sub

_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Side:
    """What some ranks did at the operation where ranks part."""

    ranks: tuple[int, ...]
    op: str | None
    size: str | None  #: elements or shapes, and their type
    state: str | None
    at: str | None  #: file:line, or line of the program


@dataclass(frozen=True, slots=True)
class Hang:
    """One process group or communicator that does not go on; ``says`` is the verdict.

    ``kind``: ``mismatch`` (ranks call different things), ``missing`` (some never called it),
    ``not_started`` (called, but the device did not begin it), ``stuck`` (begun by all, not ended),
    ``behind`` (fewer operations than others).
    """

    source: str  #: flight_recorder, ras or watchdog
    kind: str
    group: str
    nranks: int | None
    seq: int | None  #: number of the first operation at which ranks part
    suspects: tuple[int, ...]  #: ranks to look at first
    waiting: tuple[int, ...]  #: ranks that wait for them
    unknown: tuple[int, ...]  #: members of which nothing is known: no dump, no message
    sides: tuple[Side, ...]
    says: str


def few(ranks: Iterable[int]) -> str:
    """Ranks as ``0-6, 9``; of many spans the first."""
    ordered = sorted(set(ranks))
    spans = []
    for _, run in groupby(enumerate(ordered), key=lambda pair: sub(*pair)):
        values = [rank for _, rank in run]
        ends = (values[0], values[-1])
        spans.append(str(ends[0]) if len(values) == 1 else f"{ends[0]}-{ends[1]}")
    more = f" and {len(spans) - _MOST_SHOWN} more spans" if len(spans) > _MOST_SHOWN else ""
    return ", ".join(spans[:_MOST_SHOWN]) + more


def named(ranks: Iterable[int], verb: str = "") -> str:
    """``rank 3 waits`` or ``ranks 0-2 wait``, for a verb of which ``s`` makes the singular."""
    ordered = sorted(set(ranks))
    one = len(ordered) == 1
    what = f"{'rank' if one else 'ranks'} {few(ordered)}"
    return f"{what} {verb}{'s' if one else ''}" if verb else what
