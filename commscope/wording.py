"""Numbers and lists in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, groupby
from operator import sub

_MOST_SPANS = 8


def counted(number: int, one: str, many: str | None = None) -> str:
    """The number with its noun, and a verb where it has one: ``1 file was``, ``2 files were``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(words: Iterable[object], most: int = 4) -> str:
    """``a, b and 3 more``."""
    every = [str(word) for word in words]
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def rank_list(ranks: Iterable[int], most: int = 4) -> str:
    """``rank 3``, or ``ranks 0, 2 and 3 more``."""
    every = [*ranks]
    return f"{_ranks(every)} {listed(every, most)}"


def on_ranks(ranks: Iterable[int], of: int) -> str:
    """`` on rank 3`` or `` on ranks 1, 3``; nothing where there is one rank only."""
    found = sorted(set(ranks))
    return f" on {rank_list(found, most=len(found))}" if found and of > 1 else ""


def rank_spans(ranks: Iterable[int], verb: str = "") -> str:
    """``rank 3 waits`` or ``ranks 0-2, 5 wait``, for a verb of which ``s`` makes the singular."""
    every = sorted(set(ranks))
    what = f"{_ranks(every)} {_spans(every)}"
    return f"{what} {verb}{'s' if len(every) == 1 else ''}" if verb else what


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names with a number behind those that came before: ``a``, ``a (2)``."""
    taken = set(names)
    seen: dict[str, Iterator[int]] = {}
    distinct = []
    for name in names:
        if name in seen:
            new = next(new for n in seen[name] if (new := f"{name} ({n})") not in taken)
            taken.add(new)
        else:
            seen[name], new = count(2), name
        distinct.append(new)
    return distinct


def _ranks(ranks: list[int]) -> str:
    return "rank" if len(ranks) == 1 else "ranks"


def _spans(ordered: list[int]) -> str:
    """Ranks as ``0-6, 9``; of many spans the first."""
    spans = []
    for _, run in groupby(enumerate(ordered), key=lambda pair: sub(*pair)):
        values = [rank for _, rank in run]
        ends = (values[0], values[-1])
        spans.append(str(ends[0]) if len(values) == 1 else f"{ends[0]}-{ends[1]}")
    more = f" and {len(spans) - _MOST_SPANS} more spans" if len(spans) > _MOST_SPANS else ""
    return ", ".join(spans[:_MOST_SPANS]) + more
