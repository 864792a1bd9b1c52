"""Times of a trace: decimal microseconds as text, to whole nanoseconds without a float between.

A double holds 53 bits; the microseconds of a wall clock with three decimals need 61. Reading them
through a float moves them by up to 253 ns (seen in traces of PyTorch 2.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64

#: Longest run of digits that surely fits int64 once scaled to nanoseconds.
_DIGITS = 18
_PLAIN = b"0123456789.\n"
_SCALE = np.array([1000, 100, 10, 1], np.int64)
_LIMIT = 2**63 - 1
_EXACT = Context(prec=60)


def to_ns(texts: Sequence[bytes]) -> Int64:
    """Microseconds as JSON text (number or string) to int64 ns, ``NONE`` where there is no number.

    Digits below a nanosecond are rounded half to even.
    """
    joined = b"\n".join(texts)
    if texts and not joined.translate(None, _PLAIN):
        plain = _plain_to_ns(joined, len(texts))
        if plain is not None:
            return plain
    return np.array([_one_to_ns(bytes(text)) for text in texts], np.int64)


def _plain_to_ns(joined: bytes, count: int) -> Int64 | None:
    """The vectorised way, for digits with at most three decimals; else None."""
    text = np.frombuffer(joined + b"\n", np.uint8)
    ends = np.flatnonzero(text == 10)
    lengths = np.diff(ends, prepend=-1) - 1
    dots = np.flatnonzero(text == 46)
    rows = np.searchsorted(ends, dots)
    decimals = np.zeros(count, np.int64)
    decimals[rows] = ends[rows] - dots - 1
    digits = lengths - np.bincount(rows, minlength=count)
    if (
        len(np.unique(rows)) != len(rows)
        or digits.min() == 0
        or decimals.max() > 3
        or (digits + 3 - decimals).max() > _DIGITS
    ):
        return None
    return _integers(joined.translate(None, b".\n"), digits) * _SCALE[decimals]


def _integers(text: bytes, digits: Int64) -> Int64:
    """Numbers that stand in one text without a gap, each of so many digits."""
    offsets = np.concatenate(([0], np.cumsum(digits))).astype(np.int32)
    words = pa.StringArray.from_buffers(len(digits), pa.py_buffer(offsets), pa.py_buffer(text))
    return np.asarray(words.cast(pa.int64()).to_numpy(), np.int64)


def _one_to_ns(text: bytes) -> int:
    try:
        value = Decimal(text.strip(b'" ').decode("ascii"))
        if not value.is_finite() or abs(value.adjusted()) > _DIGITS + 1:
            return 0 if value == 0 else NONE
        ns = int((value * 1000).quantize(Decimal(1), ROUND_HALF_EVEN, _EXACT))
    except (InvalidOperation, UnicodeDecodeError, ValueError):
        return NONE
    return ns if abs(ns) <= _LIMIT else NONE
