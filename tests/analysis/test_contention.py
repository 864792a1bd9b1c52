"""Kernels beside communication and alone, against counting and against what was planted."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import COMPUTE, Gpu, analysis, comm, reading, step, traces

import commscope
from commscope.analysis.contention import stretches
from commscope.analysis.result import Analysis, analyse
from commscope.generator import Device, Job, Model, simulate, write_traces
from commscope.generator.scenarios import ddp
from commscope.generator.schedule import Collective, Compute
from commscope.generator.simulation import RankRun

pytestmark = pytest.mark.long

LATEST = 300
NAMES = (COMPUTE, "gemm_a", "gemm_b")


@st.composite
def _rank(draw: st.DrawFn) -> tuple[Gpu, ...]:
    starts = st.integers(1, LATEST)
    kernels = draw(
        st.lists(
            st.builds(
                Gpu, starts, st.integers(1, 40), st.sampled_from(NAMES), launched=st.just(1),
                stream=st.integers(0, 2),
            ),
            min_size=1, max_size=25, unique_by=lambda row: (row.stream, row.start),
        )
    )  # fmt: skip
    spans = st.builds(comm, starts, st.integers(1, 60), stream=st.just(9))
    return (*kernels, *draw(st.lists(spans, max_size=5, unique_by=lambda row: row.start)))


def _counted(found: Analysis) -> Iterator[dict[str, Any]]:
    """The table, by looking at every instant of every kernel."""
    rows = found.trace.events.to_pylist()
    windows = {
        (s["rank"], at)
        for s in found.trace.steps.to_pylist()
        if s["start_ns"] is not None
        for at in range(s["start_ns"], s["end_ns"])
    }
    beside, alone = defaultdict(list), defaultdict(list)
    for row in rows:
        if row["name"] in NAMES and (row["rank"], row["start_ns"]) in windows:
            instants = range(row["start_ns"], row["start_ns"] + row["dur_ns"])
            busy = sum(any(_runs_at(r, row["rank"], at) for r in rows) for at in instants)
            if busy >= 0.9 * row["dur_ns"]:
                beside[row["rank"], row["name"]].append(row["dur_ns"])
            elif not busy:
                alone[row["rank"], row["name"]].append(row["dur_ns"])
    for key in beside.keys() & alone.keys():
        usual = round(statistics.median(alone[key]))
        yield {
            "rank": key[0], "name": key[1], "beside": len(beside[key]), "alone": len(alone[key]),
            "beside_p50_ns": round(statistics.median(beside[key])), "alone_p50_ns": usual,
            "extra_ns": sum(beside[key]) - len(beside[key]) * usual,
        }  # fmt: skip


def _runs_at(row: dict[str, Any], rank: int, at: int) -> bool:
    is_comm = row["name"] not in NAMES and row["rank"] == rank
    return is_comm and bool(row["start_ns"] <= at < row["start_ns"] + row["dur_ns"])


def _shown(found: Analysis) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if name not in ("stretch", "workgroups")}
        for row in found.contention.to_pylist()
    ]


@settings(deadline=None, max_examples=60)
@given(st.lists(_rank(), min_size=1, max_size=2), st.booleans())
def test_the_table_equals_a_count_of_instants(job: list[tuple[Gpu, ...]], with_step: bool) -> None:
    marks = [step(0, 1, 1)] if with_step else []
    found = analyse(
        traces(
            reading(*rows, *marks, rank=rank, file=f"{rank}.json") for rank, rows in enumerate(job)
        )
    )
    expected = sorted(_counted(found), key=lambda row: (-row["extra_ns"], row["rank"], row["name"]))
    assert _shown(found) == expected
    for row in found.contention.to_pylist():
        assert row["stretch"] == pytest.approx(row["beside_p50_ns"] / row["alone_p50_ns"])


def test_kernels_half_beside_count_as_neither() -> None:
    rows = [Gpu(0, 10), Gpu(100, 20), Gpu(200, 20), comm(100, 40), comm(190, 20)]
    assert _shown(analysis(*(replace(row, start=row.start + 1) for row in rows))) == [
        {
            "rank": 0, "name": COMPUTE, "beside": 1, "alone": 1, "beside_p50_ns": 20,
            "alone_p50_ns": 10, "extra_ns": 10,
        }
    ]  # fmt: skip


def test_without_their_work_groups_kernels_of_a_name_are_not_compared() -> None:
    """They may be of different lengths by themselves."""
    rows = [Gpu(1, 10, workgroups=None), Gpu(101, 20, workgroups=None), comm(101, 20)]
    assert not analysis(*rows).contention.num_rows
    assert not analysis(Gpu(1, 10), Gpu(101, 20, workgroups=128), comm(101, 20)).contention.num_rows


@pytest.mark.parametrize(("covered", "beside"), [(89, 0), (90, 1), (100, 1)])
def test_a_kernel_is_beside_if_nine_tenths_of_it_are(covered: int, beside: int) -> None:
    found = analysis(Gpu(1, 50), Gpu(200, 100), comm(200, covered))
    assert sum(row["beside"] for row in _shown(found)) == beside


def test_without_communication_or_without_compute_there_is_nothing_to_compare() -> None:
    for rows in ([Gpu(1, 5)], [comm(1, 5)], [Gpu(1, 5), comm(1, 5)], [Gpu(1, 5), comm(10, 5)]):
        assert not analysis(*rows).contention.num_rows


@pytest.mark.parametrize("contention", [(13, 10), (16, 10), (2, 1)])
def test_planted_contention(contention: tuple[int, int], tmp_path: Path) -> None:
    """All that kernels beside collectives took longer than they do alone, on every rank."""
    model = Model(layers=8, layer_bytes=96 << 20, bwd_ns=150_000)
    schedule = ddp(Job(ranks=2, steps=3), model)
    simulation = simulate(schedule, device=Device(contention=contention))
    write_traces(simulation, tmp_path)
    rows = analyse(commscope.load(tmp_path)).contention.to_pylist()
    for rank, run in enumerate(simulation.ranks):
        mine = [row for row in rows if row["rank"] == rank]
        slowed = list(_slowed(run))
        assert sum(row["beside"] for row in mine) == len(slowed) > 0
        assert sum(row["extra_ns"] for row in mine) == sum(slowed)
        stretch = max(row["stretch"] for row in mine)
        assert stretch == pytest.approx(contention[0] / contention[1], rel=0.02)


def _slowed(run: RankRun) -> Iterator[int]:
    """How much longer each kernel took that ran beside a collective for nine tenths of its time."""
    spans = [(a.start_ns, a.end_ns) for a in run.activities if isinstance(a.operation, Collective)]
    for one in run.activities:
        if isinstance(one.operation, Compute) and one.operation.kind == "bwd":
            length = one.end_ns - one.start_ns
            beside = sum(
                max(0, min(end, one.end_ns) - max(start, one.start_ns)) for start, end in spans
            )
            if beside >= 0.9 * length:
                yield length - one.operation.duration_ns


def test_stretches_add_up_over_ranks_and_work_groups() -> None:
    """Two beside of 30 in all for 2 x 10 alone, and one of 20 for one of 20: 50 for 40."""
    table = pa.table(
        {
            "name": ["k", "k", "other"], "beside": [2, 1, 4], "alone_p50_ns": [10, 20, 5],
            "extra_ns": [10, 0, -2],
        }
    )  # fmt: skip
    assert stretches(table) == {"k": 1.25, "other": 0.9}
