"""The host's side: who waited for whom."""

from __future__ import annotations

from typing import Any

import pytest
from tables import Gpu, Host, Row, analysis, comm, copy


def _launch(*rows: Row) -> dict[str, Any]:
    (found,) = analysis(*rows).launch.to_pylist()
    return dict(found)


def test_kernels_without_launches_leave_the_rest_null() -> None:
    assert _launch(Gpu(10, 5), Gpu(20, 5)) == {
        "rank": 0, "launch_bound_share": None, "queue_delay_p50_ns": None,
        "queue_delay_p95_ns": None, "queue_depth_p50": None, "queue_depth_p95": None,
        "host_pause_ns": None, "graph_share": 0.0, "kernels": 2, "unlinked": 2, "early": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("launches", "share"), [((15, 25), 1.0), ((11, 20), 1.0), ((5, 24), 0.5), ((5, 12), 0.0)]
)
def test_launch_bound(launches: tuple[int, int], share: float) -> None:
    first, second = launches
    rows = [Gpu(1, 9), Gpu(15, 5, launched=first), Gpu(25, 5, launched=second)]
    assert _launch(*rows)["launch_bound_share"] == share


def test_other_streams_are_no_matter() -> None:
    assert _launch(comm(1, 99), Gpu(15, 5, launched=12))["launch_bound_share"] == 1.0


def test_queue_delay() -> None:
    rows = [Gpu(100 * k, 5, launched=100 * k - 10 * k) for k in range(1, 4)]
    found = _launch(*rows, copy(500, 5, launched=1))
    assert (found["queue_delay_p50_ns"], found["queue_delay_p95_ns"]) == (20, 29)


def test_a_start_before_the_launch_is_no_delay() -> None:
    found = _launch(Gpu(5000, 5, launched=6001), Gpu(9000, 5, launched=10_000))
    assert (found["queue_delay_p95_ns"], found["early"]) == (0, 1)


def test_queue_depth_counts_what_was_launched_and_has_not_begun() -> None:
    rows = [Gpu(100 + 10 * k, 5, launched=10 + k) for k in range(5)]
    assert _launch(*rows)["queue_depth_p50"] == 2
    rows = [Gpu(100 * k, 5, launched=100 * k - 5) for k in range(1, 5)]
    assert _launch(*rows)["queue_depth_p95"] == 0


@pytest.mark.parametrize(("launched", "pause"), [(10, 0), (15, 0), (16, 5), (19, 5), (None, 0)])
def test_host_pause_is_idle_that_ends_with_a_late_launch(launched: int | None, pause: int) -> None:
    rows = [Gpu(10, 5, launched=1), Gpu(20, 5, launched=launched)]
    assert _launch(*rows)["host_pause_ns"] == pause


def test_the_device_is_idle_only_if_all_streams_are() -> None:
    rows = [Gpu(10, 5, launched=1), comm(12, 6), Gpu(20, 5, launched=19)]
    assert _launch(*rows)["host_pause_ns"] == 2


def test_share_of_graphs() -> None:
    rows = [Gpu(10 * k, 5, correlation=7) for k in (1, 2, 3)]
    found = _launch(*rows, Gpu(99, 5), Host(3, 1, "hipGraphLaunch", correlation=7))
    assert found["graph_share"] == 0.75
    assert _launch(copy(10, 5))["graph_share"] is None
