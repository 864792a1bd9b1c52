"""Which collective a kernel runs, where an annotation around its launch says so.

An annotation is the profiler's own (``nccl:all_reduce``), or one that the program or a framework
made with ``record_function``, roctx or NVTX. The innermost one counts that names an operation.
Those of ``commscope generate`` tell the size, too (``csg.coll;seq=12;op=all_reduce;bytes=1024``).
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.classify import canonical_op
from commscope.columns import NONE, Int64, at, codes, int64, nullable, where_equal, with_column
from commscope.intervals import innermost
from commscope.normalize.launches import call_of
from commscope.normalize.parts import Tables

Objects = npt.NDArray[np.object_]

#: What names an operation wherever it stands; shorter words, such as reduce, mean other things too.
_NAMED = tuple(
    (op, re.compile(rf"(?<![a-z]){pattern}(?![a-z])"))
    for op, pattern in (
        ("all_reduce", r"all[_ -]?reduce"),
        ("all_gather", r"all[_ -]?gather(?:v|[_ -]?into[_ -]?tensor)?"),
        ("reduce_scatter", r"reduce[_ -]?scatter(?:v|[_ -]?tensor)?"),
        ("all_to_all", r"all[_ -]?to[_ -]?all(?:v|[_ -]?single)?"),
        ("broadcast", r"broadcast"),
        ("send_recv", r"send[_ -]?recv"),
    )
)
#: A range around all that is done until, or meanwhile, rather than around the operation.
_AROUND = re.compile(
    r"(?<![a-z])(?:wait|waiting|pre|post|before|after|overlap|overlapped|without|no|skip)(?![a-z])"
)
_OF_LIBRARY = re.compile(r"\s*(?:(?:nccl|rccl|c10d):|nccl[A-Z])")
_GENERATED = re.compile(r"csg\.coll;(?:seq=\d{1,18};)?op=(\w+);bytes=(\d{1,18})(?!\d)")
_LONGEST = 300


def op_of_marker(text: str) -> str | None:
    """The one operation that the text of an annotation names; null where it names none or several.

    >>> op_of_marker("nccl:_all_gather_base"), op_of_marker("RCCL allreduce of bucket 3")
    ('all_gather', 'all_reduce')
    """
    generated = _GENERATED.match(text)
    if generated:
        return canonical_op(generated[1])
    if _OF_LIBRARY.match(text):
        return canonical_op(text)
    words = text[:_LONGEST].lower()
    found = {op for op, pattern in _NAMED if pattern.search(words)}
    return found.pop() if len(found) == 1 and not _AROUND.search(words) else None


def name_by_markers(tables: Tables) -> Tables:
    """The tables with the operation, and size, of collectives that nothing else tells."""
    told = tables.collectives
    op, words = codes(told, "op")
    size = int64(told, "bytes").copy()
    lacking = np.flatnonzero((op < 0) | (size == NONE))
    if not len(lacking):
        return tables
    events = tables.events.select(["correlation"]).take(told.column("event").take(lacking))
    calls = call_of(int64(events, "correlation"), tables.host)
    found, sizes = _told_around(tables.host, calls)
    ops = np.array([*words, None], object)[op]
    is_new = (op[lacking] < 0) & (found != None)  # noqa: E711 - of an array
    ops[lacking[is_new]] = found[is_new]
    is_sized = (size[lacking] == NONE) & (sizes != NONE) & (ops[lacking] == found)
    if not (is_new | is_sized).any():
        return tables
    size[lacking[is_sized]] = sizes[is_sized]
    source = np.array(told.column("source").to_pylist(), object)
    source[lacking[is_new]] = "annotation"
    told = with_column(told, "op", _encoded(ops))
    told = with_column(told, "bytes", nullable(size))
    return replace(tables, collectives=with_column(told, "source", _encoded(source)))


def _encoded(words: Objects) -> pa.Array:
    return pa.array(words.tolist(), pa.string()).dictionary_encode()


def _told_around(host: pa.Table, calls: Int64) -> tuple[Objects, Int64]:
    """Operation (else null) and size (else ``NONE``) by the annotations around each call.

    A call of -1 is none.
    """
    name, words = codes(host, "name")
    ops = np.array([*map(op_of_marker, words), None], object)
    sizes = np.array([*map(_size_of_marker, words), NONE], np.int64)
    is_naming = np.array([op is not None for op in ops], np.bool_)
    start, duration = int64(host, "start_ns"), int64(host, "dur_ns")
    thread, time = int64(host, "thread"), at(start, calls, NONE)
    naming = np.flatnonzero(where_equal(host, "kind", "annotation") & is_naming[name])
    found = np.full(len(calls), -1, np.int64)
    of_call = at(thread, calls, NONE)
    for one in np.unique(thread[naming]).tolist():
        mine, over = np.flatnonzero(of_call == one), naming[thread[naming] == one]
        if one != NONE and len(mine):
            inner = innermost(time[mine], start[over], start[over] + duration[over])
            found[mine] = at(name[over], inner, -1)
    return ops[found], sizes[found]


def _size_of_marker(text: str) -> int:
    generated = _GENERATED.match(text)
    return int(generated[2]) if generated else NONE
