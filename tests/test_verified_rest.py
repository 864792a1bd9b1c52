"""Figures of the cases' READMEs that stand in no other table: of ranks together, of ratios."""

from __future__ import annotations

import pytest
import reference_ranks
import verified
from one_file import read_one
from real_runs import report_of
from reference import Activity
from support import case

from commscope.analysis.bandwidth import Message, bandwidth_of
from commscope.columns import int64
from commscope.intervals import union

_DDP = "amd/kineto/ddp4_unmerged"
_RESNET = "amd/kineto/mi300_resnet_ddp8_rank0.json.gz"
_GIB = 2**30


def _length_ns(one: Activity) -> int:
    return one.end_ns - one.start_ns


def _range(values: list[int]) -> tuple[int, int]:
    return min(values), max(values)


@pytest.fixture(scope="module")
def allreduces() -> list[reference_ranks.Instance]:
    """Those of all four ranks of the DDP training."""
    ranks = [verified.only(f"{_DDP}/rank{rank}.json.gz") for rank in range(4)]
    matched = reference_ranks.instances(ranks)
    return [one for one in matched if one.members[0].args.get("Collective name") == "allreduce"]


def test_allreduces_of_ddp_end_together(allreduces: list[reference_ranks.Instance]) -> None:
    least, most = _range([one.end_skew_ns for one in allreduces])
    assert len(allreduces) == 15
    assert least / 1000 == pytest.approx(1.7, abs=0.05)
    assert most / 1000 == pytest.approx(24.2, abs=0.05)


def test_allreduces_of_ddp_begin_apart(allreduces: list[reference_ranks.Instance]) -> None:
    spread = [one.last_arrival_ns - min(m.start_ns for m in one.members) for one in allreduces]
    least, most = _range(spread)
    assert least / 1e6 == pytest.approx(1.5, abs=0.05)
    assert most / 1e6 == pytest.approx(11.7, abs=0.05)


def test_the_last_rank_of_ddp_waits_least(allreduces: list[reference_ranks.Instance]) -> None:
    lengths = [list(map(_length_ns, one.members)) for one in allreduces]
    assert {each.index(min(each)) for each in lengths} == {3}
    least, most = _range(list(map(min, lengths)))
    assert least / 1e6 == pytest.approx(0.08, abs=0.005)
    assert most / 1e6 == pytest.approx(0.33, abs=0.005)


def test_the_program_matches_all_collectives_of_ddp() -> None:
    assert {rank["collectives"] for rank in report_of(_DDP)["ranks"]} == {21}
    assert [rank["device"] for rank in report_of(_DDP)["ranks"]] == [2, 3, 4, 5]


@pytest.mark.parametrize("rank", range(4))
def test_streams_of_ddp(rank: int) -> None:
    events = read_one(case(f"{_DDP}/rank{rank}.json.gz")).events
    rows = zip(*(events.column(name).to_pylist() for name in ("name", "kind", "stream")))
    found = {("nccl" in name, stream) for name, kind, stream in rows if kind == "kernel"}
    assert found == {(False, 0), (True, 4)}


#: File -> category of events, or key of kernels' arguments; how many there are.
_CATEGORIES = {"amd/kineto/rx9070_cpuonly_rank0.json.gz": ("python_function", 225)}
_ARGUMENTS = {
    "amd/kineto/mi350_rocprofiler_sdk_backend.json.gz": ("External id", 0),
    "amd/kineto/mi250_minitoy_rocm62.json.gz": ("grid", 0),
    **{f"{_DDP}/rank{rank}.json.gz": ("grid", 0) for rank in range(4)},
}


@pytest.mark.parametrize("path", _CATEGORIES)
def test_events_of_a_category(path: str) -> None:
    category, count = _CATEGORIES[path]
    assert verified.read(path).categories[category] == count


@pytest.mark.parametrize("path", _ARGUMENTS)
def test_kernels_with_an_argument(path: str) -> None:
    key, count = _ARGUMENTS[path]
    kernels = [one for one in verified.only(path).activities if one.kind == "kernel"]
    assert sum(key in one.args for one in kernels) == count


def test_how_busy_the_gpu_of_a_rocpd_database_is() -> None:
    """The database's own view tells it, too."""
    path = "amd/rocpd/trace_20251121_4ebf2d55103f_15_results.db.gz"
    events = read_one(case(path)).events
    start = int64(events, "start_ns")
    end = start + int64(events, "dur_ns")
    assert round(union(start, end).total / int(end.max() - start.min()), 4) == 0.4207


#: TraceLens counts 2**30 bytes as a GB, and tells the mean of its bandwidths: operation,
#: bytes in all, time in us, algorithm and bus bandwidth.
_TRACELENS = {
    "all_gather_median": ("all_gather", 106_956_800 * 2 * 8, 6065.406, 262.76567887731903,
                          229.91996901765418),
    "all_gather_min": ("all_gather", 106_956_800 * 2 * 8, 5609.464, 284.12349514643915,
                       248.60805825313426),
    "reduce_scatter_min": ("reduce_scatter", 855_654_400 * 4, 9934.89, 320.8451261318696,
                           280.7394853653859),
    "reduce_scatter_max": ("reduce_scatter", 855_654_400 * 4, 12172.836, 261.8585377438955,
                           229.12622052590856),
}  # fmt: skip


@pytest.mark.parametrize("name", _TRACELENS)
def test_bandwidth_is_that_of_tracelens(name: str) -> None:
    op, size, time_us, algorithm, bus = _TRACELENS[name]
    found = bandwidth_of(Message(op, size, 8, round(time_us * 1000), True, True), None)
    assert found.algbw_gbps is not None
    assert found.busbw_gbps is not None
    assert found.algbw_gbps * 1e9 / _GIB == pytest.approx(algorithm, rel=1e-6)
    assert found.busbw_gbps * 1e9 / _GIB == pytest.approx(bus, rel=1e-6)


def test_large_allreduces_of_resnet_are_slow() -> None:
    """17.6 MB in 8.7 to 9.2 ms: 2.0 GB/s algorithm and 3.5 GB/s bus bandwidth."""
    kernels = [
        one
        for one in verified.only(_RESNET).activities
        if one.args.get("In msg nelems") in {8_816_192, "8816192"}
    ]
    lengths = list(map(_length_ns, kernels))
    assert len(kernels) == 3
    assert [round(one / 1e6, 1) for one in _range(lengths)] == [8.7, 9.2]
    for length in lengths:
        found = bandwidth_of(Message("all_reduce", 8_816_192 * 2, 8, length, False, True), None)
        assert found.algbw_gbps == pytest.approx(2.0, abs=0.1)
        assert found.busbw_gbps == pytest.approx(3.5, abs=0.15)
