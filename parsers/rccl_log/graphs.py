"""Topology, and the rings and trees that were chosen for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from commscope.columns import NONE
from commscope.log_schema import GRAPHS
from commscope.parsers.rccl_log.comms import Comms
from commscope.parsers.rccl_log.rows import RowTable, number, without_rank
from commscope.parsers.rccl_log.writers import Comm, Writer

_PATTERN = re.compile(
    rb"Pattern (\d+), crossNic \d+, nChannels (\d+), (?:bw|speed) ([\d.]+)/([\d.]+), "
    rb"type (\w+)/(\w+)"
)
_PATTERNS = {
    b"1": b"balanced_tree",
    b"2": b"split_tree",
    b"3": b"tree",
    b"4": b"ring",
    b"5": b"nvls",
    b"6": b"collnet_direct",
}
_RING_LIST = re.compile(rb"Channel (\d+)/(\d+) :((?: +\d{1,9})+)\s*$")
_RING = re.compile(rb"Ring (\d{1,9}) : (-?\d{1,9}) -> (-?\d{1,9}) -> (-?\d{1,9})\b")
_TREE = re.compile(
    rb"\[(\d{1,9})\] (-?\d{1,9}(?:/-?\d{1,9}){0,9})->(-?\d{1,9})->(-?\d{1,9})(?![\d>])"
)
_WHOLE_TREES = re.compile(rb" comm 0x[0-9a-f]+ ")
_CONNECTED = re.compile(rb"Connected ([\w ]{1,30}?)(?:,| comm |\s*$)")
_PATH = re.compile(rb"((?:GPU|NVS|NET)/\S{1,40}) \((\d+)/(\d+(?:\.\d+)?)/(\w+)\)")
#: A line of the tree of devices: what is below a GPU is linked to it.
_LINK = re.compile(rb" *\+ (\w{2,8})\[(\d+(?:\.\d+)?)\] - ([A-Z]{3}/\S{1,40})")
_LINKS_OF_GPUS = (b"XGMI", b"NVL")
_FROM = re.compile(rb"(GPU/\S{1,40}) :")
_NIC = re.compile(rb"\[(\d+)\]([^\s:<\[]{1,60})(?::\d+/(\w+))?")
_NICS = re.compile(rb"NET/(\w+) ?: Using (.*?)(?:; OOB|$)")
_FIELDS = GRAPHS.names[GRAPHS.get_field_index("rank") + 1 :]
#: Columns behind the ranks of a ring or tree.
_NOTHING = (NONE,) * (len(_FIELDS) - _FIELDS.index("ranks") - 1)
#: A record longer than this may have been cut in its last number.
_CUT_BYTES = 900


class Graphs(RowTable):
    """The rows of GRAPHS."""

    def __init__(self, comms: Comms) -> None:
        super().__init__(without_rank(GRAPHS), "comm")
        self._paths: set[tuple[str | None, bytes]] = set()
        self._links: set[tuple[str | None, bytes, bytes]] = set()
        self._above: dict[int, bytes] = {}  #: the GPU that a writer's tree of devices is at
        self._comms = comms

    def read_pattern(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads one result of the search for rings and trees."""
        found = _PATTERN.match(message)
        if not found:
            return False
        kind, channels, intra, inter, link, inter_link = found.groups()
        code = self.rows.code
        self._add(
            *(writer, place, writer.speaks_of(), b"pattern"),
            channels=number(channels),
            name=code(_PATTERNS.get(kind, kind)),
            link=code(link),
            inter_link=code(inter_link),
            bandwidth_gbps=self._bandwidth(intra),
            inter_bandwidth_gbps=self._bandwidth(inter),
        )
        return True

    def read_ring_list(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads the order of the ranks in one ring, of which at most 20 are printed."""
        found = _RING_LIST.match(message)
        if not found:
            return False
        ranks = self._ranks(found[3].split())
        numbers = {"channel": number(found[1]), "channels": number(found[2])}
        self._add(writer, place, writer.speaks_of(), b"ring_list", ranks=ranks, **numbers)
        return True

    def read_ring(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads the neighbours of a rank in one ring."""
        found = _RING.match(message)
        if not found:
            return False
        ranks = self._ranks(found.groups()[1:])
        comm = self._comms.named(writer, place, message)
        self._add(writer, place, comm, b"ring", channel=number(found[1]), ranks=ranks)
        return True

    def read_trees(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads the neighbours of a rank in all trees."""
        trees = _TREE.findall(message)
        if len(message) > _CUT_BYTES and not _WHOLE_TREES.search(message):
            trees = trees[:-1]
        comm = self._comms.named(writer, place, message)
        row, kind = NONE if comm is None else comm.number, self.rows.code(b"tree")
        for channel, down, own, up in trees:
            ranks = self._ranks([up, own, *down.split(b"/")])
            self.rows.add(place, writer.number, row, kind, int(channel), NONE, ranks, *_NOTHING)
        return bool(trees)

    def read_connected(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads that all rings or trees are connected."""
        found = _CONNECTED.match(message)
        if found and not found[1].startswith(b"to proxy"):
            name = self.rows.code(found[1].strip())
            comm = self._comms.named(writer, place, message)
            self._add(writer, place, comm, b"connected", name=name)
        return found is not None

    def read_paths(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads the paths from one GPU to the others, of which each process writes all."""
        begin = _FROM.match(message)
        if not begin:
            return False
        if (writer.host, message) in self._paths:
            return True
        self._paths.add((writer.host, message))
        name = self.rows.code(begin[1])
        for peer, hops, bandwidth, link in _PATH.findall(message, begin.end()):
            if peer != begin[1]:
                self._add(
                    *(writer, place, None, b"path"),
                    name=name,
                    peer=self.rows.code(peer),
                    hops=number(hops),
                    bandwidth_gbps=self.rows.code(bandwidth),
                    link=self.rows.code(link),
                )
        return True

    def read_link(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads what links a GPU to another or to a switch, of which each process writes all."""
        found = _LINK.match(message)
        if not found:
            return False
        link, bandwidth, device = found.groups()
        if link not in _LINKS_OF_GPUS:
            if device.startswith(b"GPU/"):
                self._above[writer.number] = device
            return False
        gpu = self._above.get(writer.number)
        key = (writer.host, gpu or b"", device)
        if gpu is not None and key not in self._links:
            self._links.add(key)
            code = self.rows.code
            values = {"name": code(gpu), "peer": code(device), "link": code(link)}
            bandwidth_code = self._bandwidth(bandwidth)
            self._add(writer, place, None, b"link", bandwidth_gbps=bandwidth_code, **values)
        return gpu is not None

    def read_nics(self, writer: Writer, place: int, message: bytes) -> bool:
        """Reads which network devices were found."""
        found = _NICS.match(message)
        if not found:
            return False
        for _, name, kind in _NIC.findall(found[2]):
            code = self.rows.code
            link = code(kind or found[1])
            self._add(writer, place, None, b"nic", name=code(name), link=link)
        return True

    def _bandwidth(self, text: bytes) -> int:
        return self.rows.code(text) if re.fullmatch(rb"\d+(?:\.\d+)?", text) else NONE

    def _ranks(self, ranks: Sequence[bytes]) -> int:
        return self.rows.list_code([None if r[:1] == b"-" else int(r) for r in ranks])

    def _add(
        self, writer: Writer, place: int, comm: Comm | None, kind: bytes, **values: int
    ) -> None:
        row = NONE if comm is None else comm.number
        values["kind"] = self.rows.code(kind)
        self.rows.add(place, writer.number, row, *[values.get(name, NONE) for name in _FIELDS])
