"""Reads one rocpd database: a Reading for each process of each of its runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commscope.columns import NONE
from commscope.parsers.base import Facts, Health, Input, Progress, Reading
from commscope.parsers.device_tables import joined
from commscope.parsers.opening import Source
from commscope.parsers.rccl_arguments import Arguments
from commscope.parsers.rocpd import select
from commscope.parsers.rocpd.arguments import RcclCalls
from commscope.parsers.rocpd.calls import is_marker
from commscope.parsers.rocpd.environment import Place
from commscope.parsers.rocpd.info import Info, read_info
from commscope.parsers.rocpd.lacking import notes_on, nothing_in
from commscope.parsers.rocpd.rows import Rows
from commscope.parsers.rocpd_layout import Run, find_runs, has_rpd
from commscope.parsers.rocprof_process import Process, tables_of
from commscope.parsers.sqlite_fetch import fetch_all
from commscope.parsers.sqlite_file import Database, open_database
from commscope.parsers.words import Words


def read_rocpd(source: Source, progress: Progress) -> Iterator[Reading]:
    """Reads a database.

    Raises CorruptTrace where it is damaged, unfinished or has no rows, FormatError where its
    schema is not known.
    """
    with open_database(source, progress) as database:
        runs = find_runs(database.connection)
        is_rpd = has_rpd(database.connection)
        infos = [read_info(database.connection, run) for run in runs]
        found = [
            process for run, info in zip(runs, infos) for process in _read_run(database, run, info)
        ]
        file = Input(source.label, "rocpd", database.sha256, database.bytes)
    if not found:
        raise nothing_in(source.label, infos, is_rpd=is_rpd)
    for one in found:
        yield _reading(file, one)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a run holds of a process, and what it lacks."""

    facts: Facts
    process: Process
    lacks: Sequence[str]


def _read_run(database: Database, run: Run, info: Info) -> Iterator[_Found]:
    """Each process of a run."""
    words = Words()
    rows = Rows(info, words)
    markers = [key for key, text in info.strings.items() if is_marker(text)]
    connections = (database.connection, database.second)
    regions, kernels, copies, instants, messages = fetch_all(
        connections,
        (
            *(select.regions(run), select.dispatches(run), select.copies(run)),
            *(select.instants(run, markers), select.event_messages(run, markers)),
        ),
    )
    activities = [rows.kernels(kernels), rows.copies(copies)]
    calls = [rows.calls(regions, messages), rows.calls(instants, messages)]
    rccl = RcclCalls.of(regions, rows.of_rccl(regions))
    [arguments] = fetch_all(connections, [select.arguments(run, rccl.event)])
    owners = {pair for part in activities for pair in part.owners()}
    owners |= {pair for part in calls for pair in part.owners()}
    for owner in sorted(owners):
        mine = joined([part.of(*owner) for part in activities])
        made = joined([part.of(*owner) for part in calls])
        facts = _facts(info, *owner)
        said = Arguments(rccl.arguments(arguments, *owner), facts.rank, facts.world_size)
        yield _Found(facts, Process(mine, made, words, said), notes_on(run, info))


def _reading(file: Input, found: _Found) -> Reading:
    process = found.process
    tables = tables_of(process)
    return Reading(
        input=file,
        facts=found.facts,
        health=Health(
            events_read=len(process.activities.name) + len(process.calls.name),
            notes=(*found.lacks, *tables.notes),
        ),
        events=tables.events,
        host=tables.host,
        collectives=tables.collectives,
    )


def _facts(info: Info, nid: int, pid: int) -> Facts:
    gpus = [agent for agent in info.agents.values() if agent.is_gpu and agent.product]
    place = info.places.get(pid, Place())
    return Facts(
        rank=place.rank,
        local_rank=place.local_rank,
        world_size=place.world_size,
        host=info.hosts.get(nid),
        pid=info.pids.get(pid, None if pid == NONE else pid),
        gpus={gpu.number: gpu.product for gpu in gpus},
        gpu_names=tuple(gpu.product for gpu in gpus),
        is_rocm=True,
        versions={"rocpd_schema": info.schema} if info.schema else {},
    )
