"""``amd-smi topology``, ``static`` and ``list`` as JSON: a list with one object a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from commscope.parsers.topology.amd_smi_keys import TOOL, read_fact, values_of
from commscope.parsers.topology.amd_smi_tables import check, link_values
from commscope.parsers.topology.json_document import document_of
from commscope.parsers.topology.rows import Rows
from commscope.parsers.topology.values import bus_id_of, integer

_MARK = re.compile(r'^[ \t]*(?:\{\s*"gpu_data"\s*:\s*)?\[\s*\{\s*"gpu"\s*:\s*"?[0-9]', re.MULTILINE)
_LINK_KEYS = {
    "weight": "WEIGHT",
    "link_status": "ACCESS",
    "link_type": "LINK TYPE",
    "num_hops": "HOPS",
    "bandwidth": "NUMA BW",
}
#: Up to 6.1.0 there was one object for each table.
OLD_TABLES = {
    "link_accessibility": "ACCESS",
    "weight": "WEIGHT",
    "hops": "HOPS",
    "link_type": "LINK TYPE",
    "numa_bandwidth": "NUMA BW",
}
_OLD_PEER = re.compile(r"gpu_([0-9]{1,4})")


def recognises(head: str) -> bool:
    """Whether the first part of a file is JSON of amd-smi."""
    return bool(_MARK.search(head))


def read(text: str) -> Rows:
    """The rows of the document; raises ValueError where it is cut or of another form."""
    document = document_of(text)
    if isinstance(document, dict):
        document = document.get("gpu_data")
    if not isinstance(document, list):
        raise ValueError("no list of GPUs in it")
    rows = Rows(TOOL)
    for entry in document:
        index = integer(entry.get("gpu")) if isinstance(entry, dict) else None
        if index is None:
            rows.remark("an entry names no GPU")
        else:
            _entry(rows, index, entry)
    if rows.links:
        check(rows)
    return rows


def _entry(rows: Rows, index: int, entry: dict[str, Any]) -> None:
    rows.device(index, smi_index=index, bus_id=bus_id_of(entry.get("bdf")))
    links = entry.get("links")
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict):
            _link(rows, index, link)
    for key, table in OLD_TABLES.items():
        peers = entry.get(key)
        for peer, value in peers.items() if isinstance(peers, dict) else ():
            old_link(rows, index, peer, table, value)
    for section, key, value in _flattened(entry):
        rows.device(index, **values_of(section, key, value))
        read_fact(rows, section, key, value)


def _link(rows: Rows, index: int, link: dict[str, Any]) -> None:
    peer = integer(link.get("gpu"))
    if peer is None:
        rows.remark("a link names no GPU")
        return
    rows.device(peer, smi_index=peer, bus_id=bus_id_of(link.get("bdf")))
    for key, table in _LINK_KEYS.items():
        if key in link:
            rows.link(index, peer, **link_values(table, link[key]))


def old_link(rows: Rows, index: int, peer: str, table: str, value: object) -> None:
    """Reads what the old form says of a peer that it calls gpu_N."""
    found = _OLD_PEER.fullmatch(peer)
    if found:
        rows.device(int(found[1]), smi_index=int(found[1]))
        rows.link(index, int(found[1]), **link_values(table, value))


def _flattened(entry: dict[str, Any]) -> Iterator[tuple[str, str, object]]:
    """Keys of the object itself and of the objects in it, with the section they stand in."""
    for key, value in entry.items():
        if key in OLD_TABLES or key == "links":
            continue
        if isinstance(value, dict) and "value" not in value:
            for inner, innermost in value.items():
                yield key, inner, innermost
        else:
            yield "", key, value
