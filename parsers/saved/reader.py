"""Readings to files, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from commscope.columns import int64
from commscope.errors import CorruptTrace
from commscope.parsers.base import Progress, Reading
from commscope.parsers.bounded import read_whole
from commscope.parsers.opening import Source
from commscope.parsers.saved.documents import (
    MOST_BYTES,
    READING,
    READING_SCHEMA,
    READING_TABLES,
    Described,
    ReadingDocument,
    document_bytes,
    document_of,
    part_of,
)
from commscope.parsers.saved.tables import MOST_BYTES as MOST_TABLE_BYTES
from commscope.parsers.saved.tables import parquet_of, stamp_of, table_in
from commscope.schema import PARSED_COLLECTIVES, PARSED_EVENTS, PARSED_HOST

_SCHEMAS = {"events": PARSED_EVENTS, "host": PARSED_HOST, "collectives": PARSED_COLLECTIVES}


def reading_files(reading: Reading, name: str) -> dict[str, bytes]:
    """The reading as files, whose names begin with the one given."""
    tables: dict[str, pa.Table] = {table: getattr(reading, table) for table in READING_TABLES}
    files = {f"{name}.{table}.parquet": parquet_of(rows) for table, rows in tables.items()}
    stamps = {
        table: stamp_of(rows, files[f"{name}.{table}.parquet"]) for table, rows in tables.items()
    }
    document = ReadingDocument(READING_SCHEMA, Described.of(reading), stamps)
    return {**files, f"{name}.{READING}": document_bytes(document)}


def read_reading(source: Source, progress: Progress) -> Reading:
    """The reading of a source with its companions.

    Raises CorruptTrace where a file is missing or damaged, FormatError where one is too large.
    """
    parts = _parts((source, *source.companions))
    if READING not in parts:
        name = (part_of(source.label) or (source.label,))[0]
        raise CorruptTrace(
            f"{source.label}: {name}.{READING} is missing, which belongs to it; copy the whole run"
        )
    label = parts[READING].label
    document = document_of(
        read_whole(parts[READING], MOST_BYTES), ReadingDocument, READING_SCHEMA, label
    )
    tables = {
        name: _table(name, document, parts, (progress,) if parts.get(name) is source else ())
        for name in READING_TABLES
    }
    _require_events(tables, label)
    return document.reading.with_tables(**tables)


def _parts(sources: Iterable[Source]) -> dict[str, Source]:
    """The files by what they are: a name of a table, or the document, whatever it is called."""
    found = [(part_of(source.label), source) for source in sources]
    return {READING if part is None else part[1]: source for part, source in found}


def _table(
    name: str, document: ReadingDocument, parts: Mapping[str, Source], told: tuple[Progress, ...]
) -> pa.Table:
    if name not in parts or name not in document.tables:
        raise CorruptTrace(
            f"{parts[READING].label}: its table of {name} is missing; copy the whole run"
        )
    data = read_whole(parts[name], MOST_TABLE_BYTES, *told)
    return table_in(data, _SCHEMAS[name], document.tables[name], parts[name].label)


def _require_events(tables: Mapping[str, pa.Table], label: str) -> None:
    """Raises CorruptTrace where a collective names an event that is not there."""
    event, rows = int64(tables["collectives"], "event"), tables["events"].num_rows
    if len(event) and not (event.min() >= 0 and event.max() < rows):
        raise CorruptTrace(
            f"{label}: a collective is of none of its {rows:,} events; save it again"
        )
