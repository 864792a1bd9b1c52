"""Collectives, one by one and by kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
from tables import GENERIC, Gpu, Known, Row, analysis, comm, step, trace

from commscope.analysis.timeline import timeline_of
from commscope.columns import with_column
from commscope.normalize.selection import StepSelection

#: Two all_reduces at once, half hidden; a send alone; a broken and an empty collective.
ROWS: tuple[Row, ...] = (
    Gpu(100, 10), comm(105, 10), comm(107, 10, stream=3), comm(200, 20, name=GENERIC),
    comm(0, 5), comm(300, 0),
    Known(1, "all_reduce", "pg", 64), Known(2, "all_reduce", "pg", 64), Known(3, "send", "pp"),
)  # fmt: skip


def _kinds(*rows: Row, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = analysis(*rows, **options).collective_kinds.to_pylist()
    return found


def test_one_by_one() -> None:
    found = analysis(*ROWS).collectives.to_pylist()
    names = ("op", "start_ns", "dur_ns", "hidden_ns", "exposed_ns")
    assert [tuple(row[name] for name in names) for row in found] == [
        ("all_reduce", 105, 10, 5, 5),
        ("all_reduce", 107, 10, 3, 7),
        ("send", 200, 20, 0, 20),
    ]


def test_by_kind_concurrent_ones_count_once() -> None:
    found = {row["op"]: row for row in _kinds(*ROWS)}
    names = ("count", "communication_ns", "hidden_ns", "exposed_ns")
    assert [found["all_reduce"][name] for name in names] == [2, 12, 5, 7]
    assert [found["send"][name] for name in names] == [1, 20, 0, 20]


def test_kinds_differ_by_all_that_is_known() -> None:
    rows = [comm(100 * k, 5) for k in range(1, 6)]
    known = [Known(0, "send", "a", 8), Known(1, "send", "a", 8), Known(2, "send", "b", 8)]
    assert len(_kinds(*rows, *known, Known(3, "send", "a", 9), Known(4, "recv", "a", 8))) == 4


def test_those_of_steps_are_of_the_steps_shown() -> None:
    rows = [step(1, 10, 10), step(2, 20, 10), comm(50, 5, launched=11), comm(60, 5, launched=22)]
    rows += [comm(70, 5, launched=23), comm(90, 5, launched=99)]
    assert [(r["count"], r["step_count"]) for r in _kinds(*rows)] == [(4, 3)]
    chosen = StepSelection.parse("1")
    assert [(r["count"], r["step_count"]) for r in _kinds(*rows, steps=chosen)] == [(1, 1)]


def test_no_collectives() -> None:
    found = analysis(Gpu(5, 5))
    assert (found.collectives.num_rows, found.collective_kinds.num_rows) == (0, 0)


def test_rank_without_activity_takes_no_room_on_the_axis() -> None:
    found = trace(Gpu(100, 10, rank=0), Gpu(150, 10, rank=2))
    silent = with_column(found.ranks.slice(0, 1), "rank", pa.array([1], pa.int32()))
    line = timeline_of(replace(found, ranks=pa.concat_tables([found.ranks, silent])))
    assert line.ranks.tolist() == [0, 1, 2]
    assert (line.last_ns - line.first_ns).tolist() == [10, 0, 10]
    assert line.first_ns.min() == 100
