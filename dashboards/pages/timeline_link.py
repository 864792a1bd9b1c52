"""What an address asks the timeline to show, checked against the run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from commscope.dashboards.data import RunView
from commscope.dashboards.urlstate import UrlState
from commscope.errors import UsageError
from commscope.sanitize import shortened

_RANGE = re.compile(r"(-?\d{1,16})-(-?\d{1,16})")
_MOST_QUERY = 200


@dataclass(frozen=True, slots=True)
class Range:
    """From when to when, in ns since the origin, on the common clock."""

    t0: int
    t1: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for; null and nothing where the address does not say."""

    viewport: Range | None = None
    selection: Range | None = None
    ranks: tuple[int, ...] = ()
    lanes: tuple[int, ...] = ()  #: whose streams or threads are shown
    query: str = ""
    instance: int | None = None


def wanted(state: UrlState, view: RunView) -> Wanted:
    """What an address asks for; raises UsageError where the run has no such thing."""
    ranks, lanes = state.ranks("ranks"), state.ranks("lanes")
    _require("rank", ranks, view.ranks)
    _require("lane", lanes, range(1, len(view.lanes) + 1))
    return Wanted(
        _viewport(state),
        _selection(state),
        ranks,
        lanes,
        shortened(state.values.get("q", ""), _MOST_QUERY),
        state.whole("inst"),
    )


def _viewport(state: UrlState) -> Range | None:
    t0, t1 = state.whole("t0"), state.whole("t1")
    if t0 is None and t1 is None:
        return None
    if t0 is None or t1 is None:
        raise UsageError("the address has one of t0 and t1: both are needed")
    return _range("t0 and t1", t0, t1)


def _selection(state: UrlState) -> Range | None:
    text = state.values.get("sel")
    if not text:
        return None
    found = _RANGE.fullmatch(text)
    if found is None:
        raise UsageError(f"sel={shortened(text, 40)} in the address is not two times as 5-9")
    return _range("sel", int(found[1]), int(found[2]))


def _range(name: str, t0: int, t1: int) -> Range:
    if t0 >= t1:
        raise UsageError(f"{name} in the address: {t1} is not after {t0}")
    return Range(t0, t1)


def _require(what: str, asked: Iterable[int], there: Collection[int]) -> None:
    for number in asked:
        if number not in there:
            raise UsageError(f"the address asks for {what} {number}, which this run has not")
