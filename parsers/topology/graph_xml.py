"""The rings and trees that RCCL or NCCL chose (``NCCL_GRAPH_DUMP_FILE``)."""

from __future__ import annotations

import re

from commscope.parsers.topology.rows import Row, Rows
from commscope.parsers.topology.values import dump_number, integer, text_of
from commscope.parsers.topology.xml_tree import Element, tree_of

TOOL = "graph dump"

_MARK = re.compile(r"<graphs(?:\s[^<>]{0,400})?>")
_NAMES = {0: "ring", 1: "tree", 2: "collnet_chain", 3: "nvls", 4: "collnet_direct"}
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


def recognises(head: str) -> bool:
    """Whether the first part of a file holds such graphs."""
    return bool(_MARK.search(head)) and "<graph " in head


def read(text: str) -> Rows:
    """The rows of the document; raises ValueError where it cannot be trusted to be read."""
    tree = tree_of(text)
    rows = Rows(TOOL)
    if tree.cut:
        rows.remark(f"it is cut: {tree.cut}")
    for graph in tree.root.children:
        number = integer(graph.get("id"))
        if graph.name != "graph" or number is None:
            rows.remark("an entry is no graph with a number")
            continue
        shared = _graph(graph, number)
        channels = [child for child in graph.children if child.name == "channel"]
        rows.rings += [{**shared, **_channel(it, n)} for n, it in enumerate(channels)]
    return rows


def _graph(graph: Element, number: int) -> Row:
    return {
        "graph": number,
        "name": _NAMES.get(number),
        "pattern": integer(graph.get("pattern")),
        "intra_gbps": _speed(graph.get("speedintra")),
        "inter_gbps": _speed(graph.get("speedinter")),
        "intra_link": text_of(graph.get("typeintra")),
        "inter_link": text_of(graph.get("typeinter")),
    }


def _channel(channel: Element, number: int) -> Row:
    ends: dict[str, list[str | None]] = {"gpu": [], "net": []}
    for child in channel.children:
        if child.name in ends:
            ends[child.name].append(text_of(child.get("dev")))
    devices = [dev for text in ends["gpu"] if (dev := dump_number(text)) is not None]
    return {"channel": number, "devices": devices, "nets": [net for net in ends["net"] if net]}


def _speed(value: str | None) -> float | None:
    return float(value) if value and _NUMBER.fullmatch(value) else None
