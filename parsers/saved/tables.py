"""Tables as files of Parquet, and back from files that anybody may have written."""

from __future__ import annotations

from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq

from commscope.errors import CorruptTrace, FormatError, SchemaError
from commscope.parsers.saved.documents import TableStamp
from commscope.schema import conform

#: What a file may hold at most, as stored and as tables: traces of this size were never seen.
MOST_BYTES = 8 << 30
MOST_ROWS = 1 << 30
_MOST_UNPACKED_BYTES = 64 << 30
#: No table of ours is packed as densely: every row has a time, a line or a place of its own.
_MOST_ROWS_A_BYTE = 8
_MOST_PACKED = 2_000
_FEW_ROWS = 1 << 20
_FEW_BYTES = 64 << 20
_GROUP_ROWS = 1 << 20

#: What Arrow raises on bytes that are no Parquet, or not all of it.
_DAMAGE = (pa.ArrowException, OSError, ValueError, OverflowError, TypeError, LookupError)


def parquet_of(table: pa.Table) -> bytes:
    """The table as Parquet, with units and meanings of its columns; equal tables, equal bytes."""
    whole = table.unify_dictionaries().combine_chunks()
    sink = pa.BufferOutputStream()
    pq.write_table(
        whole, sink, row_group_size=_GROUP_ROWS, compression="zstd", version="2.6",
        write_statistics=False, use_compliant_nested_type=False,
    )  # fmt: skip
    return bytes(sink.getvalue())


def stamp_of(table: pa.Table, data: bytes) -> TableStamp:
    """What tells the file of a table from others."""
    return TableStamp(table.num_rows, sha256(data).hexdigest())


def table_in(data: bytes, schema: pa.Schema, stamp: TableStamp, label: str) -> pa.Table:
    """The table in a file of Parquet.

    Raises CorruptTrace where it is not the file that was written, or does not keep the schema,
    FormatError where it holds more than any file of ours.
    """
    if sha256(data).hexdigest() != stamp.sha256:
        raise _corrupt(label, "it is not as it was written: cut, damaged or changed")
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        _refuse_huge(file.metadata, len(data), label)
        table = conform(_fitted(file.read(), schema), schema, "table")
    except SchemaError as error:
        raise _corrupt(label, str(error)) from error
    except _DAMAGE as error:
        raise _corrupt(label, " ".join(str(error).split())[:200]) from error
    if table.num_rows != stamp.rows:
        raise _corrupt(label, f"it has {table.num_rows:,} rows, not {stamp.rows:,}")
    return table


def _fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of the schema: other versions may have saved fewer or more of them."""
    for field in schema:
        if field.nullable and field.name not in table.column_names:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table.select([name for name in schema.names if name in table.column_names])


def _refuse_huge(metadata: pq.FileMetaData, size: int, label: str) -> None:
    rows = metadata.num_rows
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    unpacked = sum(group.total_byte_size for group in groups)
    is_dense = rows > max(_FEW_ROWS, size * _MOST_ROWS_A_BYTE)
    is_packed = unpacked > max(_FEW_BYTES, size * _MOST_PACKED)
    if rows > MOST_ROWS or unpacked > _MOST_UNPACKED_BYTES or is_dense or is_packed:
        holds = f"{rows:,} rows and {unpacked:,} bytes in {size:,} bytes"
        raise FormatError(f"{label}: {holds}, which no saved run has")


def _corrupt(label: str, reason: str) -> CorruptTrace:
    return CorruptTrace(f"{label}: {reason}; save the run again")
