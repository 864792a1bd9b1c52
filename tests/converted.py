"""Comparing a trace with what was written of it and read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

import commscope
from commscope.columns import as_text
from commscope.convert import chosen_target, write_trace
from commscope.trace import Trace

#: What is of the files, not of what they hold.
_OF_FILES = {
    "RANKS": ("source", "file", "pid"),
    "COLLECTIVES": ("source",),
}
_OF_REPORT = ("inputs", "notes", "trust")


def rewritten(trace: Trace, file: Path) -> Trace:
    """The trace as it is read from what was written of it."""
    write_trace(trace, chosen_target(file, None))
    return commscope.load(file)


def assert_same_tables(found: Trace, wanted: Trace) -> None:
    assert rows(found.events, "EVENTS") == rows(wanted.events, "EVENTS")
    assert rows(found.host, "HOST") == rows(wanted.host, "HOST")
    assert rows(found.collectives, "COLLECTIVES") == rows(wanted.collectives, "COLLECTIVES")
    assert rows(found.all_steps, "STEPS") == rows(wanted.all_steps, "STEPS")
    assert rows(found.ranks, "RANKS") == rows(wanted.ranks, "RANKS")


def rows(table: pa.Table, name: str) -> list[dict[str, Any]]:
    """The rows, of collectives in the order of their kernels."""
    kept = as_text(table).drop(list(_OF_FILES.get(name, ())))
    return kept.sort_by("event").to_pylist() if name == "COLLECTIVES" else kept.to_pylist()


def report_dict(trace: Trace) -> dict[str, Any]:
    """The report but for what it says of files."""
    document = json.loads(commscope.analyze(trace).to_json())
    for rank in document["ranks"]:
        del rank["file"]
    return {key: value for key, value in document.items() if key not in _OF_REPORT}
