"""``nvidia-smi topo -m``, ``nvidia-smi -L`` and ``nvidia-smi --query-gpu=... --format=csv``."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from commscope.parsers.topology.matrix import LABEL, MatrixReader
from commscope.parsers.topology.rows import Row, Rows
from commscope.parsers.topology.values import bus_id_of, integer, text_of

TOOL = "nvidia-smi"

_MARK = re.compile(
    r"^[ \t]*(?:GPU0|NIC0)[ \t]+(?:(?:GPU|NIC|mlx)[0-9_]+[ \t]+){0,512}CPU Affinity"
    r"|^GPU [0-9]{1,4}: .{1,100} \(UUID: "
    r"|^index, (?:name|pci\.bus_id|uuid)",
    re.MULTILINE,
)
_LISTED = re.compile(r"GPU ([0-9]{1,4}): (.{1,100}?) \(UUID: (GPU-[0-9a-fA-F-]{36})\)\s*")
_LEGEND = re.compile(r"\s*NIC([0-9]{1,4}): (\S{1,60})\s*")
_BONDED = re.compile(r"NV([0-9]{1,3})")
_PATHS = ("PIX", "PXB", "PHB", "NODE", "SYS")


def recognises(head: str) -> bool:
    """Whether the first part of a file is text of nvidia-smi."""
    return bool(_MARK.search(head))


def read(text: str) -> Rows:
    """The rows of the text."""
    reader = _Reader()
    for line in text.splitlines():
        reader.line(line)
    reader.finish()
    return reader.rows


class _Reader:
    def __init__(self) -> None:
        self.rows = Rows(TOOL)
        self._matrix = MatrixReader(self.rows, self._cell)
        self._has_numa = False
        self._nets: dict[str, int] = {}
        self._query: list[str] = []

    def line(self, line: str) -> None:
        words = line.split()
        if len(words) > 1 and words[0] in ("GPU0", "NIC0") and _is_header(words):
            self._matrix.begin([word for word in words if LABEL.fullmatch(word)])
            self._has_numa = "NUMA" in words
        elif found := _LISTED.fullmatch(line):
            self._device(int(found[1]), product=found[2], uuid=found[3].lower())
        elif found := _LEGEND.fullmatch(line):
            self._named(f"NIC{found[1]}", found[2])
        elif line.startswith("index, "):
            self._query = [name.strip() for name in line.split(",")]
        elif self._query:
            self._queried(line)
        else:
            self._row(words, self._matrix.read(line))

    def finish(self) -> None:
        if (
            self.rows.devices
            and not self.rows.links
            and len(self.rows.devices) > 1
            and (self._matrix.columns)
        ):
            self.rows.remark("the table of links could not be read")

    def _device(self, index: int, **values: object) -> None:
        self.rows.device(index, nvml_index=index, **values)

    def _row(self, words: Sequence[str], rest: list[str] | None) -> None:
        """Takes the affinities that follow the cells of a GPU's row."""
        if rest and len(rest) > 1 and words[0].startswith("GPU") and self._has_numa:
            self._device(int(words[0][3:]), numa_affinity=integer(rest[1]))

    def _cell(self, row: str, column: str, text: str) -> None:
        ends = [row, column]
        for label in ends:
            if label.startswith("GPU"):
                self._device(int(label[3:]))
        values = _values(text)
        if row == column or not row.startswith("GPU") or not values:
            return
        if column.startswith("GPU"):
            self.rows.link(int(row[3:]), int(column[3:]), **values)
        else:
            self.rows.net_link(int(row[3:]), self._net(column), **values)

    def _net(self, label: str) -> int:
        if label not in self._nets:
            digits = re.search("[0-9]+$", label)
            index = int(digits[0]) if digits else None
            self._nets[label] = self.rows.net(name=label, index=index)
        return self._nets[label]

    def _named(self, label: str, name: str) -> None:
        if label in self._nets:
            self.rows.nets[self._nets[label]]["name"] = name

    def _queried(self, line: str) -> None:
        try:
            cells = next(csv.reader([line], skipinitialspace=True), [])
        except csv.Error:
            cells = []
        given = dict(zip(self._query, cells))
        index = integer(given.get("index"))
        if index is not None:
            uuid = text_of(given.get("uuid"))
            bus_id = bus_id_of(given.get("pci.bus_id"))
            product = text_of(given.get("name"))
            self._device(index, product=product, bus_id=bus_id, uuid=uuid and uuid.lower())


def _is_header(words: Sequence[str]) -> bool:
    """A header holds labels only, and then perhaps the titles of the affinities."""
    labels = sum(bool(LABEL.fullmatch(word)) for word in words)
    return labels == len(words) or words[labels] in ("CPU", "NUMA", "GPU")


def _values(text: str) -> Row:
    bonded = _BONDED.fullmatch(text)
    if bonded:
        return {"kind": "nvlink", "count": int(bonded[1])}
    return {"kind": "pcie", "path": text} if text in _PATHS else {}
