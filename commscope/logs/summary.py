"""The state of a job as its logs tell it: what ``commscope log`` shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from commscope.columns import int64
from commscope.logs.tallies import tally
from commscope.normalize.logged_communicators import Communicator, group_communicators

if TYPE_CHECKING:
    from commscope.parsers.rccl_log import LogFile, Logs

Rows = tuple[dict[str, Any], ...]

#: A probe for a module of the kernel at the start of RCCL leaves this trace; nothing is wrong.
HARMLESS = r"net_ib\.cc:\d+ -> 2$"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the logs could be read."""

    lines: int
    blank: int
    records: int  #: records, lines of banners and messages of the watchdog, read into tables
    unused: int  #: records that tell nothing that the tables hold
    torn: int  #: records that could not be read
    unended_bytes: int  #: behind the last line feeds of the files
    read_ratio: float | None  #: records that were read or need not be, of all; null without any


@dataclass(frozen=True, slots=True)
class LogSummary:
    """What the logs of a job say. Lists are in the order of the logs unless said otherwise."""

    files: tuple[LogFile, ...]
    coverage: Coverage
    hosts: tuple[str, ...]
    processes: int
    ranks: int  #: ranks of the largest communicator that the logs hold
    versions: Rows
    communicators: tuple[Communicator, ...]  #: the largest first
    connections: Rows
    patterns: Rows
    calls: Rows
    choices: Rows
    environment: Rows
    warnings: Rows
    hangs: Rows
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON shows it: see docs/log.md."""
        return asdict(self)


def channels_used(first: int | None, last: int | None) -> int | None:
    """How many channels a choice of the library uses; null where the logs do not tell."""
    return None if first is None or last is None else last - first + 1


def summarize(logs: Logs, notes: Sequence[str] = ()) -> LogSummary:
    """Puts together what the tables of the logs say."""
    tables = logs.tables
    grouped = group_communicators(tables["COMMS"])
    calls = _with_communicator(tables["CALLS"], grouped.of_row)
    channels = _with_communicator(tables["CHANNELS"], grouped.of_row)
    return LogSummary(
        files=logs.files,
        coverage=_coverage(logs.files),
        hosts=tuple(sorted({p.host for p in logs.processes if p.host is not None})),
        processes=len(logs.processes),
        ranks=_ranks(grouped.communicators, tables["CHANNELS"]),
        versions=tuple(tally(tables["VERSIONS"], ("component", "version", "build"), ["process"])),
        communicators=grouped.communicators,
        connections=_connections(channels),
        patterns=_patterns(tables["GRAPHS"]),
        calls=_calls(calls),
        choices=_choices(tables["TUNING"]),
        environment=tuple(
            tally(tables["ENVIRONMENT"], ("variable", "value", "ignored"), ["process"])
        ),
        warnings=_warnings(tables["WARNINGS"]),
        hangs=tuple(tables["HANGS"].to_pylist()),
        notes=tuple(notes),
    )


def _coverage(files: Sequence[LogFile]) -> Coverage:
    total: Counter[str] = Counter()
    for file in files:
        total.update(asdict(file.counts), unended_bytes=file.unended_bytes)
    known = total["records"] + total["unused"]
    seen = known + total["torn"]
    numbers = {name: total[name] for name in ("lines", "blank", "records", "unused", "torn")}
    return Coverage(
        **numbers,
        unended_bytes=total["unended_bytes"],
        read_ratio=known / seen if seen else None,
    )


def _with_communicator(table: pa.Table, of_row: list[int]) -> pa.Table:
    """The table with the number of each row's communicator."""
    groups = pa.array(of_row, pa.int64())
    return table.append_column("communicator", groups.take(table.column("comm").combine_chunks()))


def _ranks(communicators: Sequence[Communicator], channels: pa.Table) -> int:
    if communicators:
        return max(communicators[0].seen, len(communicators[0].members))
    return int(pc.count_distinct(channels.column("rank"), mode="only_valid").as_py())


def _connections(channels: pa.Table) -> Rows:
    """Connections by communicator and transport."""
    keys = ("communicator", "transport", "connection", "net_device", "gpu_direct", "detail")
    return tuple(tally(_with_edges(channels), keys, ["edge", "channel"]))


def _with_edges(channels: pa.Table) -> pa.Table:
    """The connections with a number for each pair of ranks that is connected."""
    src, dst = (int64(channels, name) for name in ("src", "dst"))
    return channels.append_column("edge", pa.array(np.maximum(src, -1) << 32 | np.maximum(dst, -1)))


def _patterns(graphs: pa.Table) -> Rows:
    """Results of the search for rings and trees."""
    found = graphs.filter(pc.equal(graphs.column("kind").cast(pa.string()), "pattern"))
    numbers = ("channels", "bandwidth_gbps", "inter_bandwidth_gbps")
    keys = ("name", "channels", "link", "inter_link")
    rows = tally(found, keys, ["process"])
    widths = found.select(["line", "file", *numbers]).to_pylist()
    by_place = {(row["file"], row["line"]): row for row in widths}
    return tuple({**row, **by_place[row["file"], row["line"]]} for row in rows)


def _calls(calls: pa.Table) -> Rows:
    """Calls by communicator, operation and size."""
    keys = ("communicator", "op", "bytes", "call_bytes", "dtype")
    return tuple(tally(calls, keys, ["rank"]))


def _choices(tuning: pa.Table) -> Rows:
    keys = ("op", "bytes", "algorithm", "protocol", "first_channel", "last_channel", "kernel")
    return tuple(tally(tuning, keys))


def _warnings(warnings: pa.Table) -> Rows:
    """Warnings that say the same, errors first; traces of probes are left out."""
    text = warnings.column("text").cast(pa.string())
    kept = warnings.filter(pc.invert(pc.match_substring_regex(text, HARMLESS)))
    rows = tally(kept, ("level", "text"), ["process"])
    order = {"error": 0, "warn": 1, "notice": 2, "trace": 3}
    return tuple(sorted(rows, key=lambda row: order[row["level"]]))
