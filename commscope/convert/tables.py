"""The tables of a trace as files of Parquet, Arrow or CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BufferedIOBase
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from commscope.convert.targets import Target
from commscope.sanitize import plain
from commscope.schema import TABLES
from commscope.trace import Trace

#: Text of so many rows is in memory at once.
_BATCH_ROWS = 1 << 16
#: Spreadsheets take a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@")


def write_tables(trace: Trace, folder: Path, target: Target) -> None:
    """Writes all tables into a folder that is there.

    Parquet and Arrow keep the types, and unit and meaning as metadata of each column. Times are
    on the clocks of the ranks; RANKS has what to add for the common one.
    """
    for name, table in tables_of(trace).items():
        with (folder / target.file_name(name)).open("wb") as file:
            write_table(table, file, target.format)


def write_table(table: pa.Table, file: BufferedIOBase, style: str) -> None:
    """Writes a table, of whose words none does harm in CSV, in one of the formats of tables."""
    _WRITERS[style](table, file)


def tables_of(trace: Trace) -> dict[str, pa.Table]:
    """The tables by their names in ``commscope.schema``, with the metadata that stands there."""
    tables = (trace.events, trace.host, trace.collectives, trace.steps, trace.ranks)
    return {name: table.cast(TABLES[name]) for name, table in zip(TABLES, tables)}


def _write_parquet(table: pa.Table, file: BufferedIOBase) -> None:
    pq.write_table(table, file, compression="zstd")


def _write_arrow(table: pa.Table, file: BufferedIOBase) -> None:
    # One dictionary a column: the file format has no other, unlike the stream.
    whole = table.unify_dictionaries()
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(whole, max_chunksize=_BATCH_ROWS)


def _write_csv(table: pa.Table, file: BufferedIOBase) -> None:
    harmless = pa.table([_harmless(column) for column in table.columns], names=table.column_names)
    schema = pa.schema([(field.name, _printed(field.type)) for field in harmless.schema])
    with pa.csv.CSVWriter(file, schema) as writer:
        for batch in _batches(harmless):
            writer.write_table(pa.table([_as_cells(column) for column in batch], schema=schema))


def _batches(table: pa.Table) -> Iterator[pa.Table]:
    for start in range(0, table.num_rows, _BATCH_ROWS):
        yield table.slice(start, _BATCH_ROWS)


def _harmless(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column, in which no word steers a terminal or is a formula; each is looked at once."""
    if not pa.types.is_dictionary(column.type):
        return column
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices,
            pa.array([_cell(word) for word in chunk.dictionary.to_pylist()], pa.string()),
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, column.type)


def _cell(word: str) -> str:
    safe = plain(word)
    return f"'{safe}" if safe.lstrip().startswith(_FORMULA) else safe


def _printed(kind: pa.DataType) -> pa.DataType:
    is_text = pa.types.is_dictionary(kind) or pa.types.is_list(kind)
    return pa.string() if is_text else kind


def _as_cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Words as text, and lists as numbers with spaces between."""
    if pa.types.is_list(column.type):
        return pc.binary_join(column.cast(pa.list_(pa.string())), " ")
    return column.cast(_printed(column.type))


_WRITERS: dict[str, Callable[[pa.Table, BufferedIOBase], None]] = {
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "csv": _write_csv,
}
