"""Reading one file with the parser chosen for it, and holding that parser to the contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa

from commscope.columns import int64
from commscope.errors import FormatError, SchemaError, UsageError
from commscope.parsers.base import Parser, Progress, Reading
from commscope.parsers.opening import Source
from commscope.schema import PARSED_COLLECTIVES, PARSED_EVENTS, PARSED_HOST, conform

#: Called with (file, number of the file from 1, number of files, bytes read, bytes in all or null).
RunProgress = Callable[[str, int, int, int, "int | None"], None]

#: What became of a file. Between processes the error is pickled: it holds its message only.
Outcome: TypeAlias = "list[Reading] | FormatError | UsageError"

_TABLES = {"events": PARSED_EVENTS, "host": PARSED_HOST, "collectives": PARSED_COLLECTIVES}


def silent(file: str, number: int, files: int, done: int, total: int | None) -> None:
    """Reports nothing."""


def progress_of(progress: RunProgress, source: Source, number: int, files: int) -> Progress:
    """The progress of one file of a run."""

    def report(done: int, total: int | None) -> None:
        progress(source.label, number, files, done, total)

    return report


def read_source(source: Source, parser: Parser, progress: Progress) -> list[Reading]:
    """The file's readings.

    Raises FormatError or UsageError where the file cannot be read, SchemaError where the parser
    gives anything but the tables of ``commscope.schema.PARSED_*``.
    """
    return [conform_reading(reading, parser.name) for reading in parser.read(source, progress)]


def try_source(source: Source, parser: Parser, progress: Progress) -> Outcome:
    """The file's readings, or why it cannot be read; raises SchemaError as ``read_source``."""
    try:
        return read_source(source, parser, progress)
    except (FormatError, UsageError) as error:
        return error


def conform_reading(reading: Reading, parser: str) -> Reading:
    """The reading itself; raises SchemaError, naming parser and column, where it is not valid."""
    for name, schema in _TABLES.items():
        table = getattr(reading, name, None)
        if not isinstance(table, pa.Table):
            raise SchemaError(f"parser {parser}: {name} is no Arrow table; tell its authors")
        conform(table, schema, f"parser {parser}: {name}")
    event = int64(reading.collectives, "event")
    rows = reading.events.num_rows
    if len(event) and not (event.min() >= 0 and event.max() < rows):
        raise SchemaError(
            f"parser {parser}: collectives.event: {event.min()} to {event.max()} are not all among "
            f"the {rows} rows of events"
        )
    return reading
