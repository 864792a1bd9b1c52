"""``collected.json``: what ``commscope env --save`` notes on the host it ran on."""

from __future__ import annotations

import re

from commscope.collect.host_facts import is_allowed
from commscope.parsers.topology.json_document import document_of
from commscope.parsers.topology.rows import Rows
from commscope.parsers.topology.values import text_of

TOOL = "commscope"

_MARK = re.compile(r'^[ \t]*\{\s*"schema"\s*:\s*"commscope\.collected/1"')


def recognises(head: str) -> bool:
    """Whether the first part of a file is such a manifest."""
    return bool(_MARK.search(head))


def read(text: str) -> Rows:
    """The host and the facts; raises ValueError where the file is cut or of another form."""
    document = document_of(text)
    rows = Rows(TOOL)
    if not isinstance(document, dict):
        raise ValueError("no object at its top")
    rows.host = (text_of(document.get("host")) or "").partition(".")[0] or None
    for name, value in _items(document.get("system")):
        rows.fact(name, text_of(value))
    for name, value in _items(document.get("environment")):
        if is_allowed(name):
            rows.fact(name, text_of(value))
    tools = document.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and tool.get("status") in ("failed", "timed out", "cut"):
            rows.remark(f"{text_of(tool.get('command'))}: {text_of(tool.get('reason'))}")
    return rows


def _items(values: object) -> list[tuple[str, object]]:
    return list(values.items()) if isinstance(values, dict) else []
