"""``amd-smi topology`` and ``amd-smi xgmi`` as text: tables with a title that ends in a colon."""

from __future__ import annotations

import re

from commscope.parsers.topology.amd_smi_keys import TOOL
from commscope.parsers.topology.matrix import MatrixReader
from commscope.parsers.topology.rows import Row, Rows
from commscope.parsers.topology.values import (
    bus_id_of,
    integer,
    link_kind_of,
    status_of,
    text_of,
    weight_of,
)

_MARK = re.compile(
    r"^[ \t]*(?:ACCESS|WEIGHT|HOPS|LINK TYPE|NUMA BW|LINK METRIC|CACHE COHERANCY|DMA|ATOMICS"
    r"|BI-DIRECTIONAL) TABLE:\s*$",
    re.MULTILINE,
)
_TITLE = re.compile(r"\s*([A-Z][A-Z -]{1,40}) TABLE:\s*")
_METRIC = re.compile(
    r"\s*GPU([0-9]{1,4})\s+(\S+:\S+)\s+(?:([0-9]{1,4} Gb/s)\s+([0-9]{1,6} Gb/s)|N/A)?"
)


def recognises(head: str) -> bool:
    """Whether the first part of a file holds tables of amd-smi."""
    return bool(_MARK.search(head))


def read(text: str) -> Rows:
    """The rows of all tables of the text."""
    reader = _Reader()
    for line in text.splitlines():
        reader.line(line)
    check(reader.rows)
    return reader.rows


def check(rows: Rows) -> None:
    """Remarks on links whose kind or weight is not told."""
    if any("hops" in row for row in rows.links.values()):
        rows.remark_weights()
    rows.remark_kinds()


def link_values(table: str, value: object) -> Row:
    """What a cell of one of the tables says of a link."""
    if table == "ACCESS":
        return {"status": status_of(value)}
    if table == "WEIGHT":
        return {"weight": weight_of(value)}
    if table == "HOPS":
        return {"hops": integer(value)}
    if table == "LINK TYPE":
        return {"kind": link_kind_of(value)}
    if table == "NUMA BW":
        text = text_of(value)
        return {"bandwidth": None if text in ("0-0", "SELF") else text}
    return {}


class _Reader:
    def __init__(self) -> None:
        self.rows = Rows(TOOL)
        self._table = ""
        self._matrix = MatrixReader(self.rows, self._cell)

    def line(self, line: str) -> None:
        title = _TITLE.fullmatch(line)
        if title:
            self._table = title[1]
            self._matrix.columns = ()
        elif self._table == "LINK METRIC":
            self._metric(line)
        elif self._table:
            before = self._matrix.columns
            self._matrix.read(line)
            if self._matrix.columns is not before:
                self._devices()

    def _devices(self) -> None:
        """The number of a device is its place in the table."""
        for index, label in enumerate(self._matrix.columns):
            self.rows.device(label, smi_index=index, bus_id=bus_id_of(label))

    def _cell(self, row: str, column: str, text: str) -> None:
        if row != column:
            self.rows.link(row, column, **link_values(self._table, text))

    def _metric(self, line: str) -> None:
        found = _METRIC.match(line)
        bus_id = bus_id_of(found[2]) if found else None
        if not found or bus_id is None:
            return
        self.rows.device(found[2], smi_index=int(found[1]), bus_id=bus_id)
        if found[3] and not self.rows.facts:
            self.rows.fact("xgmi bit rate", found[3])
            self.rows.fact("xgmi max bandwidth", found[4])
