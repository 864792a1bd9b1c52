"""What is known of collectives, as the arguments that the PyTorch profiler gives their kernels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.classify import dtype_bytes
from commscope.columns import NONE, Int64, at, codes, int64, nullable, where_equal
from commscope.convert.json_text import joined, member, number_lists, numbers, quoted

#: Stands where nothing names the operation, so that the rest is not lost.
_UNKNOWN = "unknown"
#: Stands where the element's type is unknown, or no divisor of the size.
_BYTE = "Byte"


def collective_members(collectives: pa.Table, events: int) -> pa.Array:
    """Of each event the members of its arguments that describe a collective, else nothing.

    What only the kernel's name tells is left out, as every reader finds it there.
    """
    told = collectives.filter(pa.array(~where_equal(collectives, "source", "name")))
    row = np.full(events, NONE, np.int64)
    row[int64(told, "event")] = np.arange(told.num_rows)
    return pc.fill_null(_members(told).take(nullable(row)), "")


def _members(told: pa.Table) -> pa.Array:
    width, dtype = _elements(told)
    size = int64(told, "bytes")
    count = np.where(size == NONE, NONE, size // width)
    peer = numbers(told, "peer")
    return joined(
        member("Collective name", pc.fill_null(quoted(told, "op", str), f'"{_UNKNOWN}"')),
        member("In msg nelems", _text(_share(count, told, "all_gather"))),
        member("Out msg nelems", _text(_share(count, told, "reduce_scatter"))),
        member("Group size", numbers(told, "group_size")),
        member("dtype", dtype),
        member("In split size", number_lists(told, "send_sizes")),
        member("Out split size", number_lists(told, "receive_sizes")),
        member("Process Group Name", quoted(told, "comm", str)),
        member("Process Group Description", quoted(told, "description", str)),
        member("Process Group Ranks", number_lists(told, "members")),
        member("Seq", numbers(told, "seq")),
        member("Is asynchronized op", numbers(told, "is_async")),
        member("Dst Rank", _where(peer, told, "send")),
        member("Src Rank", _where(peer, told, "recv")),
    )


def _elements(told: pa.Table) -> tuple[Int64, pa.Array]:
    """Bytes an element, and the type: bytes where those of the type do not make up the size."""
    row, words = codes(told, "dtype")
    width = at(np.array([dtype_bytes(word) or 0 for word in words], np.int64), row, missing=0)
    size = int64(told, "bytes")
    fits = (size == NONE) | ((width > 0) & (size % np.maximum(width, 1) == 0))
    dtype = quoted(told, "dtype", str)
    return np.where(fits & (width > 0), width, 1), pc.if_else(pa.array(fits), dtype, f'"{_BYTE}"')


def _share(count: Int64, told: pa.Table, op: str) -> Int64:
    """The elements, of this operation those of one member."""
    members = np.maximum(int64(told, "group_size"), 1)
    is_shared = where_equal(told, "op", op) & (count != NONE)
    return np.where(is_shared, count // members, count)


def _text(values: Int64) -> pa.Array:
    return nullable(values).cast(pa.string())


def _where(values: pa.Array, told: pa.Table, op: str) -> pa.Array:
    """The values of this operation, else null."""
    return pc.if_else(pa.array(where_equal(told, "op", op)), values, pa.scalar(None, pa.string()))
