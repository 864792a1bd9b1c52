"""Tables in csv of older profilers as columns, row by row: their files are small.

Quoting is as the csv module has it; what is no row (cut, or with too few fields) is counted.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from commscope.columns import NONE, Int64
from commscope.errors import CorruptTrace
from commscope.parsers.base import Progress
from commscope.parsers.batches import Columns
from commscope.parsers.counter_names import COUNTER
from commscope.parsers.integers import integers
from commscope.parsers.opening import Blocks, Source, open_blocks
from commscope.parsers.words import Words

_BATCH_ROWS = 1 << 14
_MOST_HEADER = 8192


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns that are read where a file has them; others are passed over."""

    texts: Collection[str]
    numbers: Collection[str]

    @property
    def names(self) -> set[str]:
        """All of them."""
        return {*self.texts, *self.numbers}


@dataclass(frozen=True, slots=True)
class CsvColumns:
    """Columns of a file: codes of words for texts, ``NONE`` for what is no number."""

    columns: Columns
    lost: int  #: lines that are no rows
    cut: str | None
    sha256: str | None
    bytes: int

    def __len__(self) -> int:
        return len(self.columns)

    def column(self, *names: str) -> Int64:
        """The first of these columns that the file has; all ``NONE`` where it has none."""
        found = next((name for name in names if name in self.columns.batches), None)
        return np.full(len(self), NONE, np.int64) if found is None else self.columns.column(found)


def header_of(head: bytes) -> list[str]:
    """The names in the first line of a file; none where it is no line of a table."""
    line, end, _ = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    if not end and len(line) > _MOST_HEADER:
        return []
    try:
        names = next(csv.reader([line.decode("utf-8").rstrip("\r")]), [])
    except (UnicodeDecodeError, csv.Error):
        return []
    return [name.strip() for name in names] if len(names) > 1 else []


def counters_in(names: Collection[str]) -> set[str]:
    """The columns that are written as counters are: ``SQ_WAVES``."""
    return {name for name in names if COUNTER.fullmatch(name)}


def read_columns(source: Source, progress: Progress, wanted: Wanted, words: Words) -> CsvColumns:
    """Reads a file; raises CorruptTrace where it does not begin with a header."""
    with open_blocks(source) as blocks:
        text = _Lines(_reporting(blocks, source, progress))
        lines = iter(text)
        names = header_of(next(lines, "").encode("utf-8", "replace"))
        if not names:
            raise CorruptTrace(f"{source.label}: does not begin with names of columns")
        taken = [(at, name) for at, name in enumerate(names) if name in wanted.names]
        columns, lost = Columns({name: [] for _, name in taken}), 0
        for rows, bad in _batches(lines, len(names)):
            columns.append(**_columns(rows, taken, wanted, words))
            lost += bad
        cut, digest, size = blocks.cut, blocks.sha256, blocks.bytes_read
    if text.is_cut:
        cut = cut or "the file ends within a line"
    return CsvColumns(columns, lost + text.is_cut, cut, digest, size)


def _reporting(blocks: Blocks, source: Source, progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        progress(blocks.bytes_read, source.size)
        yield block


class _Lines:
    """The whole lines of a text; ``is_cut`` then says whether text without an end follows."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.is_cut = False
        self._blocks = blocks

    def __iter__(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        rest = ""
        for block in self._blocks:
            # The csv module of older versions refuses NUL.
            lines = (rest + decoder.decode(block).replace("\0", "\ufffd")).split("\n")
            rest = lines.pop()
            yield from lines
        self.is_cut = bool(rest)


def _batches(lines: Iterator[str], width: int) -> Iterator[tuple[list[list[str]], int]]:
    """Some rows at a time that have all fields, with how many lines between had not."""
    reader = csv.reader(lines)
    batch: list[list[str]] = []
    lost = 0
    while True:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error:
            lost += 1
            continue
        if len(row) == width:
            batch.append(row)
        else:
            lost += bool(row)
        if len(batch) == _BATCH_ROWS:
            yield batch, lost
            batch, lost = [], 0
    if batch or lost:
        yield batch, lost


def _columns(
    rows: list[list[str]], taken: Sequence[tuple[int, str]], wanted: Wanted, words: Words
) -> Mapping[str, Int64]:
    columns = list(zip(*rows)) if rows else []
    found = {name: columns[at] if columns else () for at, name in taken}
    return {
        name: words.encode(values) if name in wanted.texts else integers(values)
        for name, values in found.items()
    }
