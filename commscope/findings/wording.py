"""Numbers in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_LISTED = 4


def counted(number: int, one: str, many: str | None = None) -> str:
    """The number with its noun, and a verb where it has one: ``1 file was``, ``2 files were``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(ranks: Sequence[int]) -> str:
    """The first four ranks, and that there are others."""
    return ", ".join(map(str, ranks[:_LISTED])) + (" and others" if len(ranks) > _LISTED else "")


def on_ranks(ranks: Iterable[int], of: int) -> str:
    """`` on rank 3`` or `` on ranks 1, 3``; nothing where there is one rank only."""
    found = sorted(set(ranks))
    if of < 2 or not found:
        return ""
    return f" on {'rank' if len(found) == 1 else 'ranks'} {', '.join(map(str, found))}"
