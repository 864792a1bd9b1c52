"""Exposed communication by rank and step: numbers where there are few, a picture where many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from commscope.report.html.axis import Tick, name_ticks
from commscope.report.html.png import LEVELS, level_picture
from commscope.report.html.step_bars import ShownStep
from commscope.units import percent

_MOST_NUMBERED = 10
_MOST_BESIDE = 4
_MOST_NUMBERED_RANKS = 16
_MOST_RANKS = 128
_ROW_PX, _LEAST_ROW_PX, _MOST_PX = 18, 3, 384
#: The scale goes to a multiple of this share.
_SCALE = 0.05


@dataclass(frozen=True, slots=True)
class Spot:
    """A rank's step in words, and its level: 0 is not known."""

    text: str
    level: int


@dataclass(frozen=True, slots=True)
class Heat:
    """The map: ``spots`` where each has room for its number, else ``picture``."""

    ranks: tuple[int, ...]
    steps: tuple[str, ...]
    spots: tuple[tuple[Spot, ...], ...]
    picture: str
    height_px: int
    rank_ticks: tuple[Tick, ...]
    step_ticks: tuple[Tick, ...]
    top: str
    says: str
    note: str
    has_unknown: bool

    @property
    def is_small(self) -> bool:
        """Whether it has room beside the bars."""
        return bool(self.spots) and len(self.steps) <= _MOST_BESIDE


def heat(shown: Sequence[ShownStep]) -> Heat | None:
    """The map of the columns that the bars show; null where no share is known."""
    ranks, more = ranks_of(shown)
    shares = shares_of(shown, ranks)
    known = [(s, r, c) for r, row in enumerate(shares) for c, s in enumerate(row) if s is not None]
    if not known or not any(share for share, _, _ in known):
        return None
    share, row, column = max(known, key=lambda found: (found[0], -found[2], -found[1]))
    top = _SCALE * -(-share // _SCALE)
    levels = [[_level(value, top) for value in of_rank] for of_rank in shares]
    names = tuple(f"{c.step}{'*' if c.is_open else ''}" for c in shown)
    numbered = len(shown) <= _MOST_NUMBERED and len(ranks) <= _MOST_NUMBERED_RANKS
    return Heat(
        ranks=tuple(ranks),
        steps=names,
        spots=tuple(map(_spots, shares, levels)) if numbered else (),
        picture="" if numbered else level_picture(levels),
        height_px=len(ranks) * min(_ROW_PX, max(_MOST_PX // len(ranks), _LEAST_ROW_PX)),
        rank_ticks=tuple(name_ticks([f"rank {rank}" for rank in ranks], 16)),
        step_ticks=tuple(name_ticks(names)),
        top=percent(top),
        says=f"The most is {percent(share)}: rank {ranks[row]}, step {shown[column].step}.",
        note=f"{more:,} ranks with less exposed communication are not shown." if more else "",
        has_unknown=any(not level for of_rank in levels for level in of_rank),
    )


def shares_of(shown: Sequence[ShownStep], ranks: Sequence[int]) -> list[list[float | None]]:
    """The exposed share of each rank's steps; null where withheld or not there."""
    by_rank = [{row["rank"]: row for row in column.rows} for column in shown]
    return [[_share(rows.get(rank)) for rows in by_rank] for rank in ranks]


def ranks_of(shown: Sequence[ShownStep]) -> tuple[list[int], int]:
    """The ranks to show, those with most exposed time of many, and how many more there are."""
    exposed: dict[int, int] = {}
    for column in shown:
        for row in column.rows:
            exposed[row["rank"]] = exposed.get(row["rank"], 0) + (row["exposed_comm_ns"] or 0)
    most = sorted(exposed, key=lambda rank: (-exposed[rank], rank))[:_MOST_RANKS]
    return sorted(most), len(exposed) - len(most)


def _share(row: dict[str, Any] | None) -> float | None:
    """The share of a rank's step; null where it is withheld, or the rank has no such step."""
    if row is None or row["exposed_comm_ns"] is None or not row["window_ns"]:
        return None
    return float(row["exposed_comm_ns"] / row["window_ns"])


def _level(share: float | None, top: float) -> int:
    """From 1 for nothing exposed to the highest level; 0 is not known."""
    return 0 if share is None else 1 + round((LEVELS - 1) * share / top)


def _spots(shares: Sequence[float | None], levels: Sequence[int]) -> tuple[Spot, ...]:
    return tuple(
        Spot("withheld" if share is None else percent(share), level)
        for share, level in zip(shares, levels)
    )
