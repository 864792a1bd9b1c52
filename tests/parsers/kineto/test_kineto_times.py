"""Times: the text of a number to whole nanoseconds, never through a float."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commscope.columns import NONE
from commscope.parsers.kineto.times import to_ns

EXACT = Context(prec=400)
LIMIT = 2**63 - 1


def expected(text: str) -> int:
    """Decimal arithmetic with far more digits than needed."""
    ns = EXACT.multiply(Decimal(text), Decimal(1000))
    whole = int(ns.quantize(Decimal(1), ROUND_HALF_EVEN, EXACT))
    return whole if abs(whole) <= LIMIT else NONE


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        (b"0", 0),
        (b"5", 5_000),
        (b"1234567.891", 1_234_567_891),
        (b"1234567.8", 1_234_567_800),
        (b"1669783687464181", 1_669_783_687_464_181_000),
        (b"1700000000000000.123", 1_700_000_000_000_000_123),
        (b'"1700000000000000.123"', 1_700_000_000_000_000_123),
        (b"9223372036854775.807", LIMIT),
        (b"9223372036854775.808", NONE),
        (b"9007199254740993", 9_007_199_254_740_993_000),
        (b"1.5e3", 1_500_000),
        (b"1E-3", 1),
        (b"0.0005", 0),
        (b"0.0015", 2),
        (b"0.00049999", 0),
        (b"-2.5", -2_500),
        (b"123456789012345678901234567890", NONE),
        (b"1e400", NONE),
        (b"1e-400", 0),
        (b"0e99999", 0),
        (b"", NONE),
        (b'""', NONE),
        (b"null", NONE),
        (b'"nan"', NONE),
        (b'"inf"', NONE),
        (b"true", NONE),
        (b"[1]", NONE),
        (b'"\xff"', NONE),
    ],
)
def test_one_number(text: bytes, ns: int) -> None:
    assert to_ns([text]).tolist() == [ns]


def test_one_odd_number_leaves_the_others_exact() -> None:
    texts = [b"1700000000000000.123", b"", b"1e3", b"7"]

    assert to_ns(texts).tolist() == [1_700_000_000_000_000_123, NONE, 1_000_000, 7_000]


def test_nothing() -> None:
    assert to_ns([]).dtype == np.int64
    assert len(to_ns([])) == 0


plain = st.builds(
    lambda whole, places: f"{whole}.{places}" if places else str(whole),
    st.integers(0, 10**17),
    st.text("0123456789", max_size=4),
)
signed = st.builds(
    lambda number, exponent: f"{number}{exponent}",
    st.decimals(-(10**17), 10**17, places=5).map(lambda d: format(d, "f")),
    st.sampled_from(["", "e0", "E+2", "e-3"]),
)
spelled = st.one_of(plain, signed, plain.map(lambda text: text.zfill(len(text) + 2)))


@given(st.lists(spelled, max_size=20), st.booleans())
def test_equals_decimal_arithmetic(texts: list[str], quoted: bool) -> None:
    written = [f'"{text}"' if quoted else text for text in texts]

    assert to_ns([text.encode() for text in written]).tolist() == list(map(expected, texts))


@given(st.lists(plain, min_size=1, max_size=50))
def test_plain_numbers_equal_decimal_arithmetic(texts: list[str]) -> None:
    assert to_ns([text.encode() for text in texts]).tolist() == list(map(expected, texts))
