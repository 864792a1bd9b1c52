"""One csv file as typed rows, in memory bounded by those, with what was lost on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from commscope.parsers.side_by_side import side_by_side
from commscope.schema import TEXT

FORMAT = "rocprofv3_csv"
#: Text that is parsed at once.
_BLOCK_BYTES = 8 << 20
_WITHIN_LINE = "the file ends within a line"

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
        columns = _Columns(names, kind)
        found = list(side_by_side(columns.read, chain((rest,), pieces), name="commscope-csv"))
        cut, digest, size = blocks.cut, blocks.sha256, blocks.bytes_read
    rows = columns.joined([piece.rows for piece in found])
    file = Input(source.label, FORMAT, digest, size)
    return CsvRows(source, kind, rows, file, _health(found, rows, cut))


def _reporting(blocks: Blocks, source: Source, progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        progress(blocks.bytes_read, source.size)
        yield block


def _whole_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The text in pieces that end with a line; only the last one may end within one."""
    rest: list[memoryview] = []
    for block in blocks:
        end = block.rfind(b"\n") + 1
        whole = memoryview(block)
        if end:
            yield b"".join((*rest, whole[:end]))
            rest = [whole[end:]]
        else:
            rest.append(whole)
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


@dataclass(frozen=True, slots=True)
class _Piece:
    """The rows of some lines that have all that is needed, and what is wrong with the others."""

    rows: pa.Table
    lost: int = 0  #: rows
    bytes_lost: int = 0
    cut: str | None = None
    notes: tuple[str, ...] = ()


class _Columns:
    """The columns of one file, by which its pieces are read."""

    def __init__(self, names: Sequence[str], kind: Kind) -> None:
        self._names = names
        self._types = {name: _TYPES[name] for name in names if name in _TYPES}
        self._needed = [name for name in kind.needed if self._types[name] == pa.int64()]

    def read(self, piece: bytes) -> _Piece:
        """Reads some lines, of which only the file's last one may lack its end."""
        if piece.endswith(b"\n"):
            return self._lines(piece)
        lines, _, last = piece.rpartition(b"\n")
        return _behind(self._lines(lines), self._last(last))

    def joined(self, tables: Sequence[pa.Table]) -> pa.Table:
        """The rows of all pieces, in order."""
        return pa.concat_tables(tables).unify_dictionaries()

    def _lines(self, text: bytes) -> _Piece:
        if not text or text.isspace():
            return self._nothing()
        try:
            return self._whole(_parsed(text, self._names, self._types))
        except pa.ArrowInvalid:
            mended = mend(text, self._names, self._types)
            return self._whole(mended.rows, mended.lost, mended.bytes_lost)

    def _last(self, line: bytes) -> _Piece:
        """A line without its end is whole or not: rocprofv3 ends every line."""
        if not line.strip():
            return self._nothing()
        rows = mend(line, self._names, self._types).rows
        if rows.num_rows and not _ends_early(rows):
            note = "its last line has no end, so lines may be missing"
            return replace(self._whole(rows), notes=(note,))
        return replace(self._nothing(), lost=1, bytes_lost=len(line), cut=_WITHIN_LINE)

    def _nothing(self) -> _Piece:
        return self._whole(pa.schema(list(self._types.items())).empty_table())

    def _whole(self, rows: pa.Table, lost: int = 0, bytes_lost: int = 0) -> _Piece:
        """Those of the rows that have all that is needed."""
        kept = rows.filter(reduce(pc.and_, (rows.column(name).is_valid() for name in self._needed)))
        return _Piece(with_workgroups(kept), lost + rows.num_rows - kept.num_rows, bytes_lost)


def _behind(first: _Piece, last: _Piece) -> _Piece:
    rows = pa.concat_tables([first.rows, last.rows])
    lost, bytes_lost = first.lost + last.lost, first.bytes_lost + last.bytes_lost
    return _Piece(rows, lost, bytes_lost, last.cut, last.notes)


def _health(pieces: Sequence[_Piece], rows: pa.Table, cut: str | None) -> Health:
    """What was read and lost; ``cut`` is why the bytes end early."""
    last, lost = pieces[-1], sum(piece.lost for piece in pieces)
    why = last.cut or cut
    return Health(
        events_read=rows.num_rows + lost,
        events_lost=lost,
        bytes_lost=sum(piece.bytes_lost for piece in pieces),
        cut=why,
        lacks_events=why is not None,
        last_good_ns=_last_start(rows) if why else None,
        notes=last.notes,
    )


def _parsed(text: bytes, names: Sequence[str], types: Mapping[str, pa.DataType]) -> pa.Table:
    """The rows of whole lines; raises ArrowInvalid where one of them is damaged."""
    return pa_csv.read_csv(
        pa.BufferReader(text),
        # Pieces are parsed side by side, each of them by one thread.
        pa_csv.ReadOptions(
            use_threads=False, column_names=names, block_size=max(len(text), _BLOCK_BYTES)
        ),
        convert_options=pa_csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[""]
        ),
    )


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
