"""Writes a LogicalTrace as rocprofv3 writes rocpd: a table a run, and views over them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from logical_trace import LogicalTrace

from commscope.generator.rocprofv3.rocpd_database import (
    NODE,
    RUN,
    VIEWS,
    RocpdWriter,
    write_process,
)

#: What no report may ever show.
SECRET = "hunter2-of-the-environment"
ENVIRONMENT = json.dumps({"TOKEN": SECRET})


def write_rocpd(
    path: Path,
    *traces: LogicalTrace,
    run: str = RUN,
    version: str = "3",
    drop: Iterable[str] = (),
    renamed: bool = False,
    environment: str | Mapping[int, str] = ENVIRONMENT,
    arguments: Mapping[int, Mapping[str, str]] = MappingProxyType({}),
) -> Path:
    """Writes processes into one database.

    ``environment`` is the JSON text that each process has, or of each by its pid. ``arguments`` are
    those of calls, by correlation. ``drop`` names tables and views to remove again. ``renamed``
    gives the columns of tables that a later schema moves elsewhere other names, so that only the
    views have them.
    """
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = OFF")
    writer = RocpdWriter(database, run, arguments)
    writer.create()
    writer.insert("metadata", tag="schema_version", value=version)
    for trace in traces:
        says = environment if isinstance(environment, str) else environment[trace.pid]
        _write(writer, trace, says)
    for name in drop:
        kind = "VIEW" if name in VIEWS else "TABLE"
        database.execute(f"DROP {kind} {name if kind == 'VIEW' else writer.table(name)}")
    for what in ("kernel_dispatch", "memory_copy", "region") if renamed else ():
        database.execute(f"ALTER TABLE {writer.table(what)} RENAME COLUMN pid TO moved_pid")
    database.commit()
    database.close()
    return path


def add_run(path: Path, trace: LogicalTrace, run: str) -> None:
    """Adds a run of its own tables to a database, as merging two of them does."""
    database = sqlite3.connect(path)
    writer = RocpdWriter(database, run)
    writer.create()
    _write(writer, trace, ENVIRONMENT)
    database.commit()
    database.close()


def _write(writer: RocpdWriter, trace: LogicalTrace, environment: str) -> None:
    write_process(writer, trace, command=f"train --key {SECRET}", environment=environment)


def add_mark(path: Path, trace: LogicalTrace, message: str, at_ns: int) -> None:
    """Adds an instant (roctxMark), which rocpd keeps as a sample."""
    database = sqlite3.connect(path)
    writer = RocpdWriter(database, RUN)
    writer.strings = dict(
        database.execute(f"SELECT string, id FROM {writer.table('string')}").fetchall()
    )
    track = writer.insert("track", nid=NODE, pid=trace.pid, tid=101, name_id=None)
    says = json.dumps({"message": message})
    event = writer.event("MARKER_CORE_RANGE_API", 999, extdata=says)
    writer.insert("sample", track_id=track, timestamp=at_ns, event_id=event)
    database.commit()
    database.close()
