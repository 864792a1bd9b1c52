"""COLLECTIVES from what Kineto says of a communication kernel: its own arguments, or its record.

The kernel of newer PyTorch carries the arguments itself; else the host's ``record_param_comms``
with the same external id has them; else an ``nccl:`` annotation on the same stream names the
operation. What only the kernel's name tells is added for all formats alike, later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.classify import canonical_op, dtype_bytes
from commscope.columns import NONE, Int64, at
from commscope.intervals import innermost
from commscope.parsers.batches import Columns
from commscope.parsers.integers import MAX_RANK, Scalar, integer, integers, ranks
from commscope.parsers.kineto.decode import Args
from commscope.schema import PARSED_COLLECTIVES, table_of

_NUMBER = re.compile(r"\d+")
#: Operations whose size is the whole output: the input is one member's share.
_SIZED_BY_OUTPUT = {"all_gather"}
#: Numbers of events that were mended are text.
_LIST = re.compile(r"\[?[\d, ']+\]?")
_MAX_BYTES = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the collective of one device event, and from where."""

    event: int
    args: Args
    source: str


def collectives_table(known: Sequence[Known], rank_of: Int64) -> pa.Table:
    """COLLECTIVES for device events of which something is known; ``rank_of`` all events."""
    args = [k.args for k in known]
    columns: dict[str, Sequence[Any]] = {
        "event": [k.event for k in known],
        "rank": [_or_none(rank_of[k.event]) for k in known],
        "comm": [_word(a.group_name) for a in args],
        "description": [_word(a.description) for a in args],
        "seq": [_number(a.seq) for a in args],
        "op": [canonical_op(str(a.op)) for a in args],
        "dtype": [_word(a.dtype) for a in args],
        "bytes": [_size_bytes(a) for a in args],
        "group_size": [_small(a.group_size) for a in args],
        "members": [_members(a) for a in args],
        "peer": [_peer(a) for a in args],
        "send_sizes": [_sizes(a.send_sizes) for a in args],
        "receive_sizes": [_sizes(a.receive_sizes) for a in args],
        "is_async": [_flag(a.is_async) for a in args],
        "source": [k.source for k in known],
    }
    return table_of(columns, PARSED_COLLECTIVES, "Kineto collectives")


def match_records(events: Columns, records: Sequence[Args], known: Sequence[Known]) -> list[Known]:
    """What ``record_param_comms`` knows of events that do not say it themselves.

    Old exporters write the correlation as external id of a kernel: then ids do not match records.
    """
    external, correlation = events.column("external_id"), events.column("correlation")
    linked = external != NONE
    if not linked.any() or (external[linked] == correlation[linked]).mean() > 0.5:
        return []
    named = [r for r in records if canonical_op(str(r.op))]
    ids, rank = integers([r.external_id for r in named]), events.column("rank")
    by_id = dict(zip(zip(ranks([r.rank for r in named]).tolist(), ids.tolist()), named))
    done = {k.event for k in known}
    rows = np.flatnonzero(np.isin(external, ids[ids > 0])).tolist()
    keys = [(int(rank[row]), int(external[row])) for row in rows]
    return [
        Known(row, by_id[key], "record")
        for row, key in zip(rows, keys)
        if key in by_id and row not in done
    ]


def match_annotations(
    events: Columns, annotations: Columns, names: Sequence[str], known: Sequence[Known]
) -> list[Known]:
    """The operation of events that begin inside an ``nccl:`` annotation of their stream."""
    stream = events.column("stream")
    is_open = np.isin(stream, annotations.column("thread")) & (stream != NONE)
    is_open[[k.event for k in known]] = False
    rows = np.flatnonzero(is_open)
    if not len(rows):
        return []
    found = np.full(len(rows), NONE, np.int64)
    for on_track, over_it in _by_track(events.where(is_open), annotations):
        begin = annotations.column("start_ns")[over_it]
        end = begin + annotations.column("dur_ns")[over_it]
        inner = innermost(events.column("start_ns")[rows[on_track]], begin, end)
        found[on_track] = at(annotations.column("name")[over_it], inner, NONE)
    return [
        Known(row, Args(op=names[name]), "annotation")
        for row, name in zip(rows.tolist(), found.tolist())
        if name != NONE
    ]


def _by_track(events: Columns, annotations: Columns) -> Iterator[tuple[Int64, Int64]]:
    """The rows of both on each stream of a device of a rank."""
    streams = (events.column("stream"), annotations.column("thread"))
    others = [(events.column(name), annotations.column(name)) for name in ("rank", "device")]
    keys = np.stack([np.concatenate(pair) for pair in (*others, streams)], axis=1)
    tracks, track = np.unique(keys, axis=0, return_inverse=True)
    of_event, of_annotation = np.split(track.reshape(-1), [len(events)])
    return zip(_split(of_event, len(tracks)), _split(of_annotation, len(tracks)))


def _split(group: Int64, count: int) -> list[Int64]:
    """The rows of each group."""
    order = np.argsort(group, kind="stable")
    return np.split(order, np.searchsorted(group[order], np.arange(1, count)))


def _size_bytes(args: Args) -> int | None:
    """The size as nccl-tests counts it: see DEFINITIONS 4, ``bytes``."""
    op, width = canonical_op(str(args.op)), dtype_bytes(str(args.dtype))
    elements = args.out_elements if op in _SIZED_BY_OUTPUT else args.in_elements
    count = _number(elements)
    if op is None or width is None or not count:
        return None
    return count * width if count <= _MAX_BYTES // width else None


def _members(args: Args) -> list[int] | None:
    """The global ranks: written out, or where the profiler cut the list, by first and stride."""
    text, size = str(args.members or ""), _small(args.group_size)
    if "..." not in text and (ranks := _numbers(text)):
        return ranks
    first, stride = _small(args.first_member), _small(args.member_stride)
    if None in (first, stride, size) or stride < 1 or not 0 < size <= 1 << 20:  # type: ignore[operator]
        return None
    members = range(first, first + stride * size, stride)  # type: ignore[operator,arg-type]
    return list(members) if members[-1] <= MAX_RANK else None


def _peer(args: Args) -> int | None:
    other = {"send": args.to_rank, "recv": args.from_rank}
    return _small(other.get(canonical_op(str(args.op)) or ""))


def _sizes(value: Any) -> list[int] | None:
    """The sizes of a list, or of its text; null where it is empty, cut or holds anything else."""
    text = str(value)
    numbers = _NUMBER.findall(text) if _LIST.fullmatch(text) else []
    return [int(n) for n in numbers] if numbers and max(map(len, numbers)) < 19 else None


@lru_cache(maxsize=1024)
def _numbers(text: str) -> list[int]:
    return [int(n) for n in _NUMBER.findall(text) if len(n) < 9]


def _word(value: Scalar) -> str | None:
    return None if value is None or value == "" else str(value)


def _number(value: Scalar) -> int | None:
    number = integer(value)
    return None if number < 0 else number  # NONE is below 0 too


def _small(value: Scalar) -> int | None:
    number = _number(value)
    return None if number is None or number > MAX_RANK else number


def _flag(value: Scalar) -> bool | None:
    return None if value is None else str(value).lower() in ("1", "true")


def _or_none(value: int) -> int | None:
    return None if value == NONE else int(value)
