"""The annotations that are used, and the columns that they belong to."""

from __future__ import annotations

from commscope.columns import NONE

#: Annotation -> column; several are one thing in different versions.
_NUMBERS = {
    "begin_ns": "begin_ns",
    "end_ns": "end_ns",
    "corr_id": "correlation",
    "stack_id": "correlation",
    "tid": "thread",
    "stream_ID": "stream",
    "stream_id": "stream",
    "queue": "queue",
    "queue_id": "queue",
    "copy_bytes": "bytes",
    "bytes": "bytes",
    "grid_size": "grid",
    "workgroup_size": "group",
}
_TEXTS = {"agent": "agent", "src_agent": "source", "dst_agent": "target"}
#: Columns whose texts are kept, as codes.
TEXTS = frozenset(_TEXTS.values())
#: Columns that are products of numbers.
SIZES = frozenset({"grid", "group"})
#: All columns, in the order of their numbers.
COLUMNS = tuple(sorted({*_NUMBERS.values(), *_TEXTS.values()}))
_NUMBER_OF = {name: COLUMNS.index(column) for name, column in (_NUMBERS | _TEXTS).items()}


def column_of(annotation: str) -> int:
    """The number of the column that an annotation belongs to, ``NONE`` for those not used."""
    return _NUMBER_OF.get(annotation, NONE)
