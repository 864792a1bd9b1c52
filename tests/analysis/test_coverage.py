"""What share of the launches found what they launched."""

from __future__ import annotations

import pytest
from tables import Gpu, Host, Row, analysis, lost, step

Counts = tuple[int, int, int]


def _coverage(*rows: Row, table: str = "coverage") -> dict[tuple[int, int | None], Counts]:
    found = getattr(analysis(*rows), table).to_pylist()
    return {(r["rank"], r["step"]): (r["launches"], r["found"], r["cut"]) for r in found}


def _mark(name: str, start: int, thread: int = 1) -> Host:
    return Host(start, 1, name, "capture", thread=thread)


HIT = Gpu(500, 5, launched=50)


@pytest.mark.parametrize(
    ("rows", "counts"),
    [
        ([HIT], (1, 1, 0)),
        ([HIT, lost(40)], (2, 1, 0)),
        ([HIT, lost(60), lost(70)], (3, 1, 2)),
        ([Gpu(500, 5), lost(40), lost(60)], (2, 0, 0)),
        ([Gpu(500, 5)], (0, 0, 0)),
        ([HIT, Host(40, 1, correlation=None)], (1, 1, 0)),
        ([HIT, lost(40, name="hipMemcpyAsync")], (1, 1, 0)),
        ([HIT, lost(40, name="hipGraphLaunch")], (1, 1, 0)),
        ([HIT, lost(40, name="hipExtModuleLaunchKernel")], (2, 1, 0)),
        ([HIT, lost(40, name="cudaLaunchCooperativeKernel")], (2, 1, 0)),
        ([HIT, lost(40, kind="runtime")], (1, 1, 0)),
        ([HIT, Gpu(0, 5, launched=40)], (2, 1, 0)),
    ],
)
def test_counts_of_a_rank(rows: list[Row], counts: Counts) -> None:
    assert _coverage(*rows) == {(0, None): counts, **_step_row(counts)}


def _step_row(counts: Counts) -> dict[tuple[int, int | None], Counts]:
    """A whole trace is one step, which has a row if anything was launched."""
    return {(0, 0): counts} if counts[0] else {}


def test_counts_by_step_and_rank() -> None:
    rows: list[Row] = [step(3, 10, 10, rank=4), step(4, 20, 10, rank=4), lost(12, rank=4)]
    rows += [Gpu(500, 5, launched=at, rank=4) for at in (11, 25, 35)]
    rows += [Gpu(500, 5, launched=9, rank=1), lost(9, rank=1)]
    assert _coverage(*rows) == {
        (1, None): (2, 1, 0),
        (1, 0): (2, 1, 0),
        (4, None): (4, 3, 0),
        (4, 3): (2, 1, 0),
        (4, 4): (1, 1, 0),
    }


def test_ids_of_another_rank_find_nothing() -> None:
    rows = [Gpu(500, 5, launched=9, rank=0, correlation=7), Gpu(500, 5, rank=1)]
    found = _coverage(*rows, Host(9, 1, correlation=7, rank=1))
    assert found[0, None] == (1, 1, 0)
    assert found[1, None] == (1, 0, 0)


BEGIN, END = "hipStreamBeginCapture", "hipStreamEndCapture"


@pytest.mark.parametrize(
    ("marks", "launches"),
    [
        ([_mark(BEGIN, 30), _mark(END, 45)], 1),
        ([_mark(BEGIN, 40), _mark(END, 45)], 1),
        ([_mark(BEGIN, 30), _mark(END, 40)], 2),
        ([_mark(BEGIN, 41), _mark(END, 45)], 2),
        ([_mark(BEGIN, 30, 2), _mark(END, 45, 2)], 2),
        ([_mark(BEGIN, 30), _mark(END, 45, 2)], 2),
        ([_mark(BEGIN, 30)], 2),
        ([_mark(END, 30)], 2),
        ([_mark(BEGIN, 1), _mark(END, 2), _mark(BEGIN, 30), _mark(END, 45)], 1),
    ],
)
def test_what_a_graph_captures_is_not_launched(marks: list[Host], launches: int) -> None:
    assert _coverage(HIT, lost(40), *marks)[0, None][0] == launches


@pytest.mark.parametrize(
    ("rows", "counts"),
    [
        ([HIT], (0, 0, 0)),
        ([Host(3, 1, "hipGraphLaunch", correlation=7), Gpu(9, 5, correlation=7)], (1, 1, 0)),
        ([lost(3, name="hipGraphLaunch"), HIT], (1, 0, 0)),
    ],
)
def test_graphs(rows: list[Row], counts: Counts) -> None:
    assert _coverage(*rows, table="graphs")[0, None] == counts
