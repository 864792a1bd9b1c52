"""What the log of the library tells of collectives of which the trace tells too little.

The calls that a process logged and the communication kernels that it ran are in one order. Where
that allows only one operation, size or communicator for a kernel, it is filled in; else it stays
unknown. See ``log_fits`` for what else has to be so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.columns import NONE, Bool, Int64, codes, int64, nullable, where_equal, with_column
from commscope.normalize.library_kernels import LibraryKernels
from commscope.normalize.log_fits import Fit, fit
from commscope.normalize.log_groups import FACTS, LoggedGroups, rows_of_groups
from commscope.normalize.logged_communicators import group_communicators
from commscope.normalize.logged_processes import match_processes
from commscope.normalize.logged_units import MESSAGES, Units, units_of
from commscope.normalize.stretches import Effort
from commscope.schema import COLLECTIVES, conform
from commscope.trace import Note, Trace

#: Element types as torch calls them.
_DTYPES = {
    "int8": "Char", "uint8": "Byte", "int32": "Int", "uint32": "UInt32", "int64": "Long",
    "uint64": "UInt64", "float16": "Half", "float32": "Float", "float64": "Double",
    "bfloat16": "BFloat16", "float8_e4m3": "Float8_e4m3fn", "float8_e5m2": "Float8_e5m2",
}  # fmt: skip

#: What else is filled in does not make the log the source of a row.
_SAYS_WHICH = {"op", "bytes", "comm"}


@dataclass(frozen=True, slots=True)
class _Named:
    """Kernels of one rank, as rows of COLLECTIVES, and the calls that they are."""

    rows: Int64
    units: Units
    fit: Fit

    @property
    def comms(self) -> Int64:
        """The row of COMMS of each kernel; -1 where it is not known."""
        return np.where(self.fit.agreed["comm"], self.units.comm[self.fit.unit], -1)


def name_by_log(trace: Trace, logs: Mapping[str, pa.Table]) -> Trace:
    """The trace with what its logs tell of collectives, and a note on how many of them.

    ``logs`` are tables of ``log_schema``, of which COMMS and CALLS are read.
    """
    comms, calls = logs["COMMS"], logs["CALLS"]
    lacking = _lacking(trace.collectives)
    is_alone = codes(trace.collectives, "comm")[0] < 0
    if not calls.num_rows or not (lacking | is_alone).any():
        return trace
    of_row, ranks = group_communicators(comms).of_row, trace.ranks.column("rank").to_pylist()
    found = match_processes(trace, comms, np.flatnonzero(np.array(of_row) == 0).tolist())
    groups = LoggedGroups(comms.to_pylist(), of_row, dict(zip(ranks, found.comms)))
    named = list(_all_named(trace, groups, calls))
    shown = rows_of_groups(trace.collectives, [(one.rows, one.comms) for one in named], of_row)
    facts = groups.named(shown, trace.collectives)
    numbers = _numbers_in_group(trace.collectives, named, of_row)
    collectives = _written(trace.collectives, named, facts, numbers)
    count = int((lacking & ~_lacking(collectives)).sum())
    says = (
        f"the log names {count:,} of {int(lacking.sum()):,} collectives whose operation or size "
        "the trace does not tell"
    )
    notes = (Note("files", says),) if lacking.any() else ()
    return replace(trace, collectives=collectives, notes=(*trace.notes, *notes))


def _lacking(collectives: pa.Table) -> Bool:
    """Which collectives lack operation or size; a barrier has none."""
    size, op = int64(collectives, "bytes"), codes(collectives, "op")[0]
    is_barrier = where_equal(collectives, "op", "barrier")
    return np.asarray((op < 0) | ((size == NONE) & ~is_barrier))


def _all_named(trace: Trace, groups: LoggedGroups, calls: pa.Table) -> Iterator[_Named]:
    """What is known of each rank that has a process in the logs."""
    kernels = LibraryKernels(trace)
    comm, sizes = int64(calls, "comm"), [row["nranks"] for row in groups.comms]
    damaged = {file.rank for file in trace.files if file.events_lost}
    for rank, comms in groups.of_rank.items():
        if damaged & {rank, None}:
            continue
        own = calls.filter(pa.array(np.isin(comm, comms)))
        rows = kernels.of_rank(rank)
        # Of lines in several files the order is not known.
        if len(rows) and own.num_rows and len(set(own.column("file").unique().to_pylist())) == 1:
            yield from _named(kernels, rows, units_of(own, sizes))


def _named(kernels: LibraryKernels, rows: Int64, units: Units) -> list[_Named]:
    """What the kernels of a rank are: in the order of all, else stream by stream."""
    effort = Effort()
    order = kernels.launched(rows)
    if order is not None:
        found = _fitting(kernels, order, [units], effort, one_to_one=kernels.has_streams)
        if found:
            return found
    streams = [units.take(np.flatnonzero(units.stream == one)) for one in np.unique(units.stream)]
    if len(streams) > 1 and not kernels.has_streams:
        return []
    of_lanes = (
        _fitting(kernels, lane, streams, effort, one_to_one=False) for lane in kernels.lanes(rows)
    )
    return list(chain.from_iterable(of_lanes))


def _fitting(
    kernels: LibraryKernels,
    rows: Int64,
    candidates: list[Units],
    effort: Effort,
    *,
    one_to_one: bool,
) -> list[_Named]:
    """What kernels in this order are, part by part where some are missing."""
    parts = kernels.without_holes(rows)
    found = [fit(kernels.shown(part), candidates, effort, one_to_one=one_to_one) for part in parts]
    return [_Named(part, *one) for part, one in zip(parts, found) if one is not None]


def _numbers_in_group(
    collectives: pa.Table, named: Sequence[_Named], of_row: Sequence[int]
) -> list[Int64]:
    """The number of each kernel's operation, which all members share, or ``NONE``.

    Those of a communicator are used where all are known and metadata has no others. Messages are
    numbered too, but not on all members.
    """
    told, groups = int64(collectives, "seq"), np.array([*of_row, -1], np.int64)
    unusable, numbers = set[int](), []
    for one in named:
        units, number = one.units, one.units.opcount[one.fit.unit]
        numbers.append(number)
        is_message = np.array([word in MESSAGES for word in units.words])[units.op]
        unusable.update(groups[units.comm[is_message]].tolist())
        is_other = (told[one.rows] != NONE) | (number == NONE)
        if not one.fit.is_only or not (number > 0).any():
            is_other[:] = True
        unusable.update(groups[one.comms[is_other]].tolist())
    out = np.array(sorted(unusable | {-1}), np.int64)
    return [np.where(np.isin(groups[one.comms], out), NONE, n) for one, n in zip(named, numbers)]


def _written(
    collectives: pa.Table, named: Sequence[_Named], groups: pa.Table, numbers: Sequence[Int64]
) -> pa.Table:
    """COLLECTIVES with what is known of kernels where nothing was; a name tells least."""
    if not named:
        return collectives
    place = np.full(collectives.num_rows, -1, np.int64)
    rows = np.concatenate([one.rows for one in named])
    place[rows] = np.arange(len(rows))
    by_name = pa.array(where_equal(collectives, "source", "name"))
    without_group = collectives.column("comm").combine_chunks().is_null()
    changed = np.zeros(collectives.num_rows, np.bool_)
    facts = _facts(named, groups) | {"seq": nullable(np.concatenate(numbers))}
    for name, values in facts.items():
        old, new = _plain(collectives, name), values.take(pa.array(place, mask=place < 0))
        is_open = without_group if name in FACTS else old.is_null()
        if name == "op":
            is_open = pc.or_(is_open, pc.and_(by_name, pc.not_equal(old, new).fill_null(False)))
        used = pc.and_(is_open, new.is_valid())
        if name in _SAYS_WHICH:
            changed |= used.to_numpy(zero_copy_only=False)
        collectives = _with(collectives, name, pc.if_else(used, new, old))
    source = pc.if_else(pa.array(changed), "log", _plain(collectives, "source"))
    return conform(_with(collectives, "source", source), COLLECTIVES, "collectives")


def _plain(table: pa.Table, name: str) -> pa.Array:
    """A column, words as text."""
    column = table.column(name).combine_chunks()
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    is_text = pa.types.is_dictionary(table.schema.field(name).type)
    return with_column(table, name, values.dictionary_encode() if is_text else values)


def _facts(named: Sequence[_Named], groups: pa.Table) -> dict[str, pa.Array]:
    """What is known of all kernels, as columns of COLLECTIVES."""
    found = [
        {
            "op": _words(one, "op", {word: word for word in one.units.words}),
            "dtype": _words(one, "dtype", _DTYPES),
            "bytes": _numbers(one, "bytes"),
        }
        for one in named
    ]
    columns = {name: pa.concat_arrays([of[name] for of in found]) for name in found[0]}
    comms = np.concatenate([one.comms for one in named])
    of_group = groups.take(pa.array(comms, mask=comms < 0))
    return columns | {name: of_group.column(name).combine_chunks() for name in FACTS}


def _words(one: _Named, name: str, called: Mapping[str, str]) -> pa.Array:
    code = np.where(one.fit.agreed[name], getattr(one.units, name)[one.fit.unit], -1)
    return pa.array([called.get(word) for word in one.units.words]).take(
        pa.array(code, mask=code < 0)
    )


def _numbers(one: _Named, name: str) -> pa.Array:
    values = getattr(one.units, name)[one.fit.unit]
    return pa.array(values, mask=~one.fit.agreed[name] | (values == NONE))
