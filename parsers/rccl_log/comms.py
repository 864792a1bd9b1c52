"""Communicators: initialisation, members, timings, channels, end."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa

from commscope.columns import NONE
from commscope.log_schema import COMMS
from commscope.parsers.rccl_log.rows import MOST_64, RowTable, number
from commscope.parsers.rccl_log.writers import Comm, Process, Writer

_STATE = re.compile(rb"(?<= |\d)- ?(Init|Destroy|Abort) (START|COMPLETE)")
_ADDRESS = re.compile(rb"\bcomm:? ?(0x[0-9a-f]+)")
_TIMINGS = re.compile(
    rb"Init timings(?: - \w+)?: rank (\d+) nranks (\d+) total (\d{1,9}\.\d{1,9}) \(([^)]{1,300})\)"
)
_PART = re.compile(rb"(\w+) (\d{1,9}\.\d{1,9})")
_COUNTS = re.compile(
    rb"(\d+) coll channels,(?: \d+ collnet channels,)?(?: (\d+) nvls channels,)?"
    rb" (\d+) p2p channels, (\d+) p2p channels per peer"
)
_NEW_COUNTS = re.compile(
    rb"comm:(0x[0-9a-f]+), nRanks:(\d+), nNodes:(\d+), coll channels:(\d+).{0,40}?"
    rb" nvls channels:(\d+), p2p channels:(\d+), p2p channels per peer:(\d+)"
)
_NETWORK = re.compile(rb"Using network (\S.{0,60})$")

#: Words before numbers in records of communicators -> column of COMMS.
_NUMBERS = {
    b"rank": "rank",
    b"nranks": "nranks",
    b"cudadev": "cuda_dev",
    b"nvmldev": "nvml_dev",
    b"nnodes": "nnodes",
    b"localranks": "local_ranks",
    b"localrank": "local_rank",
}
_TEXTS = {b"busid": "bus_id", b"commid": "comm_id", b"parent": "parent"}
_PARTS = ("kernels", "alloc", "bootstrap", "allgathers", "topo", "graphs", "connections", "rest")
#: Stands for the address of a communicator until a record tells it.
_UNNAMED = b""
_ENDS = {b"Destroy": b"destroyed", b"Abort": b"aborted"}


class Comms(RowTable):
    """All communicators of all processes, as the records tell of them."""

    def __init__(self) -> None:
        super().__init__(COMMS, "address")
        self.all: list[Comm] = []
        #: Told of each process that gets a communicator.
        self.watch: Callable[[Process], None] = lambda _: None

    def of(self, address: bytes, writer: Writer, place: int) -> Comm:
        """The living communicator at an address of the writer's process."""
        comm = writer.process.comms.get(address)
        if comm is None:
            comm = self._new(address, writer, place)
        writer.comm = comm
        return comm

    def _new(self, address: bytes, writer: Writer, place: int) -> Comm:
        process = writer.process
        comm = process.comms.pop(_UNNAMED, None)
        if comm is None:
            comm = Comm(len(self.all), place, writer)
            self.all.append(comm)
        if address != _UNNAMED:
            comm.facts["address"] = address
        if process.network is not None:
            comm.facts.setdefault("network", process.network)
        process.comms[address] = comm
        self.watch(process)
        return comm

    def named(self, writer: Writer, place: int, message: bytes) -> Comm | None:
        """The communicator that a message names, else the one that its writer speaks of."""
        found = _ADDRESS.search(message)
        return self.of(found[1], writer, place) if found else writer.speaks_of()

    def read_state(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads the begin and end of an initialisation, the end of a communicator, its members."""
        words = message.replace(b"- Init", b" - Init").split()
        if b"comm" not in words:
            return False
        pairs = words[words.index(b"comm") :]
        facts = dict(zip((word.lower() for word in pairs[::2]), pairs[1::2]))
        state = _STATE.search(message)
        address = facts.get(b"comm", b"")
        if not address.startswith(b"0x") or (state is None and b"nnodes" not in facts):
            return False
        comm = self._of_state(address, state and state[2], writer, place)
        self._learn(comm, facts)
        if state:
            self._enter(comm, state[1], state[2], place)
        return True

    def _of_state(self, address: bytes, state: bytes | None, writer: Writer, place: int) -> Comm:
        comm = writer.process.comms.get(address)
        if comm is not None and state == b"START" and comm.is_begun:
            del writer.process.comms[address]  # the address was given to another one
        return self.of(address, writer, place)

    def _learn(self, comm: Comm, facts: dict[bytes, bytes]) -> None:
        for word, column in _NUMBERS.items():
            value = number(facts.get(word))
            if value != NONE:
                comm.facts[column] = value
        if b"rank" in facts:
            comm.facts["rank_source"] = b"init"
        for word, column in _TEXTS.items():
            if word in facts:
                comm.facts[column] = facts[word]
        color = number(facts.get(b"color"), MOST_64)
        if color != NONE:
            comm.facts["color"] = color

    def _enter(self, comm: Comm, phase: bytes, step: bytes, place: int) -> None:
        if phase == b"Init":
            comm.facts.setdefault("start_line" if step == b"START" else "complete_line", place)
            return
        comm.facts["end"] = _ENDS[phase]
        if not comm.is_begun:
            comm.facts["rank_source"] = b"end"

    def read_timings(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads how long the initialisation took; the record names no communicator."""
        found = _TIMINGS.match(message)
        if not found:
            return False
        rank, nranks = number(found[1]), number(found[2])
        comm = self._timed(writer, rank, nranks)
        if comm is None:
            comm = self.of(_UNNAMED, writer, place)
            comm.facts.update(rank=rank, nranks=nranks, rank_source=b"init")
        comm.facts["timings_line"] = place
        comm.facts["total_ns"] = _ns(found[3])
        for word, seconds in _PART.findall(found[4]):
            if word.decode("ascii", "replace") in _PARTS:
                comm.facts[f"{word.decode()}_ns"] = _ns(seconds)
        return True

    @staticmethod
    def _timed(writer: Writer, rank: int, nranks: int) -> Comm | None:
        known = [writer.comm] if writer.comm else []
        for comm in [*known, *reversed(writer.process.comms.values())]:
            if (comm.facts.get("rank"), comm.facts.get("nranks")) == (rank, nranks):
                return comm
        return None

    def read_channels(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads how many channels a communicator has."""
        found = _COUNTS.match(message)
        if found:
            comm = writer.speaks_of()
            coll, nvls, p2p, peer = found.groups()
        else:
            found = _NEW_COUNTS.match(message)
            if not found:
                return False
            address, nranks, nnodes, coll, nvls, p2p, peer = found.groups()
            comm = self.of(address, writer, place)
            self._learn(comm, {b"nranks": nranks, b"nnodes": nnodes})
        if comm is not None:
            comm.facts["coll_channels"], comm.facts["p2p_channels"] = number(coll), number(p2p)
            comm.facts["p2p_channels_per_peer"], comm.facts["nvls_channels"] = (
                number(peer),
                number(nvls),
            )
        return True

    def read_network(self, writer: Writer, place: int, message: bytes) -> bool:  # noqa: ARG002
        """Reads which network a process uses, until it says another one."""
        found = _NETWORK.match(message.rstrip())
        if found:
            writer.process.network = found[1]
            if writer.comm is not None:
                writer.comm.facts.setdefault("network", found[1])
        return found is not None

    def arrays(self) -> dict[str, pa.Array]:
        """The columns of COMMS; those of lines hold places. To be called once, at the end."""
        rows = self.rows
        columns = COMMS.names[COMMS.get_field_index("address") :]
        for comm in self.all:
            facts = comm.facts
            values = (facts.get(column, NONE) for column in columns)
            coded = (rows.code(v) if isinstance(v, bytes) else v for v in values)
            rows.add(comm.place, comm.writer.number, *coded)
        return super().arrays()


def _ns(seconds: bytes) -> int:
    return int(Decimal(seconds.decode()) * 10**9)
