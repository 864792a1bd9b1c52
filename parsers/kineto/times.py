"""Times of a trace: decimal microseconds as text, to whole nanoseconds without a float between.

A double holds 53 bits; the microseconds of a wall clock with three decimals need 61. Reading them
through a float moves them by up to 253 ns (seen in traces of PyTorch 2.4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from itertools import compress

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64

_PLAIN = b"0123456789.\n"
_SCALE = np.array([1000, 100, 10, 1], np.int64)
_LIMIT = 2**63 - 1
#: Beyond the wall clock of 2065 is damage: a base, a start and a length add up within 64 bits.
MAX_NS = 3 * 10**18
#: What the vectorised way surely takes.
_NUMBER = re.compile(rb"\d{1,15}(?:\.\d{1,3})?")
_NS = Decimal("0.001")
_EXACT = Context(prec=60)


def to_ns(texts: Sequence[bytes]) -> Int64:
    """Microseconds as JSON text (number or string) to int64 ns, ``NONE`` where there is no number.

    Digits below a nanosecond are rounded half to even.
    """
    all_plain = _plain_to_ns(texts)
    if all_plain is not None:
        return all_plain
    is_plain = [_NUMBER.fullmatch(text) is not None for text in texts]
    odd = (NONE if plain else _one_to_ns(bytes(text)) for text, plain in zip(texts, is_plain))
    ns = np.fromiter(odd, np.int64, len(texts))
    plain_ns = _plain_to_ns(list(compress(texts, is_plain)))
    if plain_ns is not None:
        ns[np.array(is_plain)] = plain_ns
    return ns


def _plain_to_ns(texts: Sequence[bytes]) -> Int64 | None:
    """The vectorised way, for digits with at most three decimals that fit; else None."""
    joined = b"\n".join(texts)
    if not texts or joined.translate(None, _PLAIN):
        return None
    text = np.frombuffer(joined + b"\n", np.uint8)
    ends = np.flatnonzero(text == 10)
    lengths = np.diff(ends, prepend=-1) - 1
    dots = np.flatnonzero(text == 46)
    rows = np.searchsorted(ends, dots)
    decimals = np.zeros(len(ends), np.int64)
    decimals[rows] = ends[rows] - dots - 1
    points = np.bincount(rows, minlength=len(ends))
    digits = lengths - points
    if points.max() > 1 or digits.min() == 0 or decimals.max() > 3:
        return None
    return _scaled(joined.translate(None, b".\n"), digits, _SCALE[decimals])


def _scaled(text: bytes, digits: Int64, scale: Int64) -> Int64 | None:
    """Numbers that stand in one text without a gap, each of so many digits, times their scale."""
    offsets = np.concatenate(([0], np.cumsum(digits))).astype(np.int32)
    words = pa.StringArray.from_buffers(len(digits), pa.py_buffer(offsets), pa.py_buffer(text))
    try:
        whole = np.asarray(words.cast(pa.int64()).to_numpy(), np.int64)
    except pa.ArrowInvalid:  # beyond 64 bits
        return None
    return whole * scale if (whole <= _LIMIT // scale).all() else None


def _one_to_ns(text: bytes) -> int:
    try:
        value = Decimal(text.strip(b'" ').decode("ascii"))
        ns = int(value.quantize(_NS, ROUND_HALF_EVEN, _EXACT).scaleb(3, _EXACT))
    except (InvalidOperation, UnicodeDecodeError, ValueError):
        return NONE
    return ns if abs(ns) <= _LIMIT else NONE
