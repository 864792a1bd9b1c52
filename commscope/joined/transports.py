"""What each rank's communication runs over: transport, link and network device by communicator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Bool, as_text, int64, where_equal
from commscope.joined.places import Places
from commscope.topology.model import LINK_NAMES_OF_LOGS

#: Operations that use the connections of sends and receives.
OF_MESSAGES = frozenset({"send", "recv", "send_recv", "all_to_all", "gather", "scatter"})


@dataclass(frozen=True, slots=True)
class Route:
    """What a rank sends over: transports and links, most used first; empty: not told."""

    transports: tuple[str, ...]
    link: str | None  #: NVLink, xGMI, PCIe, host memory, network, or several with +
    net_devices: tuple[int, ...]
    gpu_direct: bool | None  #: over the network; null: not over it, or not told
    file: str | None = None
    line: int | None = None  #: of the first connection

    def __str__(self) -> str:
        over = f" ({self.link})" if self.link else ""
        return " + ".join(self.transports) + over if self.transports else "not told"


UNKNOWN = Route((), None, (), None)


class Routes:
    """The routes of each row of COMMS: those of collectives and those of messages."""

    def __init__(self, channels: pa.Table, graphs: pa.Table, places: Places) -> None:
        self._patterns, self._places = _pattern_links(graphs), places
        self._sent = _sent(channels)

    def of(self, comm: int, op: str | None) -> Route:
        """The route of an operation on a communicator of a process, a row of COMMS."""
        sent = self._sent.get(comm, {})
        wanted = (1, 0, None) if op in OF_MESSAGES else (0, None)
        rows = next((sent[kind] for kind in wanted if kind in sent), None)
        return UNKNOWN if rows is None else self._route(comm, rows)

    def _route(self, comm: int, rows: Sequence[Mapping[str, Any]]) -> Route:
        counted: defaultdict[str, int] = defaultdict(int)
        for row in rows:
            counted[row["transport"]] += row["channel_count"]
        links = dict.fromkeys(self._link(comm, row) for row in rows)
        direct = {row["gpu_direct"] for row in rows if row["transport"].startswith("NET")}
        return Route(
            tuple(sorted(counted, key=lambda name: (-counted[name], name))),
            " + ".join(link for link in links if link) or None,
            tuple(sorted({row["net_device"] for row in rows if row["net_device"] is not None})),
            None if not direct or None in direct else all(direct),
            rows[0]["file"],
            min(row["line_min"] for row in rows),
        )

    def _link(self, comm: int, row: Mapping[str, Any]) -> str | None:
        """What a connection goes over: by its transport, the topology, or the rings that it is of.

        The pattern of the rings is that of their slowest part, so the topology is asked first.
        """
        known = _of_transport(row["transport"])
        if known is not None:
            return known
        pattern = self._patterns.get(comm)
        told = None if pattern is None else LINK_NAMES_OF_LOGS.get(pattern, f"PCIe {pattern}")
        return self._places.link(comm, row["dst"]) or told


def _of_transport(transport: str) -> str | None:
    """The link that a transport alone tells."""
    if transport.startswith("SHM"):
        return "host memory"
    if transport.startswith(("NET", "COLLNET")):
        return "network"
    return "NVLink" if transport.startswith("NVLS") else None


def _pattern_links(graphs: pa.Table) -> dict[int, str]:
    """The kind of link of the rings that each row of COMMS chose."""
    patterns = graphs.filter(pa.array(where_equal(graphs, "kind", "pattern")))
    found: dict[int, str] = {}
    for row in patterns.select(["comm", "link"]).to_pylist():
        if row["link"] and row["comm"] is not None:
            found.setdefault(row["comm"], row["link"])
    return found


_KEYS = ["comm", "connection", "transport", "net_device", "gpu_direct", "dst", "file"]


def _sent(channels: pa.Table) -> dict[int, dict[int | None, list[dict[str, Any]]]]:
    """What each row of COMMS sends over, by kind of connection."""
    own = as_text(channels.filter(pa.array(_is_own(channels))).select([*_KEYS, "channel", "line"]))
    counted = own.group_by(_KEYS).aggregate([("channel", "count_distinct"), ("line", "min")])
    found: dict[int, dict[int | None, list[dict[str, Any]]]] = {}
    for row in counted.sort_by("line_min").to_pylist():
        if row["comm"] is not None:
            row["channel_count"] = max(row["channel_count_distinct"], 1)
            found.setdefault(row["comm"], {}).setdefault(row["connection"], []).append(row)
    return found


def _is_own(channels: pa.Table) -> Bool:
    """Connections by which the writer sends; where it is not told who sends, all."""
    rank, src = int64(channels, "rank"), int64(channels, "src")
    return np.asarray((rank == NONE) | (src == NONE) | (rank == src))
