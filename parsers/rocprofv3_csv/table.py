"""One csv file as typed rows, in memory bounded by those, with what was lost on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as pa_csv

from commscope.errors import CorruptTrace
from commscope.parsers.base import Health, Input, Progress
from commscope.parsers.opening import Blocks, Source, open_blocks
from commscope.parsers.rocprofv3_csv.files import Kind, header_of, kind_of
from commscope.parsers.rocprofv3_csv.mending import mend
from commscope.parsers.rocprofv3_csv.sizes import GRID, GROUP, with_workgroups
from commscope.schema import TEXT

FORMAT = "rocprofv3_csv"
#: Text that is parsed at once; Arrow splits it further between its threads.
_BLOCK_BYTES = 8 << 20
_PART_BYTES = 1 << 20

_TEXTS = (
    *("Guid", "Agent_Id", "Kernel_Name", "Direction", "Source_Agent_Id", "Destination_Agent_Id"),
    *("Domain", "Function", "Agent_Type", "Name", "Product_Name"),
)
_START = "Start_Timestamp"
_NUMBERS = (
    *(_START, "End_Timestamp", "Correlation_Id", "Process_Id", "Thread_Id"),
    *("Stream_Id", "Queue_Id", "Node_Id", "Logical_Node_Id"),
    *GRID,
    *GROUP,
)
#: All columns that are of use, in any file.
_TYPES = {**dict.fromkeys(_TEXTS, TEXT), **dict.fromkeys(_NUMBERS, pa.int64())}


@dataclass(frozen=True, slots=True)
class CsvRows:
    """A file: its rows with the columns that are of use, and how well it could be read."""

    source: Source
    kind: Kind
    rows: pa.Table
    input: Input
    health: Health


def read_rows(source: Source, progress: Progress) -> CsvRows:
    """Reads a file; raises CorruptTrace where it is none of rocprofv3's, or lacks a column."""
    with open_blocks(source, block_bytes=_BLOCK_BYTES) as blocks:
        pieces = _whole_lines(_reporting(blocks, source, progress))
        header, _, rest = next(pieces, b"").partition(b"\n")
        names, kind = _checked(header_of(header), source)
        reader = _Reader(names, kind)
        for piece in chain((rest,), pieces):
            reader.add(piece)
        cut, digest, size = blocks.cut, blocks.sha256, blocks.bytes_read
    rows = reader.rows()
    file = Input(source.label, FORMAT, digest, size)
    return CsvRows(source, kind, rows, file, reader.health(rows, cut))


def _reporting(blocks: Blocks, source: Source, progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        progress(blocks.bytes_read, source.size)
        yield block


def _whole_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The text in pieces that end with a line; only the last one may end within one."""
    rest: list[bytes] = []
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join((*rest, block[:end]))
            rest = [block[end:]]
        else:
            rest.append(block)
    if any(rest):
        yield b"".join(rest)


def _checked(names: list[str] | None, source: Source) -> tuple[list[str], Kind]:
    kind = kind_of(names or [])
    if names is None or kind is None or not kind.is_read:
        raise CorruptTrace(
            f"{source.label}: its first line names no columns of a trace of rocprofv3; record again"
        )
    missing = sorted(kind.needed - set(names))
    if missing:
        raise CorruptTrace(
            f"{source.label}: the table of {kind.what} lacks the column {missing[0]}; record "
            "or export it again, with all columns"
        )
    return names, kind


class _Reader:
    """The rows of one file, growing piece by piece."""

    def __init__(self, names: Sequence[str], kind: Kind) -> None:
        self._names, self._kind = names, kind
        self._types = {name: _TYPES[name] for name in names if name in _TYPES}
        self._tables: list[pa.Table] = []
        self._lost = self._bytes_lost = 0
        self._cut: str | None = None
        self._notes: list[str] = []

    def add(self, piece: bytes) -> None:
        """Takes some lines, of which only the file's last one may lack its end."""
        lines, _, last = piece.rpartition(b"\n")
        if lines.strip():
            self._add_lines(lines)
        if last.strip():
            self._add_last(last)

    def rows(self) -> pa.Table:
        """All rows, in order."""
        if not self._tables:
            return with_workgroups(_empty(self._types))
        return pa.concat_tables(self._tables).unify_dictionaries()

    def health(self, rows: pa.Table, cut: str | None) -> Health:
        """What was read and lost; ``cut`` is why the bytes end early."""
        why = self._cut or cut
        return Health(
            events_read=rows.num_rows + self._lost,
            events_lost=self._lost,
            bytes_lost=self._bytes_lost,
            cut=why,
            lacks_events=why is not None,
            last_good_ns=_last_start(rows) if why else None,
            notes=tuple(self._notes),
        )

    def _add_lines(self, text: bytes) -> None:
        try:
            self._keep(_parsed(text, self._names, self._types))
        except pa.ArrowInvalid:
            self._keep(self._mended(text))

    def _add_last(self, line: bytes) -> None:
        """A line without its end is whole or not: rocprofv3 ends every line."""
        rows = mend(line, self._names, self._types).rows
        if rows.num_rows and not _ends_early(rows):
            self._notes.append("its last line has no end, so lines may be missing")
            self._keep(rows)
            return
        self._lost += 1
        self._bytes_lost += len(line)
        self._cut = "the file ends within a line"

    def _mended(self, text: bytes) -> pa.Table:
        mended = mend(text, self._names, self._types)
        self._lost += mended.lost
        self._bytes_lost += mended.bytes_lost
        return mended.rows

    def _keep(self, rows: pa.Table) -> None:
        """Keeps the rows that have all that is needed."""
        numbers = [name for name in self._kind.needed if self._types[name] == pa.int64()]
        whole = reduce(pc.and_, (rows.column(name).is_valid() for name in numbers))
        kept = rows.filter(whole)
        self._lost += rows.num_rows - kept.num_rows
        self._tables.append(with_workgroups(kept))


def _parsed(text: bytes, names: Sequence[str], types: Mapping[str, pa.DataType]) -> pa.Table:
    """The rows of whole lines; raises ArrowInvalid where one of them is damaged."""
    return pa_csv.read_csv(
        pa.BufferReader(text),
        pa_csv.ReadOptions(column_names=names, block_size=_PART_BYTES),
        convert_options=pa_csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[""]
        ),
    )


def _empty(types: Mapping[str, pa.DataType]) -> pa.Table:
    return pa.schema(list(types.items())).empty_table()


def _last_start(rows: pa.Table) -> int | None:
    if _START not in rows.column_names or not rows.num_rows:
        return None
    start: int = rows.column(_START)[-1].as_py()
    return start


def _ends_early(rows: pa.Table) -> bool:
    """Whether the only row ends before it begins, as one does that lost digits."""
    if _START not in rows.column_names:
        return False
    start, end = (rows.column(name)[0].as_py() for name in (_START, "End_Timestamp"))
    return start is None or end is None or end < start
