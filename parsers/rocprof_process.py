"""What rocprofv3 recorded of one process, as the tables of the schema."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from commscope.parsers.device_tables import Activities, Calls, events_table, host_table
from commscope.parsers.placing import place
from commscope.parsers.rccl_arguments import Arguments
from commscope.parsers.rccl_calls import collectives_of
from commscope.parsers.words import Words


@dataclass(frozen=True, slots=True)
class Process:
    """Activities and calls of a process; names are codes of the words."""

    activities: Activities
    calls: Calls
    words: Words
    arguments: Arguments = field(default_factory=Arguments)  #: of calls of RCCL


@dataclass(frozen=True, slots=True)
class ProcessTables:
    """PARSED_EVENTS, PARSED_HOST and PARSED_COLLECTIVES, and what a user must know of them."""

    events: pa.Table
    host: pa.Table
    collectives: pa.Table
    notes: tuple[str, ...]


def tables_of(process: Process) -> ProcessTables:
    """The tables of a process: its activities on GPUs, with their calls and collectives."""
    placed = place(process.activities)
    activities = placed.activities
    return ProcessTables(
        events_table(activities, process.words),
        host_table(process.calls, activities.correlation, process.words),
        collectives_of(activities, process.calls, process.words, process.arguments),
        placed.notes,
    )
