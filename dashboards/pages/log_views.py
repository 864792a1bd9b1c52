"""What the logs of the library say of a run, in the tables of ``commscope log``."""

from __future__ import annotations

from dataclasses import asdict

from commscope.logs.summary import LogSummary, channels_used
from commscope.report.html.reasons import Row
from commscope.report.html.tables import (
    UNKNOWN_CELL,
    Cell,
    Column,
    Show,
    Table,
    bytes_of,
    count,
    present,
    table,
    word,
    words,
)
from commscope.units import span
from commscope.wording import listed

_MOST_ROWS = 200
_MOST_VALUE = 160
_MOST_MESSAGE = 400


def setting_tables(log: LogSummary) -> list[Table]:
    """Variables of the environment that the library saw, and its versions."""
    variables = (
        Column("variable", words("variable", 80), is_number=False),
        Column("value", words("value", _MOST_VALUE), is_number=False),
        Column("processes", count("process_count")),
        Column("", lambda row: Cell("ignored" if row["ignored"] else ""), is_number=False),
    )
    versions = (
        Column("component", words("component"), is_number=False),
        Column("version", words("version"), is_number=False),
        Column("build", words("build"), is_number=False),
        Column("processes", count("process_count")),
    )
    return present(
        table("variables", "Environment, as the library saw it", variables, log.environment,
              most=_MOST_ROWS),
        table("log-versions", "Versions that the logs name", versions, log.versions),
    )  # fmt: skip


def warning_tables(log: LogSummary) -> list[Table]:
    """Warnings of the library, and what the watchdog of PyTorch wrote."""
    warnings = (
        Column("message", words("text", _MOST_MESSAGE), is_number=False),
        Column("level", words("level"), is_number=False),
        Column("times", count("count")),
        Column("first at", _where, is_number=False),
    )
    hangs = (
        Column("rank", count("rank")),
        Column("operation", words("op"), is_number=False),
        Column("number", count("seq")),
        Column("last enqueued", count("last_enqueued")),
        Column("last completed", count("last_completed")),
        Column("at", _where, is_number=False),
    )
    return present(
        table("warnings", "Warnings", warnings, log.warnings, most=_MOST_ROWS),
        table("watchdog", "The watchdog of PyTorch", hangs, log.hangs, most=_MOST_ROWS),
    )


def _where(row: Row) -> Cell:
    return word(f"{row['file']}:{row['line']}", 60)


def connection_tables(log: LogSummary) -> list[Table]:
    """Communicators of the job, what they run over, and what the library chose."""
    return present(_communicators(log), _connections(log), _patterns(log), _choices(log))


def _communicators(log: LogSummary) -> Table | None:
    columns = (
        Column("communicator", words("name", 28), is_number=False),
        Column("ranks", count("nranks")),
        Column("seen", count("seen")),
        Column("initialised", _initialised, is_number=False),
        Column("hosts", count("nnodes")),
        Column("network", _several("networks"), is_number=False),
        Column("channels", _several("coll_channels")),
        Column("of p2p", _several("p2p_channels")),
        Column("longest init", _longest),
    )
    rows = [asdict(one) for one in log.communicators]
    return table("log-communicators", "Communicators", columns, rows, most=_MOST_ROWS)


def _several(name: str) -> Show:
    """What members of a communicator report, which may differ."""
    return lambda row: word(listed(row[name], 6)) if row[name] else UNKNOWN_CELL


def _initialised(row: Row) -> Cell:
    if not row["started"] and not row["completed"]:
        return Cell("not told", is_missing=True)
    done = f"{row['completed']:,} of {max(row['started'], row['completed']):,}"
    return Cell(done + (f", {row['destroyed']:,} destroyed" if row["destroyed"] else ""))


def _longest(row: Row) -> Cell:
    slowest = row["slowest"]
    if slowest is None:
        return UNKNOWN_CELL
    part = f", {span(slowest['part_ns'])} {slowest['part']}" if slowest["part_ns"] else ""
    return Cell(f"{span(slowest['total_ns'])}{part}", slowest["total_ns"])


def _connections(log: LogSummary) -> Table | None:
    columns = (
        Column("transport", words("transport"), is_number=False),
        Column("communicator", count("communicator")),
        Column("for", _purpose, is_number=False),
        Column("pairs of ranks", count("edge_count")),
        Column("channels", count("channel_count")),
        Column("network device", count("net_device")),
        Column("GPU direct", _direct, is_number=False),
    )
    return table("connections", "Connections", columns, log.connections, most=_MOST_ROWS)


def _purpose(row: Row) -> Cell:
    return Cell({0: "collectives", 1: "send and receive"}.get(row["connection"], ""))


def _direct(row: Row) -> Cell:
    return Cell("" if row["gpu_direct"] is None else "yes" if row["gpu_direct"] else "NO")


def _patterns(log: LogSummary) -> Table | None:
    columns = (
        Column("graph", words("name"), is_number=False),
        Column("channels", count("channels")),
        Column("inside a host", _rate("bandwidth_gbps", "link")),
        Column("between hosts", _rate("inter_bandwidth_gbps", "inter_link")),
        Column("processes", count("process_count")),
    )
    caption = "Rings and trees that the library chose"
    return table("patterns", caption, columns, log.patterns, most=_MOST_ROWS)


def _rate(gbps: str, link: str) -> Show:
    def show(row: Row) -> Cell:
        if row[gbps] is None:
            return UNKNOWN_CELL
        return word(f"{row[gbps]:g} GB/s {row[link] or ''}".strip())

    return show


def _choices(log: LogSummary) -> Table | None:
    columns = (
        Column("call", words("op"), is_number=False),
        Column("size", bytes_of("bytes")),
        Column("algorithm", _algorithm, is_number=False),
        Column("protocol", words("protocol"), is_number=False),
        Column("channels", _channels),
        Column("records", count("count")),
    )
    rows = sorted(log.choices, key=lambda row: -row["count"])
    return table("choices", "Algorithm and protocol", columns, rows, most=_MOST_ROWS)


def _algorithm(row: Row) -> Cell:
    told: str | None = row["algorithm"] or row["kernel"]
    return word(told) if told else UNKNOWN_CELL


def _channels(row: Row) -> Cell:
    used = channels_used(row["first_channel"], row["last_channel"])
    return UNKNOWN_CELL if used is None else Cell(f"{used:,}", used)
