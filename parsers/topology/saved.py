"""``topology.N.json`` of a saved run: what one file on a topology gave, as it was read."""

from __future__ import annotations

import json
import re

import pyarrow as pa

from commscope.errors import SchemaError
from commscope.parsers.topology.json_document import document_of
from commscope.parsers.topology.rows import MOST_DEVICES, Row, Rows, TopologyFile
from commscope.schema import conform
from commscope.topology_schema import TOPOLOGY_TABLES

_SCHEMA = "commscope.topology/1"
_MARK = re.compile(rf'^\s*\{{\s*"schema"\s*:\s*"{_SCHEMA}"')
_WHERE = ("file", "tool", "host")
#: Links of a host are at most the square of its devices.
_MOST_ROWS = MOST_DEVICES**2
#: What Arrow raises on values that are no rows.
_NO_ROWS = (TypeError, ValueError, OverflowError, AttributeError)


def recognises(head: str) -> bool:
    """Whether the first part of a file is such a document."""
    return bool(_MARK.search(head))


def topology_bytes(file: TopologyFile) -> bytes:
    """The document of what was read of a file."""
    document = {
        "schema": _SCHEMA,
        **{name: getattr(file, name) for name in (*_WHERE, "remarks")},
        "tables": {name: _told(table) for name, table in file.tables.items()},
    }
    return json.dumps(document, indent=1).encode() + b"\n"


def read(text: str) -> Rows:
    """The rows as they were; raises ValueError where the document is cut or of another form."""
    document = document_of(text)
    tables = document.get("tables") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(tables, dict):
        raise ValueError("no object with tables at its top")
    if not all(isinstance(document.get(name), (str, type(None))) for name in _WHERE):
        raise ValueError("its file, tool or host is no text")
    rows = Rows(document["tool"] or "", file=document["file"], host=document["host"])
    rows.remarks += [text for text in document.get("remarks", ()) if isinstance(text, str)]
    told = {name: _valid(name, tables.get(name, [])) for name in TOPOLOGY_TABLES}
    _require_places(told)
    rows.devices += told["DEVICES"]
    rows.links.update({(row["src"], row.get("dst"), row.get("net")): row for row in told["LINKS"]})
    rows.nets += told["NETS"]
    rows.rings += told["RINGS"]
    rows.facts += told["FACTS"]
    return rows


def _told(table: pa.Table) -> list[Row]:
    """The rows without nulls, and without what is the same in all of them."""
    return [
        {name: value for name, value in row.items() if name not in _WHERE and value is not None}
        for row in table.to_pylist()
    ]


def _valid(name: str, rows: object) -> list[Row]:
    """The rows, all of whose values the table can hold."""
    if not isinstance(rows, list) or len(rows) > _MOST_ROWS:
        raise ValueError(f"its {name} are no rows, or too many")
    schema = pa.schema([field for field in TOPOLOGY_TABLES[name] if field.name not in _WHERE])
    try:
        conform(pa.Table.from_pylist(rows, schema=schema), schema, name)
    except (SchemaError, pa.ArrowException, *_NO_ROWS) as error:
        raise ValueError(f"its {name} hold what is none of theirs ({error})") from error
    return rows


def _require_places(told: dict[str, list[Row]]) -> None:
    """Raises ValueError where a link ends at a device that is not there."""
    there = {"src": "DEVICES", "dst": "DEVICES", "net": "NETS"}
    for row in told["LINKS"]:
        for end, table in there.items():
            place = row.get(end)
            if place is not None and not 0 <= place < len(told[table]):
                raise ValueError(f"a link ends at row {place} of {table}, which is not there")
