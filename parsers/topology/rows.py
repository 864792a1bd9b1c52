"""What a reader of one format fills, and the tables that come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from commscope.parsers.row_builder import RowBuilder, valid_text
from commscope.topology_schema import TOPOLOGY_TABLES

Row = dict[str, Any]

#: What a file may hold at most; real hosts have a few dozen of each.
MOST_DEVICES = 512
_MOST_REMARKS = 20


@dataclass(frozen=True, slots=True)
class TopologyFile:
    """One output of one tool as tables of ``commscope.topology_schema``.

    ``remarks`` say why it is partial, one sentence each. Rows of DEVICES and NETS that LINKS
    names count from 0 in this file.
    """

    file: str
    tool: str
    host: str | None
    tables: Mapping[str, pa.Table]
    remarks: tuple[str, ...]


@dataclass(slots=True)
class Rows:
    """Rows that grow as a file is read; devices are found again by a key of the format."""

    tool: str
    devices: list[Row] = field(default_factory=list)
    links: dict[tuple[int, int | None, int | None], Row] = field(default_factory=dict)
    nets: list[Row] = field(default_factory=list)
    rings: list[Row] = field(default_factory=list)
    facts: list[Row] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    host: str | None = None
    file: str | None = None  #: what was read, where it is another file than this one
    _places: dict[Any, int] = field(default_factory=dict)

    def place(self, key: Any) -> int | None:
        """The row of the device with this key, made where it is new; null beyond the limit."""
        if key not in self._places:
            if len(self.devices) >= MOST_DEVICES:
                self.remark(f"more than {MOST_DEVICES} devices: the others are left out")
                return None
            self._places[key] = len(self.devices)
            self.devices.append({})
        return self._places[key]

    def device(self, key: Any, **values: Any) -> None:
        """Says more of a device: what is known already stays."""
        place = self.place(key)
        if place is not None:
            _add(self.devices[place], values)

    def link(self, src: Any, dst: Any, **values: Any) -> None:
        """Says more of the link from one device to another; a device has none to itself."""
        begin, end = self.place(src), self.place(dst)
        if begin is not None and end is not None and begin != end:
            self._link(begin, end, None, values)

    def net_link(self, src: Any, net: int, **values: Any) -> None:
        """Says more of the link from a device to a network device."""
        place = self.place(src)
        if place is not None:
            self._link(place, None, net, values)

    def net(self, **values: Any) -> int:
        """Adds a network device; returns its row."""
        self.nets.append(_known(values))
        return len(self.nets) - 1

    def fact(self, name: str, value: str | None) -> None:
        """Adds a fact on the host."""
        self.facts.append({"name": name, "value": value})

    def remark(self, sentence: str) -> None:
        """Says, once, why the file is partial."""
        if sentence not in self.remarks and len(self.remarks) < _MOST_REMARKS:
            self.remarks.append(sentence)

    def drop_shared_bus_ids(self, why: str) -> None:
        """Drops bus ids that several devices share, and says why they do."""
        times = Counter(row.get("bus_id") for row in self.devices)
        for row in self.devices:
            if times[row.get("bus_id")] > 1 and row.pop("bus_id", None):
                self.remark(f"several GPUs have one bus id, as {why}")

    def remark_kinds(self) -> None:
        """Says of how many links the kind is not told."""
        unknown = sum("kind" not in row for row in self.links.values())
        if unknown and self._told_links():
            self.remark(f"the kind of {unknown} of {len(self.links)} links is not told")

    def remark_weights(self) -> None:
        """Says so where no link has a weight."""
        told = self._told_links()
        if told and not any("weight" in row for row in told):
            self.remark("no weight is told: it is 0 or missing for every link")

    def _told_links(self) -> list[Row]:
        """Links that say how devices are joined: some output tells only whether they reach."""
        return [row for row in self.links.values() if row.keys() & {"kind", "hops", "weight"}]

    def is_empty(self) -> bool:
        """Whether nothing was read."""
        return not (self.devices or self.nets or self.rings or self.facts)

    def finish(self, file: str) -> TopologyFile:
        """The rows as tables."""
        file = self.file or file
        host = valid_text(self.host)
        where = {"file": file, "tool": self.tool, "host": host}
        rows = {
            "DEVICES": self.devices,
            "LINKS": list(self.links.values()),
            "NETS": self.nets,
            "RINGS": self.rings,
            "FACTS": self.facts,
        }
        tables = {}
        for name, schema in TOPOLOGY_TABLES.items():
            table = RowBuilder(schema, name)
            for row in rows[name]:
                table.add(**{**where, **row})
            tables[name] = table.table()
        return TopologyFile(file, self.tool, host, tables, tuple(self.remarks))

    def _link(self, src: int, dst: int | None, net: int | None, values: Row) -> None:
        row = self.links.setdefault((src, dst, net), {"src": src, "dst": dst, "net": net})
        _add(row, values)


def _known(values: Row) -> Row:
    return {name: value for name, value in values.items() if value is not None}


def _add(row: Row, values: Row) -> None:
    for name, value in _known(values).items():
        row.setdefault(name, value)
