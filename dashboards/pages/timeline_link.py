"""What an address asks the timeline to show, checked against the run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from commscope.dashboards.data import RunView
from commscope.dashboards.data.categories import CATEGORIES
from commscope.dashboards.data.layout import LaneOfLayout
from commscope.dashboards.urlstate import UrlState
from commscope.errors import UsageError
from commscope.sanitize import shortened
from commscope.units import span

_RANGE = re.compile(r"(-?\d{1,16})-(-?\d{1,16})")
_PLACE = re.compile(r"(\d{1,9})\.([a-z]+|\d{1,9})\.(-?\d{1,16})(?:-(-?\d{1,16}))?")
_MOST_MARKS = 50
_MOST_QUERY = 200
_Key = TypeVar("_Key", int, str)
_NO_GROUPS = "none"
_CATEGORIES = {category.name: category.id for category in CATEGORIES}


@dataclass(frozen=True, slots=True)
class Range:
    """From when to when, in ns since the origin, on the common clock."""

    t0: int
    t1: int


@dataclass(frozen=True, slots=True)
class Shown:
    """How lanes are shown; ``by`` is null where the address does not say, else a kind of group."""

    ranks: tuple[int, ...] = ()
    expanded: tuple[int, ...] = ()  #: lanes whose streams or threads are shown
    pinned: tuple[int, ...] = ()
    collapsed: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()  #: categories
    by: str | None = None
    open: tuple[str, ...] = ()  #: groups of which all ranks are shown

    def to_dict(self) -> dict[str, Any]:
        """What of it the address says, as the timeline has it."""
        said = {name: list(of) for name in self.__slots__ if (of := getattr(self, name))}
        said.pop("by", None)
        return said if self.by is None else {**said, "by": self.by}


@dataclass(frozen=True, slots=True)
class Clicked:
    """What was clicked: an event by its lane and its number there, or a time without one."""

    lane: int
    event: int | None
    rank: int
    kind: str
    row: int
    t0: int
    t1: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for; null and nothing where the address does not say."""

    viewport: Range | None = None
    selection: Range | None = None
    selected: tuple[int, ...] = ()  #: the ranks of the selection; all that are shown, if none
    shown: Shown = Shown()
    query: str = ""
    instance: int | None = None
    clicked: Clicked | None = None
    finding: str | None = None
    place: int = 0  #: of the finding
    marks: tuple[Range, ...] = ()
    notes: tuple[str, ...] = ()  #: what of the address is beyond the run, in sentences


def wanted(state: UrlState, view: RunView) -> Wanted:
    """What an address asks for; raises UsageError where the run has no such thing."""
    selected = state.ranks("selranks")
    _require("rank", selected, view.ranks)
    whole = Range(view.layout.t0, view.layout.t1)
    viewport, beyond_view = _seen(_viewport(state), whole, "times")
    selection, beyond_selection = _seen(_selection(state), whole, "a selection")
    return Wanted(
        viewport,
        None if selection is None else _cut(selection, whole),
        selected,
        _shown(state, view),
        shortened(state.values.get("q", ""), _MOST_QUERY),
        state.whole("inst"),
        _clicked(state, view),
        state.values.get("finding") or None,
        state.whole("place") or 0,
        _marks(state),
        (*beyond_view, *beyond_selection),
    )


def _seen(asked: Range | None, whole: Range, what: str) -> tuple[Range | None, list[str]]:
    """What is asked for, null where the run has nothing of it; and what is to be said of it.

    A link to the edge of a run shows some room beside it: that is worth no word.
    """
    if asked is None or (asked.t0 < whole.t1 and asked.t1 > whole.t0):
        return asked, []
    lasts = f"The run lasts from {span(whole.t0)} to {span(whole.t1)} and has nothing of that."
    told = f"The address asks for {what} from {span(asked.t0)} to {span(asked.t1)}."
    return None, [f"{told} {lasts}"]


