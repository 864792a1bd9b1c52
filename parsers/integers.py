"""Whole numbers as traces spell them, as int64 without loss."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

import numpy as np

from commscope.columns import NONE, Int64

#: What writers of traces put where a number or a word belongs.
Scalar = int | str | float | bool | None
#: Longer numbers are no dimensions of a grid.
_DIGITS = re.compile(rb"(?<!\d)\d{1,18}(?!\d)")
_ALL_ONES = 2**64 - 1
_TOP = 2**63
#: The largest rank, number of ranks or of a device that the tables hold.
MAX_RANK = 2**31 - 1


def integers(values: Sequence[Scalar]) -> Int64:
    """Whole numbers of any spelling as int64, ``NONE`` where there is none.

    Ids of 64 bits keep their bits (those from 2**63 on become negative); -1 and all ones are null.
    """
    types = set(map(type, values))
    if types == {type(None)}:
        return np.full(len(values), NONE, np.int64)
    if types <= {int, type(None)}:
        plain = values if types == {int} else [NONE if v is None else v for v in values]
        try:
            whole = np.fromiter(plain, np.int64, len(values))
        except OverflowError:
            pass
        else:
            return np.where(whole == -1, NONE, whole)
    known = {value: integer(value) for value in set(values)}
    return np.fromiter(map(known.__getitem__, values), np.int64, len(values))


def whole_number(value: object) -> int | None:
    """The value if it is a whole number, which true and false are not."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def products(lists: Sequence[bytes]) -> Int64:
    """The product of each list of numbers, as the file spells it; ``NONE`` where it is none."""
    texts = list(map(bytes, lists))
    known = {text: _product(text) for text in set(texts)}
    return np.fromiter(map(known.__getitem__, texts), np.int64, len(texts))


def _product(text: bytes) -> int:
    numbers = [int(n) for n in _DIGITS.findall(text)]
    whole = prod(numbers) if numbers else 0
    return whole if 0 < whole < _TOP else NONE


def ranks(values: Sequence[Scalar]) -> Int64:
    """Ranks and numbers like them, ``NONE`` where there is none from 0 to ``MAX_RANK``."""
    whole = integers(values)
    return np.where((whole >= 0) & (whole <= MAX_RANK), whole, NONE)


def devices(numbers: Int64) -> Int64:
    """Device numbers that fit the tables; others, and none, become each a negative one."""
    is_odd = (numbers < 0) | (numbers > MAX_RANK)
    fitting: Int64 = numbers.copy()
    fitting[is_odd] = -1 - np.unique(numbers[is_odd], return_inverse=True)[1].reshape(-1)
    return fitting


def integer(value: Scalar) -> int:
    """The whole number of one value, as ``integers`` has it."""
    if isinstance(value, str):
        value = _parsed(value)
    if value is None or value != value or value in (_ALL_ONES, -1):  # noqa: PLR0124
        return NONE
    if not -_TOP <= value < 2 * _TOP:
        return NONE
    whole = int(value)
    return whole - 2 * _TOP if whole >= _TOP else whole


def _parsed(text: str) -> int | float | None:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def first_known(values: Int64, instead: Int64) -> Int64:
    """The values, and where there is none those of the second column."""
    return np.where(values == NONE, instead, values)
