"""The step and its parts as bars, base above new, and the causes as steps from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commscope.compare.lines import cause_name
from commscope.compare.model import STEP, Cause, Comparison, Part
from commscope.compare.verdict import PART_NAMES, signed, signed_percent, whole_percent
from commscope.report.html.axis import Tick, time_ticks
from commscope.sanitize import shortened
from commscope.units import span

WIDTH = 1000
_MOST_CAUSES = 8
_MOST_SAYS = 400
#: Class of the style sheet of each part, and whether it is striped.
_STYLES = {
    "compute_ns": ("compute", False),
    "exposed_comm_ns": ("exposed", True),
    "exposed_wait_ns": ("exposed", True),
    "exposed_transfer_ns": ("exposed", False),
    "exposed_unmatched_ns": ("unmatched", False),
    "exposed_copy_ns": ("copy", False),
    "idle_ns": ("idle", False),
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a bar."""

    style: str
    is_striped: bool
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class BarPair:
    """A part on both sides: pieces of either bar, and what is written beside them."""

    name: str
    bars: tuple[tuple[str, tuple[Piece, ...], str], ...]  #: side, pieces, length
    change: str
    percent: str


@dataclass(frozen=True, slots=True)
class PartBars:
    """The step as a bar of its parts, each part on its own, and the parts by their styles."""

    step: BarPair
    parts: tuple[BarPair, ...]
    legend: tuple[tuple[str, str, bool], ...]
    width: int
    times: tuple[Tick, ...]
    describes: str


def part_bars(found: Comparison) -> PartBars | None:
    """All bars to one scale; null without the length of the step on both sides."""
    known = {p.name: p for p in found.parts if p.base_ns is not None and p.new_ns is not None}
    step = known.pop(STEP, None)
    if step is None or found.step_time is None:
        return None
    parts = [part for part in known.values() if part.base_ns or part.new_ns]
    longest = max(step.base_ns or 0, step.new_ns or 0, 1)
    return PartBars(
        step=_pair(step, [_stacked(parts, longest, is_new=side) for side in (False, True)]),
        parts=tuple(_pair(part, _single(part, longest)) for part in parts),
        legend=tuple((PART_NAMES[part.name], *_STYLES[part.name]) for part in parts),
        width=WIDTH,
        times=tuple(time_ticks(longest)),
        describes=" ".join(_described(part) for part in (step, *parts)),
    )


def _pair(part: Part, bars: Sequence[tuple[Piece, ...]]) -> BarPair:
    base, new = part.base_ns or 0, part.new_ns or 0
    lengths = (("base", base), ("new", new))
    return BarPair(
        name=PART_NAMES[part.name],
        bars=tuple((side, bar, span(ns)) for (side, ns), bar in zip(lengths, bars)),
        change=signed(new - base),
        percent=signed_percent((new - base) / base) if base else "",
    )


def _stacked(parts: Sequence[Part], longest: int, *, is_new: bool) -> tuple[Piece, ...]:
    pieces, at = [], 0
    for part in parts:
        length = (part.new_ns if is_new else part.base_ns) or 0
        pieces.append(_piece(part.name, at, length, longest))
        at += length
    return tuple(piece for piece in pieces if piece.width)


def _single(part: Part, longest: int) -> list[tuple[Piece, ...]]:
    return [(_piece(part.name, 0, ns or 0, longest),) for ns in (part.base_ns, part.new_ns)]


def _piece(name: str, at_ns: int, length_ns: int, longest: int) -> Piece:
    x, end = (round(WIDTH * ns / longest, 1) for ns in (at_ns, at_ns + length_ns))
    return Piece(*_STYLES[name], x, round(end - x, 1))


def _described(part: Part) -> str:
    return f"{PART_NAMES[part.name]}: {span(part.base_ns or 0)} and {span(part.new_ns or 0)}."


@dataclass(frozen=True, slots=True)
class Change:
    """What a cause adds: a bar from the sum of those before it to the sum with it."""

    name: str
    says: str
    change: str
    share: str
    style: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class ChangeBars:
    """The causes one after the other, and their sum; ``zero`` is where nothing has changed."""

    changes: tuple[Change, ...]
    width: int
    zero: float
    note: str


def change_bars(found: Comparison) -> ChangeBars | None:
    """Null where the change is not explained, or there is none."""
    causes = [cause for cause in found.causes or () if cause.change_ns]
    if not causes or found.step_time is None:
        return None
    shown, rest = causes[:_MOST_CAUSES], causes[_MOST_CAUSES:]
    sums = _sums([cause.change_ns for cause in causes])
    low, high = min(sums), max(sums)
    draw = _Scale(low, high)
    bars = [_change(cause, sums[at], draw) for at, cause in enumerate(shown)]
    total = found.step_time.change_ns
    share = "100 %" if total else ""
    bars.append(_bar("sum: the step", "", (0, total), share, draw))
    note = f"{len(rest)} smaller causes are in the table." if rest else ""
    return ChangeBars(tuple(bars), WIDTH, draw.x(0), note)


def _sums(changes: Sequence[int]) -> list[int]:
    """What the change has come to before each cause, and after all."""
    sums = [0]
    for change in changes:
        sums.append(sums[-1] + change)
    return sums


class _Scale:
    """From changes of the step to the width of the picture."""

    def __init__(self, low: int, high: int) -> None:
        self._low, self._length = low, max(high - low, 1)

    def x(self, at_ns: int) -> float:
        return round(WIDTH * (at_ns - self._low) / self._length, 1)


def _change(cause: Cause, before: int, draw: _Scale) -> Change:
    stretch = (before, before + cause.change_ns)
    says = shortened(cause.says, _MOST_SAYS)
    name = cause_name(cause.name, cause.rank)
    return _bar(name, says, stretch, whole_percent(cause.share), draw)


def _bar(name: str, says: str, stretch: tuple[int, int], share: str, draw: _Scale) -> Change:
    start, end = stretch
    x, other = sorted((draw.x(start), draw.x(end)))
    style = "grew" if end > start else "shrank"
    width = max(round(other - x, 1), 1.0)
    return Change(name, says, signed(end - start), share, style, x, width)
