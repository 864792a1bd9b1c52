"""Collectives that only the log names: those of real runs, without their metadata."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support import case
from tables import GENERIC

import commscope
from commscope import sample_traces
from commscope.classify import op_from_name
from commscope.normalize.named_by_log import name_by_log
from commscope.schema import COLLECTIVES, table_of
from commscope.trace import Trace

CASES = (
    "a2a", "blocking_stdout", "busbw", "ddp_default", "ddp_small_buckets", "ddp_straggler", "fsdp",
    "tp",
)  # fmt: skip
FACTS = ("op", "bytes", "dtype", "group_size", "members")


def without_metadata(trace: Trace, *, with_ops: bool = True) -> Trace:
    """The trace with only what the names of its kernels tell, or not even that."""
    rows = trace.collectives.select(["event", "rank"]).to_pydict()
    count = len(rows["event"])
    names = trace.events.column("name").take(trace.collectives.column("event")).to_pylist()
    columns: dict[str, Any] = {name: [None] * count for name in COLLECTIVES.names} | rows
    columns["source"] = ["name"] * count
    if with_ops:
        columns["op"] = [op_from_name(name) for name in names]
    stripped = table_of(columns, COLLECTIVES, "collectives")
    if with_ops:
        return replace(trace, collectives=stripped)
    place = trace.events.schema.get_field_index("name")
    words = ["" if name not in names else GENERIC for name in trace.events["name"].to_pylist()]
    events = trace.events.set_column(
        place, trace.events.schema.field(place), pa.array(words).dictionary_encode()
    )
    return replace(trace, events=events, collectives=stripped)


def compared(trace: Trace, stripped: Trace) -> tuple[int, int]:
    """How many collectives the log names, of how many; what it says must be as in the metadata."""
    assert trace.logs is not None
    found = name_by_log(stripped, trace.logs.tables).collectives.to_pylist()
    for told, row in zip(trace.collectives.to_pylist(), found):
        if row["source"] == "log" and told["source"] == "args":
            for name in FACTS:
                assert row[name] in (None, told[name])
    named = [row for row in found if row["op"] is not None and row["bytes"] is not None]
    assert len({row["comm"] for row in named}) <= 1  # one communicator, called alike on all ranks
    assert {row["source"] for row in named} <= {"log"}
    return len(named), len(found)


@cache
def load(folder: Path) -> Trace:
    return commscope.load(folder)


@pytest.mark.parametrize("name", CASES)
def test_all_collectives_of_real_runs_are_named_as_their_metadata_names_them(name: str) -> None:
    trace = load(case(f"h200/{name}"))
    named, count = compared(trace, without_metadata(trace))
    assert named == count


@pytest.mark.parametrize("name", CASES)
def test_kernels_that_are_all_called_alike_are_named_where_their_order_tells(name: str) -> None:
    trace = load(case(f"h200/{name}"))
    named, count = compared(trace, without_metadata(trace, with_ops=False))
    # Three kernels may be any three of thirteen calls, of which one is another; and what comes
    # before the first calls of a step may be more of that step, or what came before all steps.
    assert count - named == {"a2a": 6, "ddp_default": 6, "ddp_straggler": 6}.get(name, 0)


def test_a_sample_without_metadata_is_named_by_its_log() -> None:
    trace = load(sample_traces.path("ddp_default"))
    assert compared(trace, without_metadata(trace)) == (37, 37)


def test_a_collective_without_metadata_joins_those_of_its_communicator() -> None:
    """The first kernel of rank 0 was launched before the recording began."""
    trace = load(sample_traces.path("ddp_default"))
    first, *others = trace.collectives.to_pylist()
    assert (first["source"], first["op"], first["bytes"]) == ("log", "all_reduce", 4096)
    assert {first["comm"]} == {row["comm"] for row in others} == {"0"}
    (note,) = (note.says for note in trace.notes if "the log names" in note.says)
    assert note == (
        "the log names 1 of 1 collectives whose operation or size the trace does not tell"
    )
