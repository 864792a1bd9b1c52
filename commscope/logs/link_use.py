"""Which ranks the library connected, and over what, as its logs tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from commscope.normalize.logged_communicators import group_communicators

if TYPE_CHECKING:
    from commscope.parsers.rccl_log import Logs

#: More connections than these are no picture.
_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Connection:
    """What one rank sends to another over: how many channels, and by which transport."""

    sender: int
    receiver: int
    transport: str
    channels: int
    gpu_direct: bool | None  #: of a network; null: none, or not told


@dataclass(frozen=True, slots=True)
class LinkUse:
    """The connections of the communicator that has most of them; ``hosts`` are by rank."""

    communicator: str
    ranks: tuple[int, ...]
    hosts: Mapping[int, str]
    connections: tuple[Connection, ...]


def link_use(logs: Logs) -> LinkUse | None:
    """Null where the logs tell no connection of which both ends are known."""
    comms, channels = logs.tables["COMMS"], logs.tables["CHANNELS"]
    grouped = group_communicators(comms)
    groups = pa.array(grouped.of_row, pa.int64())
    of_group = groups.take(channels.column("comm").combine_chunks())
    rows = _told(channels.append_column("communicator", of_group))
    edges = Counter(row["communicator"] for row in rows)
    if not edges:
        return None
    number = min(edges, key=lambda group: (-edges[group], group))
    mine = [row for row in rows if row["communicator"] == number]
    hosts = {
        row["rank"]: row["host"]
        for row, group in zip(comms.select(["rank", "host"]).to_pylist(), grouped.of_row)
        if group == number and row["rank"] is not None and row["host"] is not None
    }
    ends = {row[name] for row in mine for name in ("src", "dst")}
    return LinkUse(
        communicator=grouped.communicators[number].name,
        ranks=tuple(sorted({*ends, *hosts})),
        hosts=hosts,
        connections=tuple(map(_connection, mine)),
    )


def _told(channels: pa.Table) -> list[dict[str, Any]]:
    """Pairs of ranks with the channels between them, each reported once."""
    pair = ["communicator", "src", "dst", "transport", "gpu_direct"]
    counted = channels.group_by(pair).aggregate([("channel", "count_distinct")])
    rows: list[dict[str, Any]] = counted.slice(0, _MOST).to_pylist()
    known = [row for row in rows if None not in (row["communicator"], row["src"], row["dst"])]
    return sorted(known, key=lambda row: (row["src"], row["dst"], row["transport"]))


def _connection(row: dict[str, Any]) -> Connection:
    return Connection(
        row["src"],
        row["dst"],
        row["transport"],
        row["channel_count_distinct"],
        row["gpu_direct"],
    )
