"""Reads files of records, one a line, into rows of RECORDS."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from commscope.parsers.inspector.documents import Document, Summary, named_by, row_of
from commscope.parsers.inspector.prometheus import Samples
from commscope.parsers.row_builder import RowBuilder

_SNIFF = re.compile(
    rb'"(?:coll|p2p)_perf"\s*:\s*\{|^nccl_(?:p2p_)?bus_bandwidth_gbs\{'
    rb"|^# (?:HELP|TYPE) nccl_bus_bandwidth_gbs ",
    re.MULTILINE,
)
_decode = msgspec.json.Decoder(Document).decode


@dataclass(frozen=True, slots=True)
class Records:
    """What became of the lines of one file."""

    rows: int
    lost: int  #: lines that should be a record and could not be read
    note: str | None  #: what the profiler says that it lost


def looks_like_records(head: bytes) -> bool:
    """Whether a file begins as one of records."""
    return _SNIFF.search(head) is not None


def read_records(lines: Iterable[tuple[int, bytes]], label: str, table: RowBuilder) -> Records:
    """Adds the records in numbered lines of a file."""
    before, lost = len(table), 0
    summary: Summary | None = None
    samples, named = Samples(), named_by(label)
    for number, line in lines:
        text = line.strip()
        if text.startswith(b"{"):
            document = _document(text)
            row = row_of(document, named) if document else None
            if row is not None:
                table.add(file=label, line=number, **row)
            elif document is not None and document.summary is not None:
                summary = document.summary
            else:
                lost += 1
        elif text.startswith(b"nccl_"):
            lost += not samples.read(text.decode("utf-8", "replace"), number)
    for row in samples.rows():
        table.add(file=label, **row)
    return Records(len(table) - before, lost, _lost(summary))


def _document(text: bytes) -> Document | None:
    try:
        return _decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _lost(summary: Summary | None) -> str | None:
    if summary is None or summary.complete is not False:
        return None
    dropped = summary.dropped_collectives + summary.leaked_collectives
    return f"the profiler lost {dropped:,} collectives; times of others may lack parts"
