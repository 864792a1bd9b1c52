"""results.db: kernels, copies, calls and markers, linked by the number of the call."""

from __future__ import annotations

import sqlite3

import numpy as np

from commscope.columns import NONE, Int64
from commscope.errors import CorruptTrace
from commscope.parsers.base import Health, Input, Progress
from commscope.parsers.device_tables import (
    COPY,
    KERNEL,
    Activities,
    Calls,
    joined,
    no_activities,
    no_calls,
)
from commscope.parsers.opening import Source
from commscope.parsers.placing import UNKNOWN
from commscope.parsers.rocprof_domains import kinds_of_calls
from commscope.parsers.rocprof_process import Process
from commscope.parsers.rocprof_v1.recorded import FORMAT, Recorded, copy_names, kernel_names
from commscope.parsers.sqlite_fetch import Fetched, Query, fetch
from commscope.parsers.sqlite_file import open_database
from commscope.parsers.words import Words

#: Columns that all tables of rocprof have, by meaning.
_COLUMNS = {"name": "Name", "start": "BeginNs", "end": "EndNs", "pid": "pid", "thread": "tid"}
_MORE = {"device": "dev-id", "queue": "queue-id", "stream": "stream-id", "correlation": "Index"}
_ACTIVITIES = {"OPS": KERNEL, "COPY": COPY}
_CALLS = ("HIP", "HSA", "rocTX")


def read_database(source: Source, progress: Progress) -> Recorded:
    """Reads a file; raises CorruptTrace where it is damaged or holds nothing."""
    words = Words()
    with open_database(source, progress) as database:
        connection = database.connection
        of_device = {table: _fetched(connection, table) for table in _ACTIVITIES}
        of_host = {table: _fetched(connection, table) for table in _CALLS}
        stored = Input(source.label, FORMAT, database.sha256, database.bytes)
    if not any(map(len, (*of_device.values(), *of_host.values()))):
        raise CorruptTrace(f"{source.label}: holds no kernel, no copy and no call; record again")
    activities = [_activities(found, _ACTIVITIES[of], words) for of, found in of_device.items()]
    calls = [_calls(found, of, words) for of, found in of_host.items()]
    process = Process(joined([no_activities(), *activities]), joined([no_calls(), *calls]), words)
    pids = [found.numbers("pid") for found in (*of_device.values(), *of_host.values())]
    rows = len(process.activities.name) + len(process.calls.name)
    return Recorded(stored, process, np.concatenate(pids), Health(events_read=rows))


def _fetched(connection: sqlite3.Connection, table: str) -> Fetched:
    """A table's rows; nothing where it is missing, as all are that were not traced."""
    there = {row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')}
    if not there.issuperset(("Name", "BeginNs", "EndNs")):
        return Fetched()
    columns = {
        meaning: f'"{name}"' if name in there else "NULL"
        for meaning, name in (_COLUMNS | _MORE).items()
    }
    return fetch(connection, Query(columns, f'"{table}"'))


def _names(found: Fetched, words: Words) -> Int64:
    if not len(found):
        return np.empty(0, np.int64)
    codes = found.texts("name", words)
    return np.where(codes == NONE, words["unnamed"], codes)


def _activities(found: Fetched, kind: int, words: Words) -> Activities:
    name, device = _names(found, words), found.numbers("device")
    stream, queue = found.numbers("stream"), found.numbers("queue")
    return Activities(
        kind=np.full(len(found), kind, np.int64),
        name=copy_names(name, words) if kind == COPY else kernel_names(name, words),
        device=np.where((device >= 0) & (device < 1 << 31), device, UNKNOWN),
        stream=np.where(stream == NONE, queue, stream),
        queue=queue,
        start_ns=found.numbers("start"),
        end_ns=found.numbers("end"),
        correlation=found.numbers("correlation"),
        bytes=found.numbers("bytes"),
        workgroups=found.numbers("workgroups"),
    )


def _calls(found: Fetched, table: str, words: Words) -> Calls:
    name = _names(found, words)
    domain = np.full(len(found), words[table], np.int64)
    return Calls(
        kind=kinds_of_calls(domain, name, words) if len(found) else domain,
        name=name,
        thread=found.numbers("thread"),
        start_ns=found.numbers("start"),
        end_ns=found.numbers("end"),
        # Other domains count their calls anew: only those of HIP start activities.
        correlation=found.numbers("correlation") if table == "HIP" else found.numbers("none"),
    )
