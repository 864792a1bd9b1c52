"""COLLECTIVES from what Kineto says of a communication kernel: its own arguments, or its record.

The kernel of newer PyTorch carries the arguments itself; else the host's ``record_param_comms``
with the same external id has them; else an ``nccl:`` annotation on the same stream names the
operation. What only the kernel's name tells is added for all formats alike, later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from commscope.classify import canonical_op, dtype_bytes
from commscope.columns import NONE, Int64
from commscope.parsers.kineto.decode import Args, Scalar
from commscope.parsers.kineto.rows import Columns, integers
from commscope.schema import PARSED_COLLECTIVES

_NUMBER = re.compile(r"\d+")
#: Operations whose size is the whole output: the input is one member's share.
_SIZED_BY_OUTPUT = {"all_gather"}


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the collective of one device event, and from where."""

    event: int
    args: Args
    source: str


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


def match_records(events: Columns, records: Sequence[Args], known: Sequence[Known]) -> list[Known]:
    """What ``record_param_comms`` knows of events that do not say it themselves.

    Old exporters write the correlation as external id of a kernel: then ids do not match records.
    """
    external, correlation = events.column("external_id"), events.column("correlation")
    linked = external != NONE
    if not linked.any() or (external[linked] == correlation[linked]).mean() > 0.5:
        return []
    by_id = {_number(r.external_id): r for r in records if canonical_op(str(r.op))}
    done = {k.event for k in known}
    ids = np.array([i for i in by_id if i], np.int64)
    rows = np.flatnonzero(np.isin(external, ids)).tolist()
    return [Known(row, by_id[int(external[row])], "record") for row in rows if row not in done]


def match_annotations(
    events: Columns, annotations: Columns, names: Sequence[str], known: Sequence[Known]
) -> list[Known]:
    """The operation of events that begin inside an ``nccl:`` annotation of their stream."""
    done = np.zeros(len(events), np.bool_)
    done[[k.event for k in known]] = True
    found = []
    for stream in np.unique(annotations.column("thread")).tolist():
        rows = np.flatnonzero((events.column("stream") == stream) & ~done)
        inner = _innermost(events.column("start_ns")[rows], annotations, stream)
        found += [
            Known(row, Args(op=names[name]), "annotation")
            for row, name in zip(rows.tolist(), inner.tolist())
            if name != NONE
        ]
    return found


def _innermost(starts: Int64, annotations: Columns, stream: int) -> Int64:
    """The name of the latest annotation of a stream that has begun and not ended, else ``NONE``."""
    on_stream = annotations.column("thread") == stream
    begin = annotations.column("start_ns")[on_stream]
    order = np.argsort(begin, kind="stable")
    begin = begin[order]
    end = begin + annotations.column("dur_ns")[on_stream][order]
    latest = np.searchsorted(begin, starts, "right") - 1
    is_inside = (latest >= 0) & (starts < end[latest])
    return np.where(is_inside, annotations.column("name")[on_stream][order][latest], NONE)


def _size_bytes(args: Args) -> int | None:
    """The size as nccl-tests counts it: see DEFINITIONS 4, ``bytes``."""
    op, width = canonical_op(str(args.op)), dtype_bytes(str(args.dtype))
    elements = args.out_elements if op in _SIZED_BY_OUTPUT else args.in_elements
    count = _number(elements)
    if op is None or width is None or not count:
        return None
    return count * width


def _members(args: Args) -> list[int] | None:
    """The global ranks: written out, or where the profiler cut the list, by first and stride."""
    text, size = str(args.members or ""), _small(args.group_size)
    if "..." not in text and (ranks := _numbers(text)):
        return ranks
    first, stride = _small(args.first_member), _small(args.member_stride)
    if None in (first, stride, size) or stride < 1 or not 0 < size <= 1 << 20:  # type: ignore[operator]
        return None
    return list(range(first, first + stride * size, stride))  # type: ignore[operator,arg-type]


@lru_cache(maxsize=1024)
def _numbers(text: str) -> list[int]:
    return [int(n) for n in _NUMBER.findall(text) if len(n) < 9]


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
