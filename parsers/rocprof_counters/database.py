"""Counters in rocpd databases: ``pmc_event`` joined with the dispatches that share its event.

The tables are read, not the views over them: these join inwards, so that dispatches without a
thread go missing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from commscope.errors import CorruptTrace
from commscope.parsers.base import Progress
from commscope.parsers.json_text import json_object
from commscope.parsers.opening import Source
from commscope.parsers.rocpd_layout import Run, find_runs
from commscope.parsers.rocprof_counters.agents import facts_of_agents
from commscope.parsers.rocprof_counters.collected import Collected, places
from commscope.parsers.sqlite_file import open_database

_DISPATCHES = ("event_id", "kernel_id", "agent_id", "start", "end")
_VALUES = ("event_id", "pmc_id", "value")


def read_database(source: Source, progress: Progress) -> list[Collected]:
    """What each run in a database counted; none where it counted nothing.

    Raises CorruptTrace where it is damaged or its tables are of another schema, UsageError where
    the system does not let us read it.
    """
    with open_database(source, progress) as database:
        connection = database.connection
        found = [_collected(connection, run, source) for run in find_runs(connection)]
        return [one for one in found if one is not None]


def _rows(
    connection: sqlite3.Connection, run: Run, what: str, columns: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Rows of a table; of columns that it lacks null. None where there is no table."""
    table = run.get(what)
    if table is None:
        return iter(())
    chosen = ", ".join(table.column(column, "t") for column in columns)
    # Values that were sampled over time belong to a sample, not to a dispatch.
    where = " WHERE sample_id IS NULL" if table.has("sample_id") else ""
    return connection.execute(f"SELECT {chosen} FROM {table.sql('t')}{where}")


def _collected(connection: sqlite3.Connection, run: Run, source: Source) -> Collected | None:
    values = [
        row for row in _rows(connection, run, "pmc_event", _VALUES)
        if isinstance(row[2], (int, float)) and abs(row[2]) < np.inf
    ]  # fmt: skip
    if not values:
        return None
    if run.get("kernel_dispatch", *_DISPATCHES[:2]) is None:
        advice = "update commscope, or convert it with rocpd convert --output-format csv"
        raise CorruptTrace(f"{source.label}: its dispatches are not of a known schema; {advice}")
    by_event = {row[0]: row for row in _rows(connection, run, "kernel_dispatch", _DISPATCHES)
                if row[0] is not None}  # fmt: skip
    # What is no value of a dispatch was sampled of the whole device.
    values = [row for row in values if row[0] in by_event]
    return _joined(connection, run, by_event, values) if values else None


def _joined(
    connection: sqlite3.Connection,
    run: Run,
    by_event: Mapping[Any, tuple[Any, ...]],
    values: Sequence[tuple[Any, ...]],
) -> Collected:
    event, events = places(row[0] for row in values)
    dispatches = [by_event[key] for key in events]
    kernel, kernels = places(row[1] for row in dispatches)
    counter, counters = places(row[1] for row in values)
    symbols = _rows(connection, run, "info_kernel_symbol", ("id", "display_name", "kernel_name"))
    called = {key: shown or mangled for key, shown, mangled in symbols}
    meant = dict(_rows(connection, run, "info_pmc", ("id", "name")))
    return Collected(
        [str(called.get(key) or f"kernel {key}") for key in kernels],
        [str(meant.get(key) or f"counter {key}") for key in counters],
        kernel,
        np.array([_length(row[3], row[4]) for row in dispatches], np.float64),
        event,
        counter,
        np.array([row[2] for row in values], np.float64),
        facts_of_agents(_agents(connection, run, {row[2] for row in dispatches})),
    )


def _length(start: Any, end: Any) -> float:
    known = isinstance(start, int) and isinstance(end, int) and end > start
    return float(end - start) if known else np.nan


def _agents(
    connection: sqlite3.Connection, run: Run, used: set[Any]
) -> Iterator[Mapping[str, Any]]:
    columns = ("id", "type", "name", "product_name", "extdata")
    for key, kind, name, product, more in _rows(connection, run, "info_agent", columns):
        if key in used:
            yield {**json_object(more), "type": kind, "name": name, "product_name": product}
