"""Which kernels took the time."""

from __future__ import annotations

import numpy as np
import pytest
from tables import ALL_REDUCE, COMPUTE, COPY, Gpu, Known, analysis, comm, copy, step

from commscope.analysis.groups import group_rows, is_among, rows_among

ROWS = (
    Gpu(100, 10), Gpu(120, 30), comm(125, 20), comm(200, 10), copy(300, 4), Gpu(400, 0),
    Gpu(0, 50), Gpu(500, 7, "never seen"),
)  # fmt: skip


def test_one_row_a_name() -> None:
    found = {row["name"]: row for row in analysis(*ROWS).kernels.to_pylist()}
    assert list(found) == [COMPUTE, ALL_REDUCE, "never seen", COPY]
    names = ("class", "count", "total_ns", "p50_ns", "max_ns", "hidden_ns")
    assert [tuple(found[name][key] for key in names) for name in found] == [
        ("compute", 2, 40, 20, 30, None),
        ("communication", 2, 30, 15, 20, 20),
        ("compute", 1, 7, 7, 7, None),
        ("copy", 1, 4, 4, 4, None),
    ]


@pytest.mark.parametrize(
    ("lengths", "middle"), [([5], 5), ([1, 4], 2), ([9, 1, 3], 3), ([1, 2, 4, 100], 3)]
)
def test_median(lengths: list[int], middle: int) -> None:
    rows = [Gpu(100 * k, dur) for k, dur in enumerate(lengths, 1)]
    assert analysis(*rows).kernels.column("p50_ns").to_pylist() == [middle]


def test_one_name_of_two_classes_has_two_rows() -> None:
    found = analysis(Gpu(10, 5, ALL_REDUCE), Gpu(30, 6, ALL_REDUCE, kind="memcpy")).kernels
    assert found.column("class").to_pylist() == ["copy", "communication"]


def test_the_family_is_that_of_the_class_where_that_has_one() -> None:
    rows = [Gpu(10, 5, "never seen"), Known(0, "all_reduce"), copy(30, 9, name="gemm_kernel")]
    found = analysis(*rows, comm(50, 2), Gpu(60, 1, "gemm_kernel")).kernels.to_pylist()
    assert [(row["name"], row["class"], row["family"]) for row in found] == [
        ("gemm_kernel", "copy", "copy"),
        ("never seen", "communication", "communication"),
        (ALL_REDUCE, "communication", "communication"),
        ("gemm_kernel", "compute", "gemm"),
    ]


def test_families_sum_to_the_kernels() -> None:
    found = analysis(*ROWS)
    families = {row["family"]: row for row in found.families.to_pylist()}
    assert families["elementwise"]["total_ns"] == 40
    assert families["elementwise"]["count"] == 2
    assert families["other"]["share"] == pytest.approx(7 / 81)
    assert sum(row["share"] for row in families.values()) == pytest.approx(1)


def test_counts_of_what_counts() -> None:
    rows = (*ROWS, Gpu(700, 5, rank=None))
    counts = {"kernels": 6, "compute": 4, "collectives": 2, "copies": 1}
    assert analysis(*rows).counts == {0: counts}


def test_copy_kernels_of_rocm_count_as_copies_and_as_kernels() -> None:
    rows = [Gpu(10, 5), Gpu(30, 5, "__amd_rocclr_copyBuffer"), copy(50, 5)]
    counts = {"kernels": 2, "compute": 1, "collectives": 0, "copies": 2}
    assert analysis(*rows).counts == {0: counts}


def test_kernels_of_a_step_are_those_launched_in_it() -> None:
    rows = [step(1, 10, 10), step(2, 20, 10), step(3, 30, 10), copy(95, 5, launched=13)]
    rows += [Gpu(90, 5, launched=11), comm(91, 50, launched=12), Gpu(99, 0, launched=14)]
    rows += [Gpu(120, 5, launched=21), Gpu(150, 5, launched=99), Gpu(0, 5, launched=15)]
    assert analysis(*rows).steps.column("kernels").to_pylist() == [2, 1, 0]


def test_groups_are_in_order_of_their_keys() -> None:
    group, first = group_rows([np.array([2, 1, 2, 1]), np.array([0, 5, 0, 4])])
    assert group.tolist() == [2, 1, 2, 0]
    assert first.tolist() == [3, 1, 0]
    assert [len(part) for part in group_rows([np.empty(0, np.int64)])] == [0, 0]


@pytest.mark.parametrize("others", [[], [1], [3, 7, 3], [-(1 << 63), (1 << 63) - 1]])
def test_is_among(others: list[int]) -> None:
    values = [3, 1, 9, -(1 << 63)]
    found = is_among(np.array(values), np.array(others, np.int64))
    assert found.tolist() == [value in others for value in values]


def test_rows_among() -> None:
    keys = [np.array([0, 0, 1, 1]), np.array([5, 6, 5, 7])]
    assert rows_among(keys, [np.array([1, 0]), np.array([5, 6])]).tolist() == [0, 1, 1, 0]
    assert not rows_among(keys, [np.empty(0, np.int64)] * 2).any()
