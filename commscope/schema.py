"""The tables every parser fills and every analysis reads: columns, units, meaning.

A null means "the source does not say"; it is never written as 0, -1 or "".
``docs/schema.md`` is generated from this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from commscope.errors import SchemaError

#: Text that repeats: a dictionary of strings with 32-bit codes.
TEXT = pa.dictionary(pa.int32(), pa.string())


def column(
    name: str, kind: pa.DataType, meaning: str, *, unit: str = "", nullable: bool = False
) -> pa.Field:
    """A column with its unit and meaning."""
    return pa.field(name, kind, nullable, {"unit": unit, "meaning": meaning})


class Flag:
    """Bits of ``EVENTS.flags``: what was done to a row, or is known to be wrong with it."""

    CLIPPED = 1 << 0  #: its end was cut back to the next start on its stream (rule Q4)
    BROKEN = 1 << 1  #: impossible time stamps: kept, but it counts nowhere (rule Q4)
    GRAPH = 1 << 2  #: replayed by a graph launch that it shares with other activities
    STREAM_REPAIRED = 1 << 3  #: the stream was null and could be told from its kernel name
    STREAM_AMBIGUOUS = 1 << 4  #: the stream is null or several fit (rule Q6)
    BY_METADATA = 1 << 5  #: communication by its collective metadata, not by its name


_RANK = column("rank", pa.int32(), "rank of the process in the job")
_START = column("start_ns", pa.int64(), "begin, on the clock of the rank's own trace", unit="ns")
_DURATION = column("dur_ns", pa.int64(), "length", unit="ns")

EVENTS = pa.schema(
    [
        _RANK,
        column(
            "device", pa.int32(), "device number as the trace gives it; negative: it gives none"
        ),
        column("stream", pa.int64(), "stream, or on older ROCm the hardware queue", nullable=True),
        column("queue", pa.int64(), "hardware queue, where the trace tells it", nullable=True),
        column("kind", TEXT, "kernel, memcpy or memset"),
        column("name", TEXT, "name of the kernel or copy"),
        _START,
        _DURATION,
        column("correlation", pa.int64(), "id shared with the launching call", nullable=True),
        column("launch_ns", pa.int64(), "begin of the launching call", unit="ns", nullable=True),
        column("step", pa.int64(), "number of the step it was launched in", nullable=True),
        column("bytes", pa.int64(), "bytes moved by a copy", unit="bytes", nullable=True),
        column("workgroups", pa.int64(), "work-groups (blocks) of a kernel", nullable=True),
        column("flags", pa.uint16(), "bits of commscope.schema.Flag"),
    ]
)
"""One row an activity of a GPU, sorted by rank and start."""

HOST = pa.schema(
    [
        _RANK,
        column("thread", pa.int64(), "thread of the process", nullable=True),
        column("kind", TEXT, "launch, sync, memory, capture, runtime, annotation or collective"),
        column("name", TEXT, "name of the call or annotation"),
        _START,
        _DURATION,
        column("correlation", pa.int64(), "id shared with the activity it started", nullable=True),
        column(
            "step", pa.int64(), "number of the step in whose host interval it began", nullable=True
        ),
    ]
)
"""One row a call or annotation of the host that the analysis needs, sorted by rank and start."""

COLLECTIVES = pa.schema(
    [
        column("event", pa.int64(), "row of the communication kernel in EVENTS"),
        _RANK,
        column("comm", TEXT, "communicator: name of the process group", nullable=True),
        column("description", TEXT, "what the process group is for", nullable=True),
        column("seq", pa.int64(), "sequence number in the communicator", nullable=True),
        column("op", TEXT, "all_reduce, all_gather, ..., or null: unknown", nullable=True),
        column("dtype", TEXT, "element type", nullable=True),
        column("bytes", pa.int64(), "size as nccl-tests counts it", unit="bytes", nullable=True),
        column("group_size", pa.int32(), "number of members", nullable=True),
        column("members", pa.list_(pa.int32()), "global ranks of the members", nullable=True),
        column("peer", pa.int32(), "the other rank of a send or a receive", nullable=True),
        column(
            "send_sizes",
            pa.list_(pa.int64()),
            "elements sent to each member, of an all_to_all with uneven splits",
            nullable=True,
        ),
        column(
            "receive_sizes",
            pa.list_(pa.int64()),
            "elements received from each member, of an all_to_all with uneven splits",
            nullable=True,
        ),
        column("is_async", pa.bool_(), "issued asynchronously", nullable=True),
        column("source", TEXT, "how it is known: args, record, annotation, log or name"),
    ]
)
"""One row a communication kernel."""

STEPS = pa.schema(
    [
        _RANK,
        column("step", pa.int64(), "number of the step"),
        column("name", TEXT, "name of the annotation, or what was inferred"),
        column("open", pa.bool_(), "the last window: nothing shows where it would have ended"),
        column("start_ns", pa.int64(), "begin of the device window", unit="ns", nullable=True),
        column("end_ns", pa.int64(), "end of the device window", unit="ns", nullable=True),
        column("host_start_ns", pa.int64(), "begin on the host", unit="ns", nullable=True),
        column("host_end_ns", pa.int64(), "end on the host", unit="ns", nullable=True),
        column("source", TEXT, "annotation, marker, inferred or whole_trace"),
    ]
)
"""One row a step and rank; device times are null where the step launched nothing."""

RANKS = pa.schema(
    [
        _RANK,
        column("host", TEXT, "host name", nullable=True),
        column(
            "device", pa.int32(), "device number as the trace gives it; negative: it gives none"
        ),
        column("pid", pa.int64(), "process id", nullable=True),
        column("local_rank", pa.int32(), "rank within the host", nullable=True),
        column("gpu", TEXT, "product name of the GPU", nullable=True),
        column("clock_offset_ns", pa.int64(), "to add for the common clock", unit="ns"),
        column("clock_error_ns", pa.int64(), "error of that offset", unit="ns", nullable=True),
        column("backend", TEXT, "communication library as the trace names it", nullable=True),
        column("world_size", pa.int32(), "number of ranks in the job", nullable=True),
        column("source", TEXT, "how the rank is known: metadata, file, records, given or assumed"),
        column("file", TEXT, "file it was read from"),
    ]
)
"""One row a rank: a process and the one device it drives."""

TABLES = {
    "EVENTS": EVENTS,
    "HOST": HOST,
    "COLLECTIVES": COLLECTIVES,
    "STEPS": STEPS,
    "RANKS": RANKS,
}


def _optional(schema: pa.Schema, name: str) -> pa.Schema:
    index = schema.get_field_index(name)
    return schema.set(index, schema.field(index).with_nullable(True))


#: What a parser gives: the rank is null unless the file itself holds several ranks.
PARSED_EVENTS = _optional(EVENTS, "rank")
PARSED_HOST = _optional(HOST, "rank")
PARSED_COLLECTIVES = _optional(COLLECTIVES, "rank")


def table_of(columns: Mapping[str, Sequence[Any]], schema: pa.Schema, what: str) -> pa.Table:
    """The table of Python values, one sequence a column of the schema; raises as ``conform``."""
    arrays = [_array(columns[field.name], field.type) for field in schema]
    return conform(pa.Table.from_arrays(arrays, names=schema.names), schema, what)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind)


def conform(table: pa.Table, schema: pa.Schema, what: str) -> pa.Table:
    """The table with the schema's metadata, after checking that it keeps the contract.

    Raises SchemaError naming the column that is missing, surplus, of another type, or null
    where the schema wants a value.
    """
    if table.column_names != schema.names:
        raise SchemaError(f"{what}: columns are {table.column_names}, expected {schema.names}")
    for field in schema:
        column = table.column(field.name)
        if column.type != field.type:
            raise SchemaError(f"{what}.{field.name}: type is {column.type}, expected {field.type}")
        if column.null_count and not field.nullable:
            raise SchemaError(f"{what}.{field.name}: {column.null_count} rows are null")
    return table.cast(schema)
