"""Cuts a document of rocprofv3 into the lists that counters need, in bounded memory.

Keys cannot be taken for text in a name, for in that a quote is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PROCESS, AGENTS, COUNTERS = "metadata", "agents", "counters"
SYMBOLS, VALUES = "kernel_symbols", "counter_collection"
_LISTS = (AGENTS, COUNTERS, SYMBOLS, VALUES)
_KEY = re.compile(
    rb'"(metadata|agents|counters|strings|code_objects|kernel_symbols|host_functions|summary|'
    rb'callback_records|counter_collection|spm_counter_collection|buffer_records)"\s*:\s*([\[{])'
)
#: Between two dispatches: older versions begin each with its data, newer ones with its thread.
BETWEEN = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:thread_id|dispatch_data)"\s*:)')
#: Longer than a key with what follows up to its bracket.
_MARGIN = 4096


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of a section without its first bracket; of the list of values some whole ones."""

    section: str
    text: bytes
    ends: bool  #: the section ends with it


def pieces_of(blocks: Iterable[bytes]) -> Iterator[Piece]:
    """The pieces of a document in order; one of ``PROCESS`` begins each process."""
    text, section, searched = b"", "", 0
    for block in blocks:
        text += block
        while key := _KEY.search(text, searched):
            if section:
                yield Piece(section, _without_end(section, text[: key.start()]), ends=True)
            section = _entered(key[1].decode(), is_list=key[2] == b"[")
            text, searched = text[key.end() :], 0
        if section == VALUES:
            whole, text = _whole_values(text)
            yield Piece(VALUES, whole, ends=False)
        elif not section:
            text = text[-_MARGIN:]
        searched = max(len(text) - _MARGIN, 0)
    if section:
        yield Piece(section, text, ends=False)


def _entered(name: str, *, is_list: bool) -> str:
    """The section that a key begins; empty for one that is not needed."""
    wanted = name in _LISTS if is_list else name == PROCESS
    return name if wanted else ""


def _without_end(section: str, text: bytes) -> bytes:
    """The text up to the bracket that ends its section."""
    end = text.rfind(b"}" if section == PROCESS else b"]")
    return text if end < 0 else text[:end]


def _whole_values(text: bytes) -> tuple[bytes, bytes]:
    """The text up to the last place between two dispatches, and the rest."""
    *_, last = None, *BETWEEN.finditer(text)
    return (b"", text) if last is None else (text[: last.start() + 1], text[last.end() :])