def _cut(asked: Range, whole: Range) -> Range:
    return Range(max(asked.t0, whole.t0), min(asked.t1, whole.t1))


def _marks(state: UrlState) -> tuple[Range, ...]:
    texts = _words(state, "marks")
    if len(texts) > _MOST_MARKS:
        raise UsageError(f"the address has more than {_MOST_MARKS} marks")
    return tuple(range_of("marks", text) for text in texts)


def _shown(state: UrlState, view: RunView) -> Shown:
    ranks, lanes, pinned, folded = (state.ranks(of) for of in ("ranks", "lanes", "pin", "fold"))
    _require("rank", (*ranks, *pinned, *folded), view.ranks)
    _require("lane", lanes, range(1, len(view.lanes) + 1))
    hidden, groups = _words(state, "hide"), _words(state, "open")
    _require("kind of event", hidden, _CATEGORIES)
    _require("group", groups, [group.id for group in view.layout.groups])
    return Shown(
        ranks, lanes, pinned, folded, tuple(_CATEGORIES[name] for name in hidden),
        _by(state, view), groups,
    )  # fmt: skip


def _words(state: UrlState, name: str) -> tuple[str, ...]:
    return tuple(word for word in state.values.get(name, "").split(",") if word)


def _by(state: UrlState, view: RunView) -> str | None:
    by = state.values.get("by")
    if not by:
        return None
    _require("groups by", [by], {_NO_GROUPS, *(group.by for group in view.layout.groups)})
    return "" if by == _NO_GROUPS else by


def _clicked(state: UrlState, view: RunView) -> Clicked | None:
    """The event of ``at=RANK.LANE.START-END``, or the time of ``at=RANK.LANE.TIME``.

    The lane is its kind, or a number.
    """
    text = state.values.get("at")
    if not text:
        return None
    told = f"at={shortened(text, 60)} in the address"
    found = _PLACE.fullmatch(text)
    if found is None:
        raise UsageError(f"{told} is not a rank, a lane and times as 0.compute.5-9")
    rank, word, t0 = int(found[1]), found[2], int(found[3])
    lane = next((of for of in view.layout.lanes if of.rank == rank and word == _word(of)), None)
    if lane is None:
        raise UsageError(f"{told}: the run has no such lane")
    if found[4] is None:
        return Clicked(lane.id, None, rank, lane.kind, 0, t0, t0)
    near = view.between(lane.id, t0, int(found[4]))
    if near is None:
        raise UsageError(f"{told}: the run has no such event")
    return Clicked(lane.id, near.event, rank, lane.kind, near.row, near.t0, near.t1)


def _word(lane: LaneOfLayout) -> str:
    """What names a lane of a rank: its kind, where there is one of it only."""
    return str(lane.id) if lane.kind in ("stream", "thread") else lane.kind


def _viewport(state: UrlState) -> Range | None:
    t0, t1 = state.whole("t0"), state.whole("t1")
    if t0 is None and t1 is None:
        return None
    if t0 is None or t1 is None:
        raise UsageError("the address has one of t0 and t1: both are needed")
    return _range("t0 and t1", t0, t1)


def _selection(state: UrlState) -> Range | None:
    text = state.values.get("sel")
    return range_of("sel", text) if text else None


def range_of(name: str, text: str) -> Range:
    """The range of ``5-9``; ``name`` is what it is called in the address."""
    found = _RANGE.fullmatch(text)
    if found is None:
        raise UsageError(f"{name}={shortened(text, 40)} in the address is not two times as 5-9")
    return _range(name, int(found[1]), int(found[2]))


def _range(name: str, t0: int, t1: int) -> Range:
    if t0 >= t1:
        raise UsageError(f"{name} in the address: {t1} is not after {t0}")
    return Range(t0, t1)


def _require(what: str, asked: Iterable[_Key], there: Collection[_Key]) -> None:
    for each in asked:
        if each not in there:
            named = shortened(str(each), 40)
            raise UsageError(f"the address asks for {what} {named}, which this run has not")
