"""``hipconfig`` and the versions of other tools: facts only."""

from __future__ import annotations

import re

from commscope.parsers.topology.rows import Rows
from commscope.parsers.topology.values import text_of

TOOL = "hipconfig"

_MARK = re.compile(r"^== hipconfig\s*$|^HIP_PLATFORM\s*: ", re.MULTILINE)
_KEY = re.compile(r"(HIP version|HIP_PLATFORM|HIP_RUNTIME|HIP_COMPILER|ROCM_PATH)\s*: ?(.{0,200})")


def recognises(head: str) -> bool:
    """Whether the first part of a file is text of hipconfig."""
    return bool(_MARK.search(head))


def read(text: str) -> Rows:
    """The versions that the text tells."""
    rows = Rows(TOOL)
    for line in text.splitlines():
        found = _KEY.fullmatch(line.strip())
        if found:
            rows.fact(found[1].lower().replace("_", " "), text_of(found[2]))
    return rows
