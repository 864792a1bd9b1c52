"""``amd-smi static`` and ``amd-smi list`` as text: indented blocks below ``GPU: N``."""

from __future__ import annotations

import re

from commscope.parsers.topology.amd_smi_keys import TOOL, read_fact, values_of
from commscope.parsers.topology.rows import Rows

_MARK = re.compile(r"^GPU: [0-9]{1,4}[ \t]*\n[ \t]+[A-Z]", re.MULTILINE)
_DEVICE = re.compile(r"GPU: ([0-9]{1,4})\s*")
_KEY = re.compile(r"(\s+)([A-Za-z][A-Za-z0-9_ ]{1,60}):\s*(.{0,200}?)\s*")


def recognises(head: str) -> bool:
    """Whether the first part of a file holds such blocks."""
    return bool(_MARK.search(head))


def read(text: str) -> Rows:
    """The rows of the blocks."""
    rows = Rows(TOOL)
    index, section = None, ""
    for line in text.splitlines():
        if device := _DEVICE.fullmatch(line):
            index, section = int(device[1]), ""
            rows.device(index, smi_index=index)
        elif line[:1].strip():
            index = None
        elif index is not None and (found := _KEY.fullmatch(line)):
            if not found[3]:
                section = found[2]
            else:
                rows.device(index, **values_of(section, found[2], found[3]))
                read_fact(rows, section, found[2], found[3])
    return rows
