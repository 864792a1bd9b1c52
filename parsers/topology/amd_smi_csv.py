"""``amd-smi ... --csv``: one line a GPU; tables of links are flattened to columns."""

from __future__ import annotations

import csv
import re

from commscope.parsers.topology.amd_smi_json import OLD_TABLES, old_link
from commscope.parsers.topology.amd_smi_keys import TOOL, values_of
from commscope.parsers.topology.amd_smi_tables import check
from commscope.parsers.topology.rows import Rows
from commscope.parsers.topology.values import integer

_MARK = re.compile(
    r"^gpu,[^\n]*(?:\bbdf\b|link_type_gpu_|weight_gpu_|hops_gpu_|gpu_bdf|market_name|kfd_id)",
    re.MULTILINE | re.IGNORECASE,
)
_PEER = re.compile(r"([a-z_]{1,40})_(gpu_[0-9]{1,4})")
#: Sections are lost in CSV: these names stand for what is in one.
_SECTIONS = {"node": "numa", "affinity": "numa"}


def recognises(head: str) -> bool:
    """Whether the first part of a file is CSV of amd-smi."""
    return bool(_MARK.search(head))


def read(text: str) -> Rows:
    """The rows of the table; raises ValueError where a line cannot be taken apart."""
    rows = Rows(TOOL)
    header: list[str] = []
    try:
        for line in csv.reader(text.splitlines()):
            if line and line[0].lower() == "gpu":
                header = [name.lower() for name in line]
            elif line and (index := integer(line[0])) is not None and header:
                _device(rows, index, dict(zip(header[1:], line[1:])))
    except csv.Error as error:
        raise ValueError(str(error)) from error
    if rows.links:
        check(rows)
    return rows


def _device(rows: Rows, index: int, values: dict[str, str]) -> None:
    rows.device(index, smi_index=index)
    for name, value in values.items():
        found = _PEER.fullmatch(name)
        if found and found[1] in OLD_TABLES:
            old_link(rows, index, found[2], OLD_TABLES[found[1]], value)
        else:
            rows.device(index, **values_of(_SECTIONS.get(name, ""), name, value))
