"""COLLECTIVES from what Kineto says of a communication kernel: its own arguments, or its record.

The kernel of newer PyTorch carries the arguments itself; else the host's ``record_param_comms``
with the same external id has them; else an ``nccl:`` annotation on the same stream names the
operation. What only the kernel's name tells is added for all formats alike, later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.classify import canonical_op, dtype_bytes
from commscope.columns import NONE, Int64
from commscope.parsers.kineto.decode import CollectiveArgs, Scalar
from commscope.parsers.kineto.rows import Columns, integers
from commscope.schema import PARSED_COLLECTIVES

_NUMBER = re.compile(r"\d+")
#: Operations whose size is the whole output: the input is one member's share.
_SIZED_BY_OUTPUT = {"all_gather"}


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the collective of one device event, and from where."""

    event: int
    args: CollectiveArgs
    source: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """An ``nccl:`` annotation on the GPU: what ran on a stream in ``[start, end)``."""

    name: str
    stream: int
    start_ns: int
    end_ns: int


def collectives_table(known: Sequence[Known], ranks: Int64) -> pa.Table:
    """COLLECTIVES for device events of which something is known; ``ranks`` of all events."""
    args = [k.args for k in known]
    columns = {
        "event": integers([k.event for k in known]),
        "rank": pa.array([_or_none(ranks[k.event]) for k in known], pa.int32()),
        "comm": [_word(a.group_name) for a in args],
        "description": [_word(a.description) for a in args],
        "seq": [_number(a.seq) for a in args],
        "op": [canonical_op(str(a.op)) for a in args],
        "dtype": [_word(a.dtype) for a in args],
        "bytes": [_size_bytes(a) for a in args],
        "group_size": [_small(a.group_size) for a in args],
        "members": [_members(a) for a in args],
        "is_async": [_flag(a.is_async) for a in args],
        "source": [k.source for k in known],
    }
    return pa.table(
        [_array(columns[f.name], f.type) for f in PARSED_COLLECTIVES], schema=PARSED_COLLECTIVES
    )


def _array(values: object, kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode().cast(kind)
    return pa.array(values, kind)


def match_records(
    events: Columns, records: Sequence[CollectiveArgs], known: Sequence[Known]
) -> list[Known]:
    """What ``record_param_comms`` knows of events that do not say it themselves.

    Old exporters write the correlation as external id of a kernel: then ids do not match records.
    """
    external, correlation = events.column("external_id"), events.column("correlation")
    linked = external != NONE
    if not linked.any() or (external[linked] == correlation[linked]).mean() > 0.5:
        return []
    by_id = {_number(r.external_id): r for r in records if canonical_op(str(r.op))}
    done = {k.event for k in known}
    rows = np.flatnonzero(np.isin(external, np.array([i for i in by_id if i], np.int64)))
    return [Known(row, by_id[int(external[row])], "record") for row in rows if row not in done]


def match_annotations(
    events: Columns, annotations: Sequence[Annotation], known: Sequence[Known]
) -> list[Known]:
    """The operation of events that begin inside an ``nccl:`` annotation of their stream."""
    stream, start = events.column("stream"), events.column("start_ns")
    done = {k.event for k in known}
    found: dict[int, Known] = {}
    for note in annotations:
        inside = (stream == note.stream) & (start >= note.start_ns) & (start < note.end_ns)
        for row in np.flatnonzero(inside).tolist():
            if row not in done:
                found[row] = Known(row, CollectiveArgs(op=note.name), "annotation")
    return list(found.values())


def _size_bytes(args: CollectiveArgs) -> int | None:
    """The size as nccl-tests counts it: see DEFINITIONS 4, ``bytes``."""
    op, width = canonical_op(str(args.op)), dtype_bytes(str(args.dtype))
    elements = args.out_elements if op in _SIZED_BY_OUTPUT else args.in_elements
    count = _number(elements)
    if op is None or width is None or not count:
        return None
    return count * width


def _members(args: CollectiveArgs) -> list[int] | None:
    """The global ranks: written out, or where the profiler cut the list, by first and stride."""
    text, size = str(args.members or ""), _small(args.group_size)
    ranks = [int(n) for n in _NUMBER.findall(text) if len(n) < 9]
    if ranks and "..." not in text:
        return ranks
    first, stride = _small(args.first_member), _small(args.member_stride)
    if None in (first, stride, size) or stride < 1 or not 0 < size <= 1 << 20:  # type: ignore[operator]
        return None
    return list(range(first, first + stride * size, stride))  # type: ignore[operator,arg-type]


def _word(value: Scalar) -> str | None:
    return None if value is None or value == "" else str(value)


def _number(value: Scalar) -> int | None:
    number = int(integers([value])[0])
    return None if number == NONE or number < 0 else number


def _small(value: Scalar) -> int | None:
    number = _number(value)
    return number if number is not None and number < 1 << 31 else None


def _flag(value: Scalar) -> bool | None:
    return None if value is None else str(value).lower() in ("1", "true")


def _or_none(value: int) -> int | None:
    return None if value == NONE else int(value)
