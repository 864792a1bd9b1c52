"""What the logs show of the links between the devices of a host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from commscope.findings.log_case import LogCase, Row
from commscope.topology.model import LINK_NAMES_OF_LOGS, bus_id_of_log


@dataclass(frozen=True, slots=True)
class Fabric:
    """Rows of GRAPHS by host and device; a GPU is known by its bus id."""

    fast: Mapping[tuple[str | None, str], Mapping[str, Row]]  #: (host, GPU) -> peer or switch
    paths: Mapping[tuple[str | None, str, str], Row]  #: (host, from, to)
    bus: Mapping[tuple[int, int], str]  #: (group, rank) -> GPU
    known_hosts: frozenset[str | None]

    def link(self, host: str | None, one: str | None, other: str | None) -> Row | None:
        """What shows that two GPUs are linked, directly or through a switch."""
        if one is None or other is None:
            return None
        mine = self.fast.get((host, one), {})
        if other in mine:
            return mine[other]
        shared = set(mine) & set(self.fast.get((host, other), {}))
        return next((mine[device] for device in sorted(shared) if device.startswith("NVS")), None)

    def has_links(self, host: str | None) -> bool:
        """Whether any GPUs of a host are linked."""
        return any(where == host for where, _ in self.fast)


def fabric_of(case: LogCase) -> Fabric:
    """The links of all hosts."""
    fast: dict[tuple[str | None, str], dict[str, Row]] = {}
    paths: dict[tuple[str | None, str, str], Row] = {}
    for row in case.fabric:
        host, one, other = row["host"], _device(row["name"]), _device(row["peer"])
        if row["link"] in LINK_NAMES_OF_LOGS:
            fast.setdefault((host, one), {})[other] = row
        if row["kind"] == "path":
            paths[host, one, other] = row
    bus = {
        (row["group"], row["rank"]): _bus_id(row["bus_id"])
        for row in case.members
        if row["bus_id"] is not None and row["rank"] is not None
    }
    return Fabric(fast, paths, bus, frozenset(row["host"] for row in case.fabric))


def _device(name: str) -> str:
    """``GPU/0-60`` is the bus id 60 as logs print it; a switch keeps its kind."""
    kind, _, rest = name.partition("/")
    return _bus_id(rest.rpartition("-")[2]) if kind == "GPU" else f"{kind}/{rest}"


def _bus_id(printed: str) -> str:
    return bus_id_of_log(printed) or printed.lower()


def device_names(case: LogCase) -> dict[tuple[str | None, bool], list[str]]:
    """(Host, whether it is for sockets) -> names of its network devices by their number."""
    found: dict[tuple[str | None, bool], tuple[tuple[str, int], list[str]]] = {}
    for row in case.nics:
        key, place = (row["host"], row["link"] == "Socket"), (row["file"], row["line"])
        if key not in found:
            found[key] = (place, [])
        if found[key][0] == place:
            found[key][1].append(row["name"])
    return {key: names for key, (_, names) in found.items()}


def is_rdma(row: Mapping[str, Any]) -> bool:
    """Whether a network device is one of InfiniBand or RoCE."""
    return row["link"] in ("IB", "RoCE")


def words_of(links: Iterable[str]) -> str:
    """``NVLink``, or ``NVLink and xGMI``."""
    return " and ".join(sorted({LINK_NAMES_OF_LOGS.get(link, link) for link in links}))
