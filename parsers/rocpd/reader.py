"""Reads one rocpd database: a Reading for each process of each of its runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from commscope.columns import NONE
from commscope.errors import CorruptTrace, FormatError
from commscope.parsers.base import Facts, Health, Input, Progress, Reading
from commscope.parsers.device_tables import joined
from commscope.parsers.kineto.rows import Words
from commscope.parsers.opening import Source
from commscope.parsers.rocpd import select
from commscope.parsers.rocpd.calls import is_marker
from commscope.parsers.rocpd.info import Info, read_info
from commscope.parsers.rocpd.layout import Run, find_runs
from commscope.parsers.rocpd.rows import Rows
from commscope.parsers.rocprof_process import Process, tables_of
from commscope.parsers.sqlite_fetch import Fetched, Query, fetch
from commscope.parsers.sqlite_file import Database, open_database

_SCHEMA = "schema_version"
_WHAT = {"kernel_dispatch": "kernels", "memory_copy": "copies", "region": "calls of the host"}


def read_rocpd(source: Source, progress: Progress) -> Iterator[Reading]:
    """Reads a database.

    Raises CorruptTrace where it is damaged, unfinished or has no rows, FormatError where its
    schema is not known.
    """
    with open_database(source, progress) as database:
        runs = find_runs(database.connection)
        infos = [read_info(database.connection, run) for run in runs]
        file = Input(source.label, "rocpd", database.sha256, database.bytes)
        readings = [
            reading
            for run, info in zip(runs, infos)
            for reading in _read_run(database, run, info, file)
        ]
    if not readings:
        raise _nothing(source.label, infos)
    yield from readings


def _nothing(label: str, infos: Sequence[Info]) -> FormatError:
    """The error for a database without rows."""
    versions = sorted({info.metadata[_SCHEMA] for info in infos if _SCHEMA in info.metadata})
    strange = [version for version in versions if not version.startswith("3")]
    if strange:
        reason = f"its tables are of schema version {strange[0]}, which cannot be read"
        return FormatError(f"{label}: {reason}; update commscope, or convert it with rocpd convert")
    reason = "it holds no kernel, no copy and no call: its writer did not finish"
    return CorruptTrace(f"{label}: {reason}; record again")


def _read_run(database: Database, run: Run, info: Info, file: Input) -> Iterator[Reading]:
    """A reading for each process of a run; devices and host are fetched side by side."""
    words = Words()
    rows = Rows(info, words)
    markers = [key for key, text in info.strings.items() if is_marker(text)]
    with ThreadPoolExecutor(1, "commscope-rocpd") as thread:
        of_host = (select.regions(run), select.instants(run, markers))
        fetching = thread.submit(_fetch_all, database.second, of_host)
        kernels, copies = _fetch_all(
            database.connection, (select.dispatches(run), select.copies(run))
        )
        regions, instants = fetching.result()
    messages = _fetch_all(database.connection, [select.event_messages(run, markers)])[0]
    activities = [rows.kernels(kernels), rows.copies(copies)]
    calls = [rows.calls(regions, messages), rows.calls(instants, messages)]
    owners = {pair for part in activities for pair in part.owners()}
    owners |= {pair for part in calls for pair in part.owners()}
    for owner in sorted(owners):
        mine = joined([part.of(*owner) for part in activities])
        made = joined([part.of(*owner) for part in calls])
        yield _reading(file, _facts(info, *owner), _missing(run), Process(mine, made, words))


def _fetch_all(connection: sqlite3.Connection, queries: Sequence[Query | None]) -> list[Fetched]:
    """What the queries give; nothing for one that the run has no tables for."""
    return [Fetched() if query is None else fetch(connection, query) for query in queries]


def _reading(file: Input, facts: Facts, lacks: Sequence[str], process: Process) -> Reading:
    tables = tables_of(process)
    return Reading(
        input=file,
        facts=facts,
        health=Health(
            events_read=len(process.activities.name) + len(process.calls.name),
            notes=(*lacks, *tables.notes),
        ),
        events=tables.events,
        host=tables.host,
        collectives=tables.collectives,
    )


def _missing(run: Run) -> tuple[str, ...]:
    """A sentence on what an unfinished database lacks altogether."""
    views = {"kernel_dispatch": "kernels", "memory_copy": "memory_copies", "region": "regions"}
    lacks = [name for what, name in _WHAT.items() if not (run.get(what) or run.get(views[what]))]
    notes = [f"the database has no table of {', '.join(lacks)}"] if lacks else []
    if run.get("region", "event_id") is not None and run.get("event", "stack_id") is None:
        notes.append("the database has no table of events: launches are not known")
    return tuple(notes)


def _facts(info: Info, nid: int, pid: int) -> Facts:
    gpus = [agent for agent in info.agents.values() if agent.is_gpu and agent.product]
    version = info.metadata.get(_SCHEMA)
    return Facts(
        host=info.hosts.get(nid),
        pid=info.pids.get(pid, None if pid == NONE else pid),
        gpus={gpu.number: gpu.product for gpu in gpus},
        gpu_names=tuple(gpu.product for gpu in gpus),
        is_rocm=True,
        versions={"rocpd_schema": version} if version else {},
    )
