"""Which calls of a log the kernels of a trace can be, if their order is all that is known.

The kernels are a stretch of what was called, without a hole. Of all stretches that fit, only what
they agree on is known of a kernel: training repeats itself, so that often many do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from commscope.columns import NONE, Bool, Int64
from commscope.normalize.logged_units import MESSAGES, Units
from commscope.normalize.stretches import ANY, whole_stretches

_NOWHERE = np.empty(0, np.int64)
#: Comparisons of a kernel with a call that may be made; there are more where nothing tells.
_MOST_WORK = 30_000_000
#: How much larger that is: the library may change its protocol on the way, and so the work-groups.
_MUCH = 64
_HUGE = int(np.iinfo(np.int64).max)
#: Numbers that are held at once.
_BLOCK = 1 << 20
#: As many kernels are compared first.
_FIRST = (32, 256)
#: An operation that torch names, as the library is asked for it.
_CALLED = {"barrier": "all_reduce"}


@dataclass(frozen=True, slots=True)
class Shown:
    """Kernels of one process in order; what is not known is null, ``NONE`` or -1.

    ``group`` is a number for what metadata calls their communicator, ``lane`` for their stream.
    """

    op: tuple[str | None, ...]
    bytes: Int64
    group: Int64
    group_size: Int64
    workgroups: Int64
    lane: Int64

    def __len__(self) -> int:
        return len(self.op)


@dataclass(frozen=True, slots=True)
class Fit:
    """Calls that kernels are: ``unit`` is one of them, of those that are equally possible."""

    unit: Int64
    agreed: dict[str, Bool]  #: by name of a column of Units: which kernels have that for sure
    is_only: bool  #: one stretch fits


_FACTS = ("op", "bytes", "dtype", "comm", "peer")


def fit(shown: Shown, candidates: list[Units], *, one_to_one: bool) -> tuple[Units, Fit] | None:
    """What the kernels are, if they are a stretch of one of the candidates.

    Each stream of the log is on one of the trace; with ``one_to_one`` they are the same. Kernels of
    one kind of call have as many work-groups, as the library chooses those by its size; and where
    a call runs in one, so does one of the same operation that is very much smaller.
    """
    found = [
        (units, places)
        for units in candidates
        if len(places := _places(shown, units, one_to_one=one_to_one))
    ]
    if not found:
        return None
    first, (start, *_) = found[0]
    unit = start + np.arange(len(shown))
    agreed = {name: _agree(getattr(first, name)[unit], found, name) for name in _FACTS}
    return first, Fit(unit, agreed, len(found) == len(found[0][1]) == 1)


def _agree(values: Int64, found: list[tuple[Units, Int64]], name: str) -> Bool:
    """Which kernels have these values in all stretches."""
    agreed = np.ones(len(values), np.bool_)
    for units, places in found:
        column = getattr(units, name)
        for place in places.tolist():
            agreed &= column[place : place + len(values)] == values
            if not agreed.any():
                return agreed
    return agreed


def _places(shown: Shown, units: Units, *, one_to_one: bool) -> Int64:
    """Where in the calls the stretch begins that the kernels are."""
    count = len(shown)
    if not 0 < count <= len(units):
        return _NOWHERE
    places = _of_ops(shown, units)
    places = _of_values(places, shown.bytes, units.bytes)
    places = _of_values(places, shown.group_size, units.nranks)
    for few in sorted({min(first, count) for first in (*_FIRST, count)}):
        if len(places) * few > _MOST_WORK:
            return _NOWHERE
        for rule in _rules(shown, units, few, one_to_one=one_to_one):
            places = _surviving(places, rule)
    return places


def _surviving(places: Int64, rule: _Rule) -> Int64:
    """The places at which a rule holds, looked at some at a time."""
    blocks = np.array_split(places, 1 + len(places) * rule.width // _BLOCK)
    return np.concatenate([block[rule.hold(block)] for block in blocks])


def _of_ops(shown: Shown, units: Units) -> Int64:
    """The places where the operations are those of the kernels, and all calls are sure."""
    numbers = dict.fromkeys(MESSAGES, 0)
    for word in (*units.words, *filter(None, shown.op)):
        numbers.setdefault(_CALLED.get(word, word), len(numbers))
    told = [ANY if op is None else numbers[_CALLED.get(op, op)] for op in shown.op]
    of_word = np.array([numbers[_CALLED.get(word, word)] for word in units.words], np.int64)
    if any(number != ANY for number in told):
        places = whole_stretches(np.array(told, np.int64), of_word[units.op])
    else:
        places = np.arange(len(units) - len(shown) + 1)
    unsure = np.concatenate(([0], np.cumsum(~units.sure)))
    return np.asarray(places[unsure[places + len(shown)] == unsure[places]])


def _of_values(places: Int64, shown: Int64, logged: Int64) -> Int64:
    """The places at which all values that are shown are logged."""
    for kernel in np.flatnonzero(shown != NONE).tolist():
        places = places[logged[places + kernel] == shown[kernel]]
        if not len(places):
            break
    return places


class _Rule(Protocol):
    @property
    def width(self) -> int:
        """Numbers that are held for one place."""

    def hold(self, places: Int64) -> Bool:
        """Whether it holds, if the stretch begins at each of these places."""


def _rules(shown: Shown, units: Units, count: int, *, one_to_one: bool) -> list[_Rule]:
    """The rules for the first kernels that not all of the places keep."""
    pairs = (
        *((shown.lane, units.stream), (shown.workgroups, units.kind)),
        (shown.group, units.comm),
    )
    rules: list[_Rule] = []
    for values, logged in pairs:
        kernels = np.flatnonzero(values[:count] != NONE)
        if _differ(values[kernels]):
            rules.append(_Depends(kernels, values[kernels], logged + 1))
    if one_to_one and _differ(units.stream):
        rules.append(_Depends(np.arange(count), shown.lane[:count], units.stream, turned=True))
    kernels = np.flatnonzero(shown.workgroups[:count] != NONE)
    in_one = shown.workgroups[kernels] == 1
    return [*rules, _Grows(kernels, in_one, units)] if _differ(in_one) else rules


def _differ(values: Int64 | Bool) -> bool:
    return bool((values[1:] != values[:1]).any())


@dataclass(frozen=True, slots=True)
class _Depends:
    """Something of some kernels depends on something of their calls."""

    kernels: Int64
    shown: Int64
    logged: Int64
    turned: bool = False  #: what is logged depends on what is shown

    @property
    def width(self) -> int:
        keys = self.shown if self.turned else self.logged
        return int(keys.max(initial=0)) + 1 + len(self.kernels)

    def hold(self, places: Int64) -> Bool:
        key = self.logged[places[:, None] + self.kernels]
        value = np.broadcast_to(self.shown, key.shape)
        if self.turned:
            key, value = value, key
        table = np.zeros((len(places), self.width), np.int64)
        np.put_along_axis(table, key, value, 1)  # of equal keys the last one stays
        return np.asarray((np.take_along_axis(table, key, 1) == value).all(1))


class _Grows:
    """No call in one work-group is much larger than one of its operation that takes several."""

    def __init__(self, kernels: Int64, in_one: Bool, units: Units) -> None:
        is_message = np.array([word in MESSAGES for word in units.words])[units.op]
        self._kernels, self._in_one = kernels, in_one
        self._bytes = np.where(is_message, NONE, units.bytes)
        keys = np.unique(units.comm * len(units.words) + units.op, return_inverse=True)[1]
        self._key = keys.reshape(-1)
        self._keys = range(int(self._key.max(initial=-1)) + 1)

    @property
    def width(self) -> int:
        return 2 * len(self._kernels)

    def hold(self, places: Int64) -> Bool:
        rows = places[:, None] + self._kernels
        size, key = self._bytes[rows], self._key[rows]
        result = np.ones(len(places), np.bool_)
        for one in self._keys:
            known = (key == one) & (size != NONE)
            largest = np.where(known & self._in_one, size, 0).max(1, initial=0)
            least = np.where(known & ~self._in_one, size, _HUGE).min(1, initial=_HUGE)
            result &= largest // _MUCH < least
        return result
