"""What every activity is, and the COLLECTIVES row of every communication kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.classify import ActivityClass, Patterns, classes_of, families_of, op_from_name
from commscope.columns import Int64, codes, int64, where_equal, with_column
from commscope.normalize.parts import Tables
from commscope.schema import COLLECTIVES, Flag, conform


@dataclass(frozen=True, slots=True)
class Classified:
    """Tables with complete COLLECTIVES, and the class of each event."""

    tables: Tables
    of_event: npt.NDArray[np.uint8]


def classify(tables: Tables, patterns: Patterns) -> Classified:
    """Classes by name first, then by metadata, copies by kind; and COLLECTIVES made complete."""
    events = tables.events
    names, words = codes(events, "name")
    of_event = np.append(classes_of(words, patterns), ActivityClass.COMPUTE)[names].astype(np.uint8)
    of_event[~where_equal(events, "kind", "kernel")] = ActivityClass.COPY
    told = _told_by_metadata(tables.collectives, events.num_rows)
    doubtful = np.flatnonzero(told & (of_event == ActivityClass.COMPUTE))
    by_metadata = doubtful[_is_unknown(names[doubtful], words, patterns)]
    of_event[by_metadata] = ActivityClass.COMMUNICATION
    flags = np.asarray(events.column("flags").to_numpy()).copy()
    flags[by_metadata] |= Flag.BY_METADATA
    events = with_column(events, "flags", pa.array(flags))
    rows = np.flatnonzero(of_event == ActivityClass.COMMUNICATION)
    collectives = _complete(tables.collectives, rows, names, words, events)
    return Classified(Tables(events, tables.host, collectives), of_event)


def _is_unknown(names: Int64, words: list[str], patterns: Patterns) -> npt.NDArray[np.bool_]:
    """Which of some compute kernels, each with the code of its name, are of no known family."""
    distinct = np.unique(names)
    families = families_of([words[code] for code in distinct], patterns)
    unknown = distinct[np.array([family == "other" for family in families], np.bool_)]
    return np.isin(names, unknown)


def _told_by_metadata(collectives: pa.Table, count: int) -> npt.NDArray[np.bool_]:
    """Which events have metadata that names a collective operation."""
    told = np.zeros(count, np.bool_)
    told[int64(collectives, "event")[codes(collectives, "op")[0] >= 0]] = True
    return told


def _complete(
    known: pa.Table, rows: Int64, names: Int64, words: list[str], events: pa.Table
) -> pa.Table:
    """One row for each communication kernel: what metadata told, else what the name tells."""
    event = int64(known, "event")
    kept = known.take(pa.array(np.flatnonzero(np.isin(event, rows))))
    missing = rows[~np.isin(rows, event)]
    table = pa.concat_tables([kept, _by_name(missing, events)]).unify_dictionaries()
    table = table.take(pa.array(np.argsort(int64(table, "event"), kind="stable")))
    table = _with_ops_of_names(table.combine_chunks(), names, words)
    return conform(table, COLLECTIVES, "collectives")


def _by_name(rows: Int64, events: pa.Table) -> pa.Table:
    """COLLECTIVES of which only the kernel's name is known."""
    count = len(rows)
    filled = {
        "event": pa.array(rows),
        "rank": pa.array(int64(events, "rank")[rows].astype(np.int32)),
        "source": pa.array(["name"] * count, pa.string()).dictionary_encode(),
    }
    arrays = [filled.get(f.name, pa.nulls(count, f.type)) for f in COLLECTIVES]
    return pa.Table.from_arrays(arrays, schema=COLLECTIVES)


def _with_ops_of_names(table: pa.Table, names: Int64, words: list[str]) -> pa.Table:
    """Fills the operation from the name where metadata has none (a coalesced group)."""
    op, op_words = codes(table, "op")
    name = names[int64(table, "event")]
    told = {code: op_from_name(words[code]) for code in np.unique(name[op < 0]).tolist()}
    all_words = sorted({*op_words, *(word for word in told.values() if word is not None)})
    place = {word: code for code, word in enumerate(all_words)}
    by_name = np.full(len(words) + 1, -1)
    by_name[list(told)] = [-1 if word is None else place[word] for word in told.values()]
    moved = np.array([*(place[word] for word in op_words), -1], np.int64)[op]
    filled = np.where(op < 0, by_name[name], moved)
    indices = pa.array(filled.astype(np.int32), mask=filled < 0)
    return with_column(
        table, "op", pa.DictionaryArray.from_arrays(indices, pa.array(all_words, pa.string()))
    )
