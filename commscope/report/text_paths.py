"""Over what exposed communication went, as the logs tell it, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from commscope.report.model import LogSection, Report
from commscope.report.text_tables import Cell, Row, Show, text_of, text_table, time_of
from commscope.sanitize import plain
from commscope.units import size, span
from commscope.wording import counted


def paths(report: Report, most: int, width: int) -> RenderableType | None:
    """How the collectives with most exposed time were run, and what the join rests on."""
    log = report.log
    if log is None:
        return None
    says = Text("\n".join(map(plain, _says(log))), "dim")
    if log.joined_by == "nothing":
        return Group(Text("\nFrom the logs", "bold"), says)
    table = _table(log, most, width)
    return says if table is None else Group(table, says)


def _table(log: LogSection, most: int, width: int) -> RenderableType | None:
    cells = (
        Cell("collective", text_of("op"), "left"),
        Cell("communicator", text_of("communicator"), "left", from_width=100),
        Cell("size", lambda row: "?" if row["bytes"] is None else size(row["bytes"])),
        Cell("algorithm", _algorithm, "left"),
        Cell("channels", text_of("channels"), from_width=90),
        Cell("over", _over, "left"),
        Cell("exposed", time_of("exposed_ns")),
        Cell("of it waiting", _known("exposed_wait_ns"), from_width=80),
        Cell("transferring", _known("exposed_transfer_ns"), from_width=110),
    )
    rows = [row for row in log.paths if row["transport"] or row["algorithm"]]
    title = "From the logs: how collectives ran, all ranks together"
    more = len(rows) - most
    title += f" (the {most} most exposed of {len(rows)})" if more > 0 else ""
    return text_table(title, cells, rows[:most], width) if rows else None


def _known(name: str) -> Show:
    """A part of the exposed time; a question mark where none of it is matched."""
    show = time_of(name)
    return lambda row: "?" if row["exposed_unmatched_ns"] == row["exposed_ns"] > 0 else show(row)


def _algorithm(row: Row) -> str:
    told = " ".join(word for word in (row["algorithm"], row["protocol"]) if word)
    others = row["choices"] - 1
    return (told or "?") + (f" (+{others})" if others > 0 else "")


def _over(row: Row) -> str:
    """Transport and link, such as ``P2P/IPC, xGMI``; a network that misses GPU memory is marked."""
    told = ", ".join(word for word in (row["transport"], row["link"]) if word)
    return (told or "?") + (" without GPU direct" if row["gpu_direct"] is False else "")


def _says(log: LogSection) -> Iterator[str]:
    """What joins the two, what is not told, and whether calls can be told apart."""
    yield from (note[:1].upper() + note[1:] for note in log.notes)
    for row in log.communicators:
        if row["note"] and log.joined_by != "nothing":
            yield f"{row['communicator']}: {row['note']}"
    yield from _by_transport(log)
    notes = dict.fromkeys(row["note"] for row in log.paths if row["note"])
    yield from (f"?: {note}" for note in notes if log.joined_by != "nothing")
    yield from _calls(log)


def _by_transport(log: LogSection) -> Iterator[str]:
    """Exposed time by what it went over, where that is more than one thing."""
    rows = list(log.transports)
    if len(rows) > 1:
        each = (f"{_over(row)} {span(row['exposed_ns'])}" for row in rows)
        yield "Exposed by transport: " + "; ".join(each)


def _calls(log: LogSection) -> Iterator[str]:
    compared = [row for row in log.stretches if row["logged"]]
    single = sum(row["shifts"] == 1 for row in compared)
    several = [row["shifts"] for row in compared if row["shifts"] > 1]
    none = sum(row["shifts"] == 0 for row in compared)
    if single:
        yield f"Call by call: {_ranks(single)} fit the log in one way only."
    if several:
        yield (
            f"By operation and size: {_ranks(len(several))} fit the log in up to {max(several)} "
            "ways, as its calls repeat themselves."
        )
    if none:
        yield f"By operation and size: {_ranks(none)} fit no stretch of the log's calls."


def _ranks(count: int) -> str:
    return f"the collectives of {counted(count, 'rank')} on a communicator"
