"""Sections of rocprofv3's documents: the same however they come, and never many at once."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

import pytest

from commscope.errors import CorruptTrace
from commscope.parsers import rocprof_sections as sections
from commscope.parsers.rocprof_sections import AGENTS, COUNTERS, PROCESS, SYMBOLS, VALUES, pieces_of

_RECORD = b'{"thread_id": 1, "dispatch_data": {"id": 7}}'
_TEXT = (
    b'{"rocprofiler-sdk-tool": [{"metadata": {"pid": 7}, "agents": [{"id": 1}], "counters": [2], '
    b'"strings": {"x": []}, "code_objects": [3], "kernel_symbols": [{"a": [4]}], '
    b'"callback_records": {"counter_collection": [' + b", ".join([_RECORD] * 40) + b"], "
    b'"spm_counter_collection": []}, "buffer_records": {}}]}'
)


def _joined(size: int, text: bytes = _TEXT) -> dict[str, bytes]:
    """The text of each section; values without what stands between two of them."""
    found: defaultdict[str, list[bytes]] = defaultdict(list)
    for piece in pieces_of((text[at : at + size] for at in range(0, len(text), size)), "a.json"):
        found[piece.section].append(piece.text)
    return {name: b"".join(parts).strip() for name, parts in found.items()}


@pytest.mark.parametrize("size", [1, 7, 50, 333, 100_000])
def test_pieces_are_the_same_whatever_the_blocks_are(size: int) -> None:
    found = _joined(size)
    values = found.pop(VALUES).replace(b" ", b"").replace(b"},{", b"}{")
    assert values == (_RECORD * 40).replace(b" ", b"")
    assert found == {
        PROCESS: b'"pid": 7', AGENTS: b'{"id": 1}', COUNTERS: b"2", SYMBOLS: b'{"a": [4]}',
    }  # fmt: skip


class _Counting:
    """A pattern that counts the bytes it is asked to look at."""

    def __init__(self, pattern: re.Pattern[bytes], looked: Counter[str]) -> None:
        self._pattern, self._looked = pattern, looked

    def search(self, text: bytearray, at: int) -> Any:
        self._looked["bytes"] += len(text) - at
        return self._pattern.search(text, at)

    def finditer(self, text: bytearray, at: int) -> Any:
        self._looked["bytes"] += len(text) - at
        return self._pattern.finditer(text, at)


@pytest.mark.parametrize("name", ["kernel_symbols", "counter_collection"])
def test_of_a_long_section_no_part_is_searched_for_every_block(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = Counter[str]()
    for pattern in ("_KEY", "BETWEEN"):
        monkeypatch.setattr(sections, pattern, _Counting(getattr(sections, pattern), looked))
    monkeypatch.setattr(sections, "_MARGIN", 100)
    text = f'"{name}": [{"1, " * 20_000}'.encode()
    assert len(_joined(1000, text)[name]) > 59_000
    assert len(text) <= looked["bytes"] < 3 * len(text)


@pytest.mark.parametrize("name", ["agents", "counter_collection"])
def test_what_is_longer_than_any_profiler_writes_is_an_error(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f'"{name}": [{"1, " * 2_000_000}'.encode()
    assert len(_joined(1 << 16, text)[name]) > 5_000_000
    monkeypatch.setattr(sections, "MOST_BYTES", 1 << 20)
    with pytest.raises(CorruptTrace, match=rf"^a.json: more than 1 MiB of {name} in one piece"):
        _joined(1 << 16, text)
