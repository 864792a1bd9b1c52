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
from commscope.normalize.stretches import ANY, Effort

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
#: The number of an operation that the library was not asked for.
_UNKNOWN = -2


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


def fit(
    shown: Shown, candidates: list[Units], effort: Effort, *, one_to_one: bool
) -> tuple[Units, Fit] | None:
    """What the kernels are, if they are a stretch of one of the candidates.

    Each stream of the log is on one of the trace; with ``one_to_one`` they are the same. Kernels of
    one kind of call have as many work-groups, as the library chooses those by its size; and where
    a call runs in one, so does one of the same operation that is very much smaller. Nothing fits
    where to tell takes more than the effort.
    """
    found = [
        (units, places)
        for units in candidates
        if len(places := _places(shown, units, effort, one_to_one=one_to_one))
    ]
    if not found:
        return None
    first, (start, *_) = found[0]
    unit = start + np.arange(len(shown))
    agreed = {name: _agree(getattr(first, name)[unit], found, name) for name in _FACTS}
    return first, Fit(unit, agreed, len(found) == len(found[0][1]) == 1)


def _agree(values: Int64, found: list[tuple[Units, Int64]], name: str) -> Bool:
    """Which kernels have these values in all stretches."""
    agreed, kernels = np.ones(len(values), np.bool_), np.arange(len(values))
    for units, places in found:
        column = getattr(units, name)
        for block in _blocks(places, len(values)):
            agreed &= (column[block[:, None] + kernels] == values).all(0)
            if not agreed.any():
                return agreed
    return agreed


def _blocks(places: Int64, width: int) -> list[Int64]:
    """The places, as many at a time as may be held if each takes so many numbers."""
    return np.array_split(places, 1 + len(places) * width // _BLOCK)


def _places(shown: Shown, units: Units, effort: Effort, *, one_to_one: bool) -> Int64:
    """Where in the calls the stretch begins that the kernels are."""
    count = len(shown)
    if not 0 < count <= len(units):
        return _NOWHERE
    places = _of_ops(shown, units, effort)
    places = _of_values(places, shown.bytes, units.bytes, effort)
    places = _of_values(places, shown.group_size, units.nranks, effort)
    for few in sorted({min(first, count) for first in (*_FIRST, count)}):
        rules = _rules(shown, units, few, one_to_one=one_to_one)
        if len(places) * few > _MOST_WORK or not effort.allows(len(places) * few * len(rules)):
            return _NOWHERE
        for rule in rules:
            places = _surviving(places, rule)
    return places


def _surviving(places: Int64, rule: _Rule) -> Int64:
    """The places at which a rule holds."""
    return np.concatenate([block[rule.hold(block)] for block in _blocks(places, rule.width)])


def _of_ops(shown: Shown, units: Units, effort: Effort) -> Int64:
    """The places where the operations are those of the kernels, and all calls are sure."""
    known = units.number_of_op
    told = [ANY if op is None else known.get(_CALLED.get(op, op), _UNKNOWN) for op in shown.op]
    if _UNKNOWN in told:
        return _NOWHERE
    if any(number != ANY for number in told):
        places = units.stretches.places(np.array(told, np.int64), effort)
    else:
        places = np.arange(len(units) - len(shown) + 1)
    unsure = units.unsure_before
    return np.asarray(places[unsure[places + len(shown)] == unsure[places]])


def _of_values(places: Int64, shown: Int64, logged: Int64, effort: Effort) -> Int64:
    """The places at which all values that are shown are logged."""
    for kernel in np.flatnonzero(shown != NONE).tolist():
        if not len(places) or not effort.allows(len(places)):
            return _NOWHERE
        places = places[logged[places + kernel] == shown[kernel]]
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
            rules.append(_Depends(kernels, values[kernels], logged))
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
        return 4 * len(self.kernels)

    def hold(self, places: Int64) -> Bool:
        logged = self.logged[places[:, None] + self.kernels]
        shown = np.broadcast_to(self.shown, logged.shape)
        key, value = (shown, logged) if self.turned else (logged, shown)
        order, goes_on = _by_key(key)
        value = np.take_along_axis(value, order, 1)
        return np.asarray((~goes_on[:, 1:] | (value[:, 1:] == value[:, :-1])).all(1))


class _Grows:
    """No call in one work-group is much larger than one of its operation that takes several."""

    def __init__(self, kernels: Int64, in_one: Bool, units: Units) -> None:
        is_message = np.array([word in MESSAGES for word in units.words])[units.op]
        self._kernels, self._in_one = kernels, in_one
        self._bytes = np.where(is_message, NONE, units.bytes)
        self._key = units.operation

    @property
    def width(self) -> int:
        return 6 * len(self._kernels)

    def hold(self, places: Int64) -> Bool:
        rows = places[:, None] + self._kernels
        order, goes_on = _by_key(self._key[rows])
        size, in_one = np.take_along_axis(self._bytes[rows], order, 1), self._in_one[order]
        begins = np.flatnonzero(~goes_on)
        in_ones = np.where(in_one & (size != NONE), size, 0).ravel()
        in_several = np.where(~in_one & (size != NONE), size, _HUGE).ravel()
        largest = np.maximum.reduceat(in_ones, begins) if len(begins) else begins
        least = np.minimum.reduceat(in_several, begins) if len(begins) else begins
        result = np.ones(len(places), np.bool_)
        result[begins[largest // _MUCH >= least] // len(self._kernels)] = False
        return result


def _by_key(key: Int64) -> tuple[Int64, Bool]:
    """How each row is sorted by key, and then which entries have the key of the one before."""
    order = np.argsort(key, axis=1, kind="stable")
    ordered = np.take_along_axis(key, order, 1)
    goes_on = np.zeros(key.shape, np.bool_)
    goes_on[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    return order, goes_on
