"""Connections between ranks: over which channel, by which transport."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from commscope.columns import NONE
from commscope.log_schema import CHANNELS
from commscope.parsers.rccl_log.comms import Comms
from commscope.parsers.rccl_log.rows import RowTable, number
from commscope.parsers.rccl_log.writers import Comm, Writer

_TRANSPORT = rb"(?:P2P/direct pointer|(?:COLL)?NET/[^/\[\n]{1,64}/\d|[A-Z][A-Z0-9]{2,7}\b)\S*"
_CHANNEL = re.compile(rb"Channel (\d{1,9})(?:/(\d{1,9}))?$")
_EDGE = re.compile(
    rb"(\d{1,9})\[(\w+)\] -> (\d{1,9})\[(\w+)\](?: \[(send|receive)\])? via ("
    + _TRANSPORT
    + rb")(?: comm (0x[0-9a-f]+)(?: nRanks (\d+))?)?(?: \[repeated (\d+)x)?"
)
_IN_NETWORK = re.compile(
    rb"CollNet (\d{1,9})/(\d{1,9}) : (\d{1,9}) \[(send|receive)\] via (" + _TRANSPORT + rb")"
)
_PARTS = re.compile(
    rb"(?P<kind>(?:NET|COLLNET)/[^/]+|P2P/direct pointer|P2P/[A-Za-z]+|[A-Z][A-Z0-9]+)"
    rb"(?:/(?P<device>\d+)(?:\[\w+\])?(?:\((?P<proxy>\d+)\))?)?(?:/(?P<detail>\S+))?"
)


#: What is known of texts at most; all channels of a pair of ranks look alike.
_MOST_KNOWN = 1 << 16
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Edge:
    """What a record says besides the number of its channel."""

    own: int  #: rank of the one who wrote it
    address: bytes | None
    nranks: int
    values: tuple[int, ...]  #: the columns from src on


class Channels(RowTable):
    """The rows of CHANNELS."""

    def __init__(self, comms: Comms) -> None:
        super().__init__(CHANNELS, "comm")
        self._comms = comms
        self._edges: dict[bytes, _Edge] = {}
        self._numbers: dict[bytes, tuple[int, int]] = {}

    def read(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads one connection; whoever sends writes it, over a network both ends do."""
        begin, _, rest = message.partition(b" : ")
        numbers = self._numbers.get(begin) or self._new_numbers(begin)
        edge = self._edges.get(rest) or self._new_edge(rest)
        if numbers is None or edge is None:
            return False
        if edge.address is not None:
            comm: Comm | None = self._comms.of(edge.address, writer, place)
        else:
            comm = writer.speaks_of()
        if comm is not None and not ("rank" in comm.facts and "nranks" in comm.facts):
            _learn(comm, edge.own, edge.nranks)
        row = NONE if comm is None else comm.number
        self.rows.add(place, writer.number, row, edge.own, *numbers, *edge.values)
        return True

    def _new_numbers(self, begin: bytes) -> tuple[int, int] | None:
        """The numbers of a channel and of its connection."""
        found = _CHANNEL.match(begin)
        if found is None:
            return None
        numbers = int(found[1]), NONE if found[2] is None else int(found[2])
        _keep(self._numbers, begin, numbers)
        return numbers

    def _new_edge(self, rest: bytes) -> _Edge | None:
        found = _EDGE.match(rest)
        if found is None:
            return None
        edge = self._edge(found)
        _keep(self._edges, rest, edge)
        return edge

    def _edge(self, found: re.Match[bytes]) -> _Edge:
        src, from_device, dst, to_device, direction, via, address, nranks, times = found.groups()
        own = int(dst if direction == b"receive" else src)
        code = self.rows.code
        ends = (int(src), int(dst), code(from_device), code(to_device), code(direction))
        values = (*ends, *self._transport(via), number(times))
        return _Edge(own, address, number(nranks), values)

    def read_in_network(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads one connection to the network that reduces itself: it has one end only."""
        found = _IN_NETWORK.match(message)
        if not found:
            return False
        channel, conn, rank, direction, via = found.groups()
        comm, own = writer.speaks_of(), number(rank)
        ends = (own, NONE) if direction == b"send" else (NONE, own)
        row = NONE if comm is None else comm.number
        self.rows.add(
            *(place, writer.number, row, own, number(channel), number(conn)),
            *(*ends, NONE, NONE, self.rows.code(direction), *self._transport(via), NONE),
        )
        return True

    def _transport(self, via: bytes) -> tuple[int, ...]:
        kind, *numbers, detail = _parts(via)
        return (self.rows.code(kind), *numbers, self.rows.code(detail))


def _keep(known: dict[bytes, T], text: bytes, meaning: T) -> None:
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[text] = meaning


def _learn(comm: Comm, rank: int, nranks: int) -> None:
    """Keeps what a connection tells of its communicator, where nothing else told it."""
    if "rank" not in comm.facts:
        comm.facts["rank"] = rank
        comm.facts["rank_source"] = b"channel"
    if nranks != NONE:
        comm.facts.setdefault("nranks", nranks)


@lru_cache(maxsize=4096)
def _parts(via: bytes) -> tuple[bytes, int, int, int, bytes | None]:
    """Kind, network device, rank in between, whether GPU memory is reached directly, the rest."""
    found = _PARTS.match(via)
    if found is None:
        return via, NONE, NONE, NONE, None
    detail, direct = found["detail"], NONE
    if found["kind"].startswith((b"NET/", b"COLLNET/")):
        parts = (detail or b"").split(b"/")
        direct = int(any(part.startswith(b"GDRDMA") for part in parts))
        detail = b"/".join(p for p in parts if not p.startswith(b"GDRDMA")) or None
        return found["kind"], number(found["device"]), number(found["proxy"]), direct, detail
    return found["kind"], NONE, number(found["device"]), direct, detail
