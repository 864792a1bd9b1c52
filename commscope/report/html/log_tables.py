"""Tables of what the logs of the job add: how collectives ran, and over what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from commscope.report.html.reasons import Row
from commscope.report.html.tables import (
    UNKNOWN,
    UNKNOWN_CELL,
    Cell,
    Column,
    Show,
    Table,
    bytes_of,
    count,
    number,
    present,
    table,
    time,
    word,
    words,
)
from commscope.report.model import LogSection
from commscope.units import span
from commscope.wording import listed

_MOST_ROWS = 40


def log_tables(log: LogSection) -> list[Table]:
    """How collectives ran, the transports, the communicators, and the calls found again."""
    return present(_paths(log), _transports(log), _communicators(log), _stretches(log))


def log_notes(log: LogSection) -> list[str]:
    """What joins trace and log, and what they do not tell."""
    notes = [f"Files: {listed(log.files, 8)}; joined by {log.joined_by}.", *log.notes]
    if log.joined_by != "nothing":
        notes += _remarks(log)
    return [note[:1].upper() + note[1:] for note in dict.fromkeys(notes)]


def _remarks(log: LogSection) -> Iterator[str]:
    yield from (f"{row['communicator']}: {row['note']}" for row in log.communicators if row["note"])
    yield from (f"Where {UNKNOWN} stands, {row['note']}" for row in log.paths if row["note"])


def _paths(log: LogSection) -> Table | None:
    columns = [
        Column("operation", words("op"), is_number=False),
        Column("group", words("communicator", 28), is_number=False),
        Column("size", bytes_of("bytes")),
        Column("algorithm", _algorithm, is_number=False),
        Column("channels", words("channels")),
        Column("over", _over, is_number=False),
        Column("exposed", time("exposed_ns")),
        Column("of it waiting", _matched("exposed_wait_ns")),
        Column("transferring", _matched("exposed_transfer_ns")),
    ]
    rows = [row for row in log.paths if row["transport"] or row["algorithm"]]
    caption = "How collectives ran (all ranks together)"
    return table("paths", caption, columns, rows, most=_MOST_ROWS)


def _matched(name: str) -> Show:
    """A part of the exposed time; not known where none of it is matched."""

    def show(row: Row) -> Cell:
        unmatched = row["exposed_unmatched_ns"] == row["exposed_ns"] > 0
        return number(None if unmatched else row[name], span)

    return show


def _algorithm(row: Row) -> Cell:
    told = " ".join(filter(None, (row["algorithm"], row["protocol"])))
    others = row["choices"] - 1
    return word(told + (f" (+{others})" if others > 0 else "")) if told else UNKNOWN_CELL


def _over(row: Row) -> Cell:
    """Transport and link; a network that misses the memory of GPUs is marked."""
    told = ", ".join(filter(None, (row["transport"], row["link"])))
    direct = " without GPU direct" if row["gpu_direct"] is False else ""
    return word(told + direct) if told else UNKNOWN_CELL


def _transports(log: LogSection) -> Table | None:
    columns = [
        Column("over", _over, is_number=False),
        Column("collectives", count("collectives")),
        Column("ranks", _list("ranks"), is_number=False),
        Column("exposed", time("exposed_ns")),
        Column("of it waiting", _matched("exposed_wait_ns")),
        Column("transferring", _matched("exposed_transfer_ns")),
    ]
    return table("transports", "Exposed communication by transport", columns, log.transports)


def _communicators(log: LogSection) -> Table | None:
    columns = [
        Column("group", words("communicator", 28), is_number=False),
        Column("in the log", words("name", 28), is_number=False),
        Column("ranks", count("nranks")),
        Column("channels", _list("channels"), is_number=False),
        Column("first ring", _list("ring"), is_number=False),
        Column("network", _list("network"), is_number=False),
    ]
    return table(
        "log-groups", "Communicators of the log", columns, log.communicators, most=_MOST_ROWS
    )


def _list(name: str) -> Show:
    return lambda row: word(listed(_items(row[name]), 16), 80) if row[name] else UNKNOWN_CELL


def _items(values: list[Any]) -> list[str]:
    return [str(value) for value in values]


def _stretches(log: LogSection) -> Table | None:
    columns = [
        Column("rank", count("rank")),
        Column("group", words("communicator", 28), is_number=False),
        Column("in the trace", count("shown")),
        Column("in the log", count("logged")),
        Column("ways to fit", count("shifts")),
    ]
    rows = [row for row in log.stretches if row["logged"]]
    note = "One way to fit: each call of the trace is known in the log."
    return table(
        "calls", "Calls of the trace in the log", columns, rows, most=_MOST_ROWS, note=note
    )
