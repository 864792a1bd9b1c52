"""``rocm-smi --json``: an object ``system`` for pairs of devices, one ``cardN`` for each device."""

from __future__ import annotations

import re

from commscope.parsers.topology.json_document import document_of
from commscope.parsers.topology.rocm_smi_keys import TOOL, check, read_pair, values_of
from commscope.parsers.topology.rows import Rows
from commscope.parsers.topology.values import text_of

_MARK = re.compile(r'^[ \t]*\{\s*"(?:card[0-9]{1,4}|system)"\s*:\s*\{', re.MULTILINE)
_CARD = re.compile(r"card([0-9]{1,4})")


def recognises(head: str) -> bool:
    """Whether the first part of a file is JSON of rocm-smi."""
    return bool(_MARK.search(head))


def read(text: str) -> Rows:
    """The rows of the document; raises ValueError where it is cut or of another form."""
    document = document_of(text)
    rows = Rows(TOOL)
    if not isinstance(document, dict):
        raise ValueError("no object at its top")
    for name, values in document.items():
        if not isinstance(values, dict):
            rows.remark(f"{name[:40]!r} holds no values")
        elif card := _CARD.fullmatch(name):
            rows.device(int(card[1]), smi_index=int(card[1]))
            for key, value in values.items():
                rows.device(int(card[1]), **values_of(key, value))
        elif name == "system":
            for key, value in values.items():
                read_system(rows, key, value)
    check(rows)
    return rows


def read_system(rows: Rows, key: str, value: object) -> None:
    """Reads what is said of the system: a pair of devices, or the driver's version."""
    if not read_pair(rows, key, value) and key == "Driver version":
        rows.fact("amdgpu driver", text_of(value))
