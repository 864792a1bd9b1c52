"""Tables of communication: collectives, who waited for whom, groups, and what logs tell."""

from __future__ import annotations

from commscope.findings.model import Metric
from commscope.report.html.reasons import Reasons, Row
from commscope.report.html.tables import (
    UNKNOWN_CELL,
    Cell,
    Column,
    Show,
    Table,
    bytes_of,
    count,
    decimal,
    present,
    share,
    table,
    time,
    word,
    words,
)
from commscope.report.model import Report
from commscope.units import size_range
from commscope.wording import listed

_MOST_ROWS = 40
_MOST_PAIRS = 30


def collective_tables(report: Report) -> list[Table]:
    """Kinds of collectives, and bandwidth by size."""
    return present(_collectives(report), _bandwidth(report), _traffic(report))


def _collectives(report: Report) -> Table | None:
    why = Reasons(report.trust).anywhere(Metric.OVERLAP)
    columns = [
        Column("operation", words("op"), is_number=False),
        Column("group", words("communicator", 28), is_number=False),
        Column("ranks", count("group_size")),
        Column("type", words("dtype", 16), is_number=False),
        Column("size", bytes_of("bytes")),
        Column("count", count("count")),
        Column("running", time("communication_ns")),
        Column("exposed", time("exposed_ns", why)),
        Column("waiting", time("wait_ns")),
        Column("transfer (median)", time("transfer_p50_ns")),
        Column("bus GB/s", _bus_bandwidth),
        Column("of expected", share("share_of_expected")),
    ]
    caption = "Collectives by kind (all ranks together)"
    return table(
        "collectives", caption, columns, report.collectives, most=_MOST_ROWS, note=_expected(report)
    )


def _bus_bandwidth(row: Row) -> Cell:
    """The bus bandwidth, marked where it is a lower bound."""
    if row["busbw_gbps"] is None:
        return Cell(UNKNOWN_CELL.text, hint=row["bandwidth_note"] or "not known", is_missing=True)
    mark = "> " if row["bandwidth_note"] else ""
    return Cell(f"{mark}{row['busbw_gbps']:,.1f}", row["busbw_gbps"], row["bandwidth_note"] or "")


def _expected(report: Report) -> str:
    """What the bandwidths to expect are from."""
    sources = dict.fromkeys(row["expected_from"] for row in report.collectives)
    told = [source for source in sources if source is not None]
    return f"Expected: {'; '.join(told)}." if told else ""


def _bandwidth(report: Report) -> Table | None:
    columns = [
        Column("operation", words("op"), is_number=False),
        Column("ranks", count("group_size")),
        Column("size", _sizes),
        Column("count", count("count")),
        Column("transfer (median)", time("transfer_p50_ns")),
        Column("algorithm GB/s", decimal("algbw_gbps")),
        Column("bus GB/s", _bus_bandwidth),
        Column("of expected", share("share_of_expected")),
    ]
    return table("bandwidth", "Bandwidth by size", columns, report.bandwidth, most=_MOST_ROWS)


def _sizes(row: Row) -> Cell:
    if row["min_bytes"] is None:
        return UNKNOWN_CELL
    return Cell(size_range(row["min_bytes"], row["max_bytes"]), row["min_bytes"])


def _traffic(report: Report) -> Table | None:
    columns = [
        Column("from rank", count("sender")),
        Column("to rank", count("receiver")),
        Column("group", words("communicator", 28), is_number=False),
        Column("sent", bytes_of("bytes")),
    ]
    rows = sorted(report.traffic, key=lambda row: -row["bytes"])
    caption = "Who sent most to whom in all_to_all"
    return table("all-to-all", caption, columns, rows, most=_MOST_PAIRS)


def waiting_tables(report: Report) -> list[Table]:
    """Who waited for whom, and who arrived last."""
    why = Reasons(report.trust).anywhere(Metric.OVERLAP)
    waits = [
        Column("rank", count("waiter")),
        Column("waited for rank", count("straggler")),
        Column("group", words("communicator", 28), is_number=False),
        Column("waiting", time("wait_ns")),
        Column("of it exposed", time("exposed_wait_ns", why)),
    ]
    last = [
        Column("rank", count("rank")),
        Column("group", words("communicator", 28), is_number=False),
        Column("last in", _last_in),
        Column("late by (mean)", time("mean_lateness_ns")),
        Column("others waited", time("waited_by_others_ns")),
        Column("of all waiting", share("caused_share")),
    ]
    return present(
        table("waiting", "Who waited for whom", waits, report.waiting, most=_MOST_PAIRS),
        table("last", "Who arrived last", last, report.stragglers, most=_MOST_PAIRS),
    )


def _last_in(row: Row) -> Cell:
    return Cell(f"{row['last_count']:,} of {row['instances']:,}", row["last_count"])


def communicator_tables(report: Report) -> list[Table]:
    """The groups of ranks, and the pipeline where there is one."""
    groups = [
        Column("group", words("communicator", 40), is_number=False),
        Column("role", words("role", 20), is_number=False),
        Column("ranks", count("size")),
        Column("members", _members("members"), is_number=False),
        Column("description", words("description", 60), is_number=False),
    ]
    stages = [
        Column("stage", count("stage")),
        Column("rank", count("rank")),
        Column("bubble", time("bubble_ns", Reasons(report.trust).in_ranks(Metric.IDLE))),
        Column("of the time", share("bubble_share")),
    ]
    return present(
        table("communicators", "Groups of ranks", groups, report.communicators, most=_MOST_ROWS),
        table("pipeline", "Pipeline bubble", stages, report.bubbles, most=_MOST_ROWS),
    )


def _members(name: str) -> Show:
    return lambda row: UNKNOWN_CELL if row[name] is None else word(listed(row[name], 16), 80)
