"""Where each member of a logged communicator runs, and what joins two of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from commscope.topology import Device, Link, Place, Topology, bus_id_of_log, for_hosts
from commscope.topology.model import LINK_NAMES


@dataclass(frozen=True, slots=True)
class Places:
    """The rows of COMMS by communicator and rank, and the topology under their hosts' names."""

    rows: Sequence[dict[str, Any]]
    members: dict[tuple[int, int], int]  #: (communicator of the logs, rank in it) -> row of COMMS
    of_row: Sequence[int]
    topology: Topology
    notes: tuple[str, ...] = ()  #: how far the topology is that of the job

    @classmethod
    def of(cls, comms: pa.Table, of_row: Sequence[int], topology: Topology | None) -> Places:
        """Those of the rows; without a topology only hosts are known."""
        rows = comms.select(["host", "rank", "nranks", "bus_id"]).to_pylist()
        used: defaultdict[str, set[str]] = defaultdict(set)
        for row in rows:
            bus_id = _bus_id(row)
            if row["host"] is not None and bus_id is not None:
                used[row["host"]].add(bus_id)
        named = Topology() if topology is None else for_hosts(topology, used)
        members = {
            (group, row["rank"]): number
            for number, (group, row) in enumerate(zip(of_row, rows))
            if row["rank"] is not None
        }
        known = sum(
            named.device(bus_id, host) is not None for host in used for bus_id in used[host]
        )
        notes = [note for note in named.notes if ": taken to be joined like " in note]
        if topology is not None and not known:
            notes = ["the topology holds none of the devices whose bus ids the logs tell: not used"]
        return cls(rows, members, of_row, named, tuple(notes))

    def link(self, comm: int, peer: int | None) -> str | None:
        """What joins the member of a row of COMMS with another rank of its communicator."""
        other = None if peer is None else self.members.get((self.of_row[comm], peer))
        ends = None if other is None else (self._device(comm), self._device(other))
        if ends is None or ends[0] is None or ends[1] is None:
            return None
        return _named(self.topology.link(ends[0], ends[1]))

    def of_job(self) -> dict[int, Place] | None:
        """The place of every rank of the largest communicator; null unless all are known."""
        found = {
            rank: Place(self.rows[row]["host"], _bus_id(self.rows[row]) or f"rank {rank}")
            for (group, rank), row in self.members.items()
            if group == 0 and self.rows[row]["host"] is not None
        }
        sizes = {row["nranks"] for row, group in zip(self.rows, self.of_row) if group == 0}
        return found if sizes == {len(found)} else None

    def _device(self, comm: int) -> Device | None:
        row = self.rows[comm]
        bus_id = _bus_id(row)
        return None if bus_id is None else self.topology.device(bus_id, row["host"])


def _bus_id(row: dict[str, Any]) -> str | None:
    return None if row["bus_id"] is None else bus_id_of_log(row["bus_id"])


def _named(link: Link | None) -> str | None:
    if link is None or link.kind is None:
        return None
    name = LINK_NAMES[link.kind]
    return name if link.is_direct or link.path is None else f"{name} {link.path}"
