"""Collectives for a terminal: by kind, by size, and who sent how much to whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from commscope.findings.timing import no_communication
from commscope.report.model import Report
from commscope.report.text_across import roles
from commscope.report.text_tables import (
    Cell,
    Row,
    Show,
    count_of,
    share_of,
    sizes_of,
    text_of,
    text_table,
    time_of,
)
from commscope.sanitize import plain, shortened
from commscope.units import size

#: A matrix of more ranks than this does not fit a terminal.
_MOST_MEMBERS = 16


def print_collectives(report: Report, console: Console, top: int) -> None:
    """The kinds of collectives that ran longest, bandwidth by size, and who sent to whom."""
    width = console.width
    kinds = collectives(report, top, width)
    if kinds is None:
        console.print(Text(plain(no_communication(report.trust))))
        return
    more = (
        _bandwidth(report, top, width),
        _expectations(report),
        roles(report, width),
        *_matrices(report, width),
    )
    console.print(Group(kinds, *(section for section in more if section is not None)))


def collectives(report: Report, most: int, width: int) -> RenderableType | None:
    """The kinds of collectives that ran longest; nothing where none ran."""
    if not len(report.collectives):
        return None
    cells = (
        Cell("collective", lambda row: row["op"] or "unknown", "left"),
        Cell("group", _group, "left", from_width=90),
        Cell("size", lambda row: "?" if row["bytes"] is None else size(row["bytes"])),
        Cell("dtype", text_of("dtype"), "left", from_width=130),
        Cell("a step", lambda row: f"{row['per_step']:.3g}", from_width=140),
        Cell("in all", count_of("count")),
        Cell("running", time_of("communication_ns")),
        Cell("hidden", time_of("hidden_ns"), from_width=100),
        Cell("exposed", time_of("exposed_ns")),
        Cell("waiting", time_of("wait_ns"), from_width=100),
        Cell("transfer", time_of("transfer_p50_ns"), from_width=110),
        Cell("bus GB/s", bus_bandwidth, from_width=120),
    )
    title = "Collectives (all ranks together)"
    if len(report.collectives) > most:
        title += f", the first {most} of {len(report.collectives)}"
    return text_table(title, cells, report.collectives.head(most), width)


def _group(row: Row) -> str:
    members = f" x{row['group_size']}" if row["group_size"] else ""
    return shortened(row["communicator"], 20) + members


def bus_bandwidth(row: Row) -> str:
    """The bus bandwidth, of the expected one; marked where it is a lower bound."""
    if row["busbw_gbps"] is None:
        return "?"
    mark = ">" if row["bandwidth_note"] else ""
    expected = row["expected_busbw_gbps"]
    decimals = 0 if expected and expected >= 10 else 1
    return f"{mark}{row['busbw_gbps']:,.1f}" + (f" of {expected:,.{decimals}f}" if expected else "")


def _bandwidth(report: Report, most: int, width: int) -> RenderableType | None:
    if not len(report.bandwidth):
        return None
    cells = (
        Cell("collective", text_of("op"), "left"),
        Cell("ranks", text_of("group_size")),
        Cell("size", sizes_of),
        Cell("in all", count_of("count"), from_width=70),
        Cell("transfer (p50)", time_of("transfer_p50_ns"), from_width=80),
        Cell("algorithm GB/s", _algorithm_bandwidth, from_width=100),
        Cell("bus GB/s", bus_bandwidth),
        Cell("of expected", share_of("share_of_expected"), from_width=90),
        Cell("", lambda row: row["bandwidth_note"] or "", "left", from_width=140),
    )
    title = "Bandwidth by size (> lower bound: the time may hold waiting)"
    return text_table(title, cells, report.bandwidth.head(most), width)


def _expectations(report: Report) -> Text | None:
    """What the bandwidths to expect are from."""
    sources = dict.fromkeys(row["expected_from"] for row in report.bandwidth)
    told = [plain(source) for source in sources if source is not None]
    return Text(f"expected: {'; '.join(told)}", "dim") if told else None


def _algorithm_bandwidth(row: Row) -> str:
    return "?" if row["algbw_gbps"] is None else f"{row['algbw_gbps']:,.1f}"


def _matrices(report: Report, width: int) -> list[RenderableType]:
    """Who sent how much to whom, for each communicator with uneven all_to_all."""
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in report.traffic:
        groups[row["communicator"]].append(row)
    return [_matrix(name, rows, width) for name, rows in groups.items()]


def _matrix(name: str, rows: Sequence[Row], width: int) -> RenderableType:
    received: defaultdict[int, int] = defaultdict(int)
    sent: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for row in rows:
        received[row["receiver"]] += row["bytes"]
        sent[row["sender"]][str(row["receiver"])] = row["bytes"]
    ranks = sorted(received)
    cells = [Cell("rank", text_of("rank"))]
    cells += [Cell(str(rank), _cell(str(rank))) for rank in ranks[:_MOST_MEMBERS]]
    lines: list[Row] = [{"rank": rank, **sent[rank]} for rank in sorted(sent)]
    lines.append({"rank": "all", **{str(rank): total for rank, total in received.items()}})
    most = max(ranks, key=lambda rank: received[rank])
    mean = sum(received.values()) / len(ranks)
    title = f"all_to_all in {shortened(name, 30)}: from (row) to (column)"
    if mean:
        title += f"; rank {most} gets {received[most] / mean:.2f} times the mean"
    return text_table(title, cells, lines, width)


def _cell(rank: str) -> Show:
    return lambda row: size(row[rank]) if rank in row else "?"
