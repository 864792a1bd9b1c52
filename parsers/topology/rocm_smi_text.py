"""The text of ``rocm-smi``: sections with a title between equals signs."""

from __future__ import annotations

import re

from commscope.parsers.topology.matrix import MatrixReader
from commscope.parsers.topology.rocm_smi_keys import TOOL, check, values_of
from commscope.parsers.topology.rows import Rows
from commscope.parsers.topology.values import (
    bus_id_of,
    device_id_of,
    gfx_of,
    integer,
    link_kind_of,
    long_integer,
    status_of,
    text_of,
    weight_of,
)

_MARK = re.compile(
    r"ROCm System Management Interface"
    r"|(?:Weight|Hops|Link Type|Link accessibility) between two GPUs"
    r"|^GPU\[[0-9]{1,4}\]\s*: (?:PCI Bus|Card |\(Topology\))",
    re.MULTILINE,
)
_TITLE = re.compile(r"\s*={3,} (.{1,80}?) ={3,}\s*")
_DEVICE = re.compile(r"\s*GPU\[([0-9]{1,4})\]\s*: ([^:]{1,60}):\s*(.{0,200})")
_ERROR = re.compile(r"\s*ERROR:?\s+(?:GPU\[[0-9]{1,4}\]\s*:\s*)?(.{1,160})")
_NEW_CONCISE = re.compile(r"\s*([0-9]{1,4})\s+([0-9]{1,4})\s+(0x[0-9a-fA-F]{4}),\s+([0-9]{1,10})\s")
_OLD_CONCISE = re.compile(r"\s*([0-9]{1,4})\s+\[(0x[0-9a-fA-F]{4}) : 0x")
_MATRIX = {
    "weight between two gpus": "weight",
    "hops between two gpus": "hops",
    "link type between two gpus": "kind",
    "link accessibility between two gpus": "status",
}
_HARDWARE = {
    "NODE": ("hsa_node", integer),
    "DID": ("device_id", device_id_of),
    "GUID": ("kfd_id", long_integer),
    "GFX VER": ("gfx", gfx_of),
    "BUS": ("bus_id", bus_id_of),
    "PARTITION ID": ("partition", integer),
}


def recognises(head: str) -> bool:
    """Whether the first part of a file is text of rocm-smi."""
    return bool(_MARK.search(head))


def read(text: str) -> Rows:
    """The rows of the text."""
    reader = _Reader()
    for line in text.splitlines():
        reader.line(line)
    check(reader.rows)
    return reader.rows


class _Reader:
    def __init__(self) -> None:
        self.rows = Rows(TOOL)
        self._title = ""
        self._matrix = MatrixReader(self.rows, self._cell)
        self._hardware: list[str] = []

    def line(self, line: str) -> None:
        title = _TITLE.fullmatch(line)
        if title:
            self._title = title[1].strip()
            self._matrix.columns, self._hardware = (), []
        elif error := _ERROR.match(line):
            self.rows.remark(f"{TOOL} says: {error[1].strip()}")
        elif found := _DEVICE.match(line):
            self._key(int(found[1]), found[2], found[3])
        elif self._title.lower() in _MATRIX:
            self._matrix.read(line)
        else:
            self._other(line)

    def _key(self, index: int, key: str, value: str) -> None:
        values = values_of(key, value)
        if values:
            self.rows.device(index, smi_index=index, **values)

    def _cell(self, row: str, column: str, text: str) -> None:
        if not (row.startswith("GPU") and column.startswith("GPU")):
            return
        src, dst = int(row[3:]), int(column[3:])
        for index in (src, dst):
            self.rows.device(index, smi_index=index)
        if src != dst:
            self._link(src, dst, text)

    def _link(self, src: int, dst: int, text: str) -> None:
        # Broken output has link types under the title of weights: the cell decides.
        wanted = _MATRIX[self._title.lower()]
        if text.isalpha() and (status := status_of(text)):
            self.rows.link(src, dst, status=status)
        elif text.isalpha():
            if wanted != "kind":
                self.rows.remark(f"link types stand under the title {self._title!r}")
            self.rows.link(src, dst, kind=link_kind_of(text))
        elif wanted == "weight":
            self.rows.link(src, dst, weight=weight_of(text))
        elif wanted == "hops":
            self.rows.link(src, dst, hops=integer(text))

    def _other(self, line: str) -> None:
        if line.startswith("GPU ") and "BUS" in line:
            self._hardware = re.split(r"\s{2,}", line.strip())
        elif self._hardware:
            self._hardware_row(line.split())
        elif found := _NEW_CONCISE.match(line):
            index = int(found[1])
            values = {"hsa_node": integer(found[2]), "device_id": device_id_of(found[3])}
            self.rows.device(index, smi_index=index, kfd_id=long_integer(found[4]), **values)
        elif found := _OLD_CONCISE.match(line):
            index = int(found[1])
            self.rows.device(index, smi_index=index, device_id=device_id_of(found[2]))
        elif line.startswith("Driver version:"):
            self.rows.fact("amdgpu driver", text_of(line.partition(":")[2]))

    def _hardware_row(self, cells: list[str]) -> None:
        index = integer(cells[0]) if len(cells) == len(self._hardware) else None
        if index is None:
            return
        given = dict(zip(self._hardware, cells))
        values = {name: convert(given.get(key)) for key, (name, convert) in _HARDWARE.items()}
        self.rows.device(index, smi_index=index, **values)
