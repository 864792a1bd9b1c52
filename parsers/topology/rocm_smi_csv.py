"""``rocm-smi --csv``: names and values of the system, then one line a card under a header."""

from __future__ import annotations

import csv
import re

from commscope.parsers.topology.rocm_smi_json import read_system
from commscope.parsers.topology.rocm_smi_keys import TOOL, check, values_of
from commscope.parsers.topology.rows import Rows

_MARK = re.compile(
    r'^"?\(Topology\) (?:Weight|Hops|Link type) between DRM devices [0-9]+ and [0-9]+"?,'
    r"|^device,[^\n]*(?:\(Topology\) Numa|PCI Bus|Card |GUID|Device ID)",
    re.MULTILINE | re.IGNORECASE,
)
_CARD = re.compile(r"card([0-9]{1,4})")


def recognises(head: str) -> bool:
    """Whether the first part of a file is CSV of rocm-smi."""
    return bool(_MARK.search(head))


def read(text: str) -> Rows:
    """The rows of the table; raises ValueError where a line cannot be taken apart."""
    rows = Rows(TOOL)
    header: list[str] = []
    try:
        for line in csv.reader(text.splitlines()):
            card = _CARD.fullmatch(line[0]) if line else None
            if line and line[0] == "device":
                header = line[1:]
            elif card:
                _card(rows, int(card[1]), dict(zip(header, line[1:])))
            elif len(line) == 2:
                read_system(rows, line[0], line[1])
    except csv.Error as error:
        raise ValueError(str(error)) from error
    check(rows)
    return rows


def _card(rows: Rows, index: int, values: dict[str, str]) -> None:
    rows.device(index, smi_index=index)
    for key, value in values.items():
        rows.device(index, **values_of(key, value))
