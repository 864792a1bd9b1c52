"""Pickles of plain data are read exactly; all others end in one clear error, and run nothing."""

from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest
from flight_dumps import dump, entry
from hypothesis import given
from hypothesis import strategies as st

from commscope.errors import CorruptTrace, FormatError
from commscope.parsers.flight_recorder import plain_pickle
from commscope.parsers.flight_recorder.plain_pickle import load_plain

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**100), 2**100)
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=300)
)
_KEYS = st.text(max_size=5) | st.integers(-5, 5)
_PLAIN = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(_KEYS, inner, max_size=5)
        | st.lists(inner, max_size=4).map(tuple)
    ),
    max_leaves=20,
)
_DUMP = pickle.dumps(dump(0, [entry(1), entry(2)]), 2)


@given(_PLAIN, st.integers(2, 5))
def test_plain_data_is_read_as_python_reads_it(value: Any, protocol: int) -> None:
    assert load_plain(pickle.dumps(value, protocol), "d") == value


def test_what_is_shared_and_what_holds_itself_stays_so() -> None:
    shared: list[Any] = [1]
    ring: list[Any] = [shared, shared]
    ring.append(ring)
    found = load_plain(pickle.dumps(ring), "d")
    assert found[0] is found[1]
    assert found[2] is found


class Hostile:
    """Runs a command when it is unpickled in the usual way."""

    def __init__(self, *what: Any) -> None:
        self.what = what

    def __reduce__(self) -> Any:
        return self.what


@pytest.mark.parametrize("protocol", range(2, 6))
def test_nothing_is_run(protocol: int, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    data = pickle.dumps({"entries": [Hostile(os.system, (f"touch {trap}",))]}, protocol)
    with pytest.raises(FormatError, match=r"^d: the pickle wants to import a name .* refused$"):
        load_plain(data, "d")
    assert not trap.exists()


_CODES = {
    "global": b"cos\nsystem\n", "stack_global": b"\x93", "reduce": b")R", "inst": b"(ios\nsystem\n",
    "obj": b"(o", "newobj": b"))\x81", "newobj_ex": b")))\x92", "build": b")}b",
    "persid": b"Px\n", "binpersid": b"NQ", "ext1": b"\x82\x01", "ext2": b"\x83\x01\x00",
    "ext4": b"\x84\x01\x00\x00\x00", "next_buffer": b"\x97", "readonly_buffer": b"\x98",
    "dup": b"N2", "bytearray": b"\x96" + bytes(8), "bytes": b"C\x01x", "set": b"\x8f",
    "frozenset": b"(\x91", "unknown": b"\xff",
}  # fmt: skip


@pytest.mark.parametrize("code", _CODES.values(), ids=_CODES)
def test_instructions_beyond_plain_data_are_refused(code: bytes) -> None:
    with pytest.raises(FormatError, match=r"^d: "):
        load_plain(b"\x80\x02" + code + b".", "d")


_BAD = {
    "text_of_4_GiB": b"X\xff\xff\xff\xffabc",
    "text_of_2_to_63": b"\x8d" + struct.pack("<Q", 2**63) + b"abc",
    "number_of_255_bytes": b"\x8a\xff" + b"\x01" * 255,
    "number_of_2_GiB": b"\x8b\xff\xff\xff\x7fabc",
    "number_of_many_digits": b"L" + b"9" * 100_000 + b"L\n",
    "far_memo": b"j\xff\xff\xff\x7f",
    "nothing_to_keep": b"q\x00",
    "append_to_number": b"K\x01K\x02a",
    "items_to_list": b"](K\x01K\x02u",
    "half_a_pair": b"}(K\x01u",
    "key_that_is_a_list": b"}]Ns",
    "key_that_is_a_tuple": b"})Ns",
    "pop_below_mark": b"N(0",
    "no_mark": b"t",
    "two_values": b"NN",
    "no_value": b"",
    "bad_utf8": b"X\x01\x00\x00\x00\xff",
    "no_number": b"Iabc\n",
}


@pytest.mark.parametrize("code", _BAD.values(), ids=_BAD)
def test_nonsense_is_damaged(code: bytes) -> None:
    with pytest.raises(FormatError, match=r"^d: (?:damaged pickle|the pickle is cut)"):
        load_plain(b"\x80\x02" + code + b".", "d")


def test_a_large_number_of_the_memo_takes_no_room() -> None:
    assert load_plain(b"\x80\x02Nr\xff\xff\xff\x7fj\xff\xff\xff\x7f\x86.", "d") == (None, None)


def test_a_memo_that_doubles_is_read_without_growing() -> None:
    levels = b"".join(b"q%c0h%ch%c\x86" % (n, n, n) for n in range(250))
    found = load_plain(b"\x80\x02)" + levels + b".", "d")
    for _ in range(250):
        _, found = found
    assert found == ()


def test_deep_nesting_needs_no_stack() -> None:
    depth = 200_000
    found = load_plain(b"\x80\x02" + b"]" * depth + b"a" * (depth - 1) + b".", "d")
    assert len(found) == 1


def test_cut_anywhere_is_one_clear_error() -> None:
    for end in range(len(_DUMP)):
        with pytest.raises(CorruptTrace, match=r"^d: the pickle is cut after"):
            load_plain(_DUMP[:end], "d")


@given(st.integers(2, len(_DUMP) - 1), st.integers(0, 255))
def test_a_changed_byte_gives_a_value_or_one_clear_error(place: int, byte: int) -> None:
    data = bytearray(_DUMP)
    data[place] = byte
    try:
        load_plain(bytes(data), "d")
    except FormatError as error:
        assert str(error).startswith("d: ")  # noqa: PT017 - both outcomes are right


@given(st.binary(max_size=200))
def test_any_bytes_give_a_value_or_one_clear_error(data: bytes) -> None:
    try:
        load_plain(b"\x80\x04" + data, "d")
    except FormatError as error:
        assert str(error).startswith("d: ")  # noqa: PT017 - both outcomes are right


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_pickle, "_MOST_STEPS", 100)
    with pytest.raises(FormatError, match="more steps than any dump takes"):
        load_plain(b"\x80\x02" + b"N0" * 100 + b"N.", "d")
    monkeypatch.setattr(plain_pickle, "MOST_BYTES", 10)
    with pytest.raises(FormatError, match="more than 0 MiB"):
        load_plain(_DUMP, "d")
