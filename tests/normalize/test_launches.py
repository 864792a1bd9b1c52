"""Which call launched which activity."""

from __future__ import annotations

import pytest
from tables import Gpu, Host, Row, reading

from commscope.normalize.launches import link_launches
from commscope.normalize.ranks import split_ranks
from commscope.schema import Flag


def _linked(*rows: Row) -> tuple[list[int | None], list[int]]:
    (part,), _ = split_ranks([reading(*rows)], {})
    events = link_launches(part.tables).events
    return events.column("launch_ns").to_pylist(), events.column("flags").to_pylist()


@pytest.mark.parametrize(
    ("host", "launch"),
    [
        ([Host(3, 1, correlation=7)], 3),
        ([Host(5, 1, correlation=7), Host(3, 4, correlation=7)], 3),
        ([Host(3, 1, correlation=8)], None),
        ([Host(3, 1, correlation=None)], None),
        ([Host(3, 1, "cuLaunchKernelEx", "runtime", correlation=7)], 3),
        ([], None),
    ],
)
def test_earliest_call_with_the_id(host: list[Host], launch: int | None) -> None:
    assert _linked(Gpu(9, 5, correlation=7), *host) == ([launch], [0])


def test_activity_without_an_id() -> None:
    assert _linked(Gpu(9, 5), Host(3, 1, correlation=None)) == ([None], [0])


@pytest.mark.parametrize(
    ("name", "count", "flag"),
    [
        ("hipGraphLaunch", 2, Flag.GRAPH),
        ("cudaGraphLaunch", 3, Flag.GRAPH),
        ("hipGraphLaunch", 1, 0),
        ("hipLaunchKernel", 2, 0),
    ],
)
def test_replays_share_one_launch(name: str, count: int, flag: int) -> None:
    rows = [Gpu(10 * k, 5, correlation=7) for k in range(1, count + 1)]
    launches, flags = _linked(*rows, Gpu(99, 5), Host(3, 1, name, correlation=7))
    assert launches == [3] * count + [None]
    assert flags == [flag] * count + [0]
