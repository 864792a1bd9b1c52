"""Traces of rocprofv3 that list the agents of their host: JSON and rocpd databases.

Only as much of a trace is read as the list needs. What is wrong with a trace is told by whoever
reads it as one: here it holds no topology.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import msgspec

from commscope.errors import CommscopeError
from commscope.parsers.json_text import json_object
from commscope.parsers.opening import Source, is_packed, open_blocks
from commscope.parsers.rocpd_layout import Run, find_runs
from commscope.parsers.rocprof_forms import Form, form_of
from commscope.parsers.rocprof_sections import AGENTS, PROCESS, pieces_of
from commscope.parsers.sqlite_file import connect, open_database
from commscope.parsers.topology.agents import rows_of_agents
from commscope.parsers.topology.rows import Rows, TopologyFile

#: Databases that are packed must be unpacked whole: larger ones are not for this alone.
_MOST_PACKED = 64 << 20
_NODE = re.compile(rb'"node"\s*:\s*(\{[^{}]*\})')
_AGENTS = msgspec.json.Decoder(list[dict[str, Any]])


def lists_agents(head: bytes) -> bool:
    """Whether the first bytes are of a trace that lists agents."""
    return form_of(head) in (Form.DOCUMENT, Form.DATABASE)


def read_agents(source: Source, head: bytes) -> list[TopologyFile]:
    """The GPUs and links that a trace lists, one result a host; none where it lists no GPU."""
    read = _of_document if form_of(head) is Form.DOCUMENT else _of_database
    try:
        found = read(source)
    except (CommscopeError, sqlite3.Error, OSError, UnicodeDecodeError):
        return []
    return [rows.finish(source.label) for rows in found if rows.devices]


def _of_document(source: Source) -> list[Rows]:
    """Of several processes in a document the first one tells: they ran on one host."""
    host = None
    with open_blocks(source) as blocks:
        for piece in pieces_of(blocks, source.label):
            if piece.section == PROCESS:
                host = _host_in(piece.text)
            elif piece.section == AGENTS:
                return [rows_of_agents(_decoded(piece.text), host)]
    return []


def _host_in(text: bytes) -> str | None:
    found = _NODE.search(text)
    name = json_object(found[1]).get("hostname") if found else None
    return name if isinstance(name, str) else None


def _decoded(text: bytes) -> list[dict[str, Any]]:
    try:
        return _AGENTS.decode(b"[" + text + b"]")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []


def _of_database(source: Source) -> list[Rows]:
    with _opened(source) as connection:
        if connection is None:
            return []
        return [rows for run in find_runs(connection) for rows in _of_run(connection, run)]


@contextmanager
def _opened(source: Source) -> Iterator[sqlite3.Connection | None]:
    """The database, without a look at all of it; null where that cannot be had."""
    path = source.path
    if path is not None and source.extent is None and not is_packed(path):
        with closing(connect(path)) as connection:
            yield connection
    elif source.size is not None and source.size <= _MOST_PACKED:
        with open_database(source, lambda _done, _total: None) as database:
            yield database.connection
    else:
        yield None


def _of_run(connection: sqlite3.Connection, run: Run) -> list[Rows]:
    agents, nodes = run.get("info_agent", "nid", "extdata"), run.get("info_node", "id", "hostname")
    if agents is None:
        return []
    hosts = dict(connection.execute(f"SELECT id, hostname FROM {nodes.sql('t')}")) if nodes else {}
    by_node: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)
    for node, text in connection.execute(f"SELECT nid, extdata FROM {agents.sql('t')}"):
        by_node[node].append(json_object(text))
    return [rows_of_agents(listed, _text(hosts.get(node))) for node, listed in by_node.items()]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
