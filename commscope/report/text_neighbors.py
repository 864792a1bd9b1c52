"""Neighbours of a log on a terminal: hangs, benchmarks, records, dumps and reports of RAS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import RenderableType
from rich.text import Text

from commscope.logs.hang_model import Hang
from commscope.logs.neighbor_summary import NeighborSummary
from commscope.report.text_tables import (
    MOST_ROWS,
    Cell,
    Row,
    Show,
    count_of,
    first_rows,
    sizes_of,
    text_of,
)
from commscope.sanitize import plain, shortened
from commscope.units import size, span
from commscope.wording import rank_spans

_MOST_HANGS = 6


def hang_sections(hangs: Sequence[Hang]) -> list[RenderableType]:
    """The verdict on each hang, with whom to look at and what is not known."""
    if not hangs:
        return []
    lines = Text()
    for number, hang in enumerate(hangs[:_MOST_HANGS]):
        lines.append(f"{'' if number else chr(10)}Hang: ", "bold red")
        lines.append(f"{plain(hang.says)}\n")
        for line in _details(hang):
            lines.append(f"      {plain(line)}\n", "dim")
    if len(hangs) > _MOST_HANGS:
        lines.append(f"and {len(hangs) - _MOST_HANGS:,} more hangs\n", "dim")
    lines.rstrip()
    return [lines]


def _details(hang: Hang) -> Iterable[str]:
    if hang.suspects:
        yield f"look first at {rank_spans(hang.suspects)} ({_SOURCES[hang.source]})"
    for side in hang.sides[:3]:
        who = f"{rank_spans(side.ranks)}: " if side.ranks else ""
        state = f"{side.state}, " if side.state else ""
        if side.at:
            yield f"{who}{state}at {shortened(side.at, 100)}"


_SOURCES = {
    "flight_recorder": "by the dumps of the Flight Recorder",
    "ras": "by the report of RAS",
    "watchdog": "by the watchdog, which speaks for those who wait",
}


def neighbor_sections(summary: NeighborSummary, width: int) -> list[RenderableType]:
    """A table for each kind of neighbour that there is."""
    drawn = [
        _benchmarks(summary, width),
        _records(summary, width),
        _flight(summary, width),
        _ras(summary, width),
        _foot(summary),
    ]
    return [section for section in drawn if section is not None]


def _benchmarks(summary: NeighborSummary, width: int) -> RenderableType | None:
    cells = (
        Cell("measured", text_of("op"), "left"),
        Cell("ranks", count_of("ranks")),
        Cell("hosts", count_of("hosts"), from_width=80),
        Cell("sizes", sizes_of),
        Cell("least time", _time("least_us"), from_width=70),
        Cell("best bus GB/s", _rate("best_busbw_gbps")),
        Cell("at", _size("best_bytes"), from_width=90),
        Cell("wrong", count_of("wrong"), from_width=60),
        Cell("slower than twice the size", _slower, "left", from_width=150),
        Cell("in", lambda row: shortened(row["file"], 24), "left", from_width=120),
    )
    return first_rows("Benchmarks", cells, summary.benchmarks, width)


def _slower(row: Row) -> str:
    return ", ".join(map(size, row["slower_than_larger"][:3]))


def _records(summary: NeighborSummary, width: int) -> RenderableType | None:
    cells = (
        Cell("operation", text_of("op"), "left"),
        Cell("size", lambda row: row["size_range"] or _size("bytes")(row)),
        Cell("ranks", count_of("nranks")),
        Cell("records", count_of("count")),
        Cell("time (p50)", _time("exec_time_us")),
        Cell("bus GB/s (p50)", _rate("busbw_gbps")),
        Cell("least", _rate("least_busbw_gbps"), from_width=90),
        Cell("algorithm", _chosen, "left", from_width=100),
        Cell("timed by", lambda row: row["timing_source"] or "", "left", from_width=110),
        Cell("from", text_of("source"), "left", from_width=80),
    )
    return first_rows("Records of the profiler", cells, summary.records, width)


def _chosen(row: Row) -> str:
    return " ".join(word for word in (row["algorithm"], row["protocol"]) if word)


def _flight(summary: NeighborSummary, width: int) -> RenderableType | None:
    cells = (
        Cell("process group", _group, "left"),
        Cell("members", count_of("members")),
        Cell("dumps", count_of("dumps")),
        Cell("entries", count_of("entries")),
        Cell("not begun", count_of("scheduled")),
        Cell("not ended", count_of("started")),
        Cell("last enqueued", lambda row: _count(_last(row)), from_width=80),
        Cell("completed by all", count_of("least_completed"), from_width=90),
    )
    return first_rows("Flight Recorder", cells, summary.flight, width)


def _group(row: Row) -> str:
    name, description = row["group"] or "?", row["description"]
    return shortened(f"{name} {description}" if description else name, 40)


def _last(row: Row) -> int | None:
    return max((n for n in (row["last_enqueued"], row["last_seq"]) if n is not None), default=None)


def _ras(summary: NeighborSummary, width: int) -> RenderableType | None:
    cells = (
        Cell("", text_of("kind"), "left"),
        Cell("communicator", lambda row: row["communicator"] or row["comm_id"] or "", "left"),
        Cell("ranks", lambda row: _count(row["ranks"] or row["nranks"])),
        Cell("rank", lambda row: _count(row["rank"])),
        Cell("operations", lambda row: _count(row["count"])),
        Cell("status", lambda row: row["status"] or "", "left"),
        Cell("", lambda row: row["says"] or "", "left"),
        Cell("host", lambda row: shortened(row["host"] or "", 24), "left", from_width=90),
    )
    shown = [row for row in summary.ras if row["kind"] != "rank"]
    return first_rows("RAS", cells, shown, width)


def _foot(summary: NeighborSummary) -> Text | None:
    files = summary.files
    lost = [f"{it.file}: {it.lost:,} rows could not be read" for it in files if it.lost]
    says = [f"{it.file}: {it.says}" for it in files if it.says and it.kind == "records"]
    lines = [*lost, *says, *summary.notes]
    return Text("\n" + "\n".join(map(plain, lines[:MOST_ROWS])), "dim") if lines else None


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _size(name: str) -> Show:
    return lambda row: "?" if row[name] is None else size(row[name])


def _time(name: str) -> Show:
    return lambda row: "?" if row[name] is None else span(row[name] * 1e3)


def _rate(name: str) -> Show:
    return lambda row: "?" if row[name] is None else f"{row[name]:,.1f}"
