"""Cuts a document of rocprofv3 into the lists that counters need, in bounded memory.

Keys cannot be taken for text in a name, for in that a quote is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from commscope.errors import CorruptTrace

PROCESS, AGENTS, COUNTERS = "metadata", "agents", "counters"
SYMBOLS, VALUES = "kernel_symbols", "counter_collection"
_LISTS = (AGENTS, COUNTERS, SYMBOLS, VALUES)
_KEY = re.compile(
    rb'"(metadata|agents|counters|strings|code_objects|kernel_symbols|host_functions|summary|'
    rb'callback_records|counter_collection|spm_counter_collection|buffer_records)"\s*:\s*([\[{])'
)
#: Between two dispatches: older versions begin each with its data, newer ones with its thread.
BETWEEN = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:thread_id|dispatch_data)"\s*:)')
#: Longer than a key, or a place between two dispatches, with what follows up to its bracket.
_MARGIN = 4096
#: What is held at once: of a section, or of one dispatch.
MOST_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of a section without its first bracket; of the list of values some whole ones."""

    section: str
    text: bytes
    ends: bool  #: the section ends with it


def pieces_of(blocks: Iterable[bytes], label: str) -> Iterator[Piece]:
    """The pieces of a document in order; one of ``PROCESS`` begins each process.

    Raises CorruptTrace where a section, or one dispatch, is longer than any profiler writes.
    """
    text, section = bytearray(), ""
    for block in blocks:
        begin, searched = 0, max(len(text) - _MARGIN, 0)
        text += block
        while key := _KEY.search(text, searched):
            if section:
                end = _end_of(section, text, begin, key.start())
                yield Piece(section, bytes(text[begin:end]), ends=True)
            section = _entered(key[1].decode(), is_list=key[2] == b"[")
            begin = searched = key.end()
        if section == VALUES:
            end, following = _last_between(text, searched, begin)
            yield Piece(VALUES, bytes(text[begin:end]), ends=False)
            begin = following
        elif not section:
            begin = max(len(text) - _MARGIN, begin)
        del text[:begin]
        if len(text) > MOST_BYTES:
            what = f"more than {MOST_BYTES >> 20} MiB of {section} in one piece"
            raise CorruptTrace(f"{label}: {what}, which no profiler writes; record again")
    if section:
        yield Piece(section, bytes(text), ends=False)


def _entered(name: str, *, is_list: bool) -> str:
    """The section that a key begins; empty for one that is not needed."""
    wanted = name in _LISTS if is_list else name == PROCESS
    return name if wanted else ""


def _end_of(section: str, text: bytearray, begin: int, next_key: int) -> int:
    """Where the last bracket is of a section that the next key ends; at the key without one."""
    end = text.rfind(b"}" if section == PROCESS else b"]", begin, next_key)
    return next_key if end < 0 else end


def _last_between(text: bytearray, searched: int, begin: int) -> tuple[int, int]:
    """Where the last whole dispatch ends, and the next one begins: ``begin`` where none does."""
    *_, last = None, *BETWEEN.finditer(text, searched)
    return (begin, begin) if last is None else (last.start() + 1, last.end())
