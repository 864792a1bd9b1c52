"""What is said of real runs whose causes are known: who was late, why, and what it costs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import verified
from real_runs import Report, analysis_of, report_of

from commscope.analysis.causes import CAUSES
from commscope.analysis.gaps import PARTS

MS = 1_000_000
RESNET = "kineto/mi300x_resnet_ddp8_rank0.json.gz"
#: Runs in which nothing is wrong that a rule could see: no training, or GPUs that are kept busy.
CLEAN = [
    "amd/kineto/mi210_gpu_only.json.gz",
    "amd/kineto/mi350_rocprofiler_sdk_backend.json.gz",
    "generator_h200/ddp",
    "generator_h200/kin",
    "generator_h200/mock",
    "kineto/a100_triton_example.json.gz",
    "kineto/mi210_gpu_only.json.gz",
    "kineto/mi300x_torch_compile_triton.json.gz",
    "kineto/mi350x_rocprofsdk_small.json.gz",
]


def _findings(path: str, rule: str) -> list[Report]:
    return [one for one in report_of(path)["findings"] if one["rule"] == rule]


def _straggler(path: str) -> Report:
    (found,) = _findings(path, "C1")
    return found


def _by_cause(path: str, rank: int) -> Counter[str]:
    """The exposed time of a rank, in steps and outside, by cause."""
    found: Counter[str] = Counter()
    for row in report_of(path)["gap_sums"]:
        if row["rank"] == rank:
            found[row["cause"]] += row["total_ns"]
    return found


def _busy(path: str, rank: int, since: int, until: int) -> list[tuple[int, int]]:
    """What runs on the GPU of a rank between two times of the report, from the raw events."""
    file = verified.read(f"{path}/rank{rank}.json.gz")
    (recording,) = file.recordings
    later = file.base_ns - report_of(path)["clock"]["origin_ns"]
    return [
        (one.start_ns + later, one.end_ns + later)
        for one in recording.activities
        if one.start_ns + later < until and one.end_ns + later > since
    ]


def test_the_straggler_of_ddp_is_late_since_its_host_is_silent() -> None:
    found = _straggler("h200/ddp_straggler")
    assert (found["rank"], found["severity"], found["confidence"]) == (1, "high", "high")
    assert "rank 1 is late" in found["says"]
    assert "its host launches nothing" in found["says"]


def test_the_silence_of_the_straggler_is_seen_in_the_raw_events() -> None:
    """15 ms of sleep were planted before each step; the GPU idles for them and a little more."""
    path = "h200/ddp_straggler"
    longest = max(
        (one for one in _straggler(path)["evidence"] if one["rank"] == 1),
        key=lambda one: one["t1_ns"] - one["t0_ns"],
    )
    assert 15 * MS < longest["t1_ns"] - longest["t0_ns"] < 16 * MS
    assert _busy(path, 1, longest["t0_ns"], longest["t1_ns"]) == []
    around = _busy(path, 1, longest["t0_ns"] - 1, longest["t1_ns"] + 1)
    assert len(around) == 2


def test_the_bound_of_the_straggler_is_what_its_peer_waits() -> None:
    found = _straggler("h200/ddp_straggler")
    assert 14 * MS < found["bound_ns"] < found["measured"]["waiting"]["value"]
    assert found["measured"]["speedup"]["value"] > 1.5


@pytest.mark.parametrize(
    ("path", "late"), [("h200/tp", 1), ("h200/a2a", 0), ("h200/blocking_stdout", 0)]
)
def test_ranks_whose_host_sets_the_pace(path: str, late: int) -> None:
    found = _straggler(path)
    assert (found["rank"], found["severity"]) == (late, "high")
    assert "its GPU idles" in found["says"]
    assert "its host" in found["says"]
    waiting = _by_cause(path, 1 - late)
    assert waiting["straggler_wait"] > 0.8 * waiting.total()
    assert _by_cause(path, late)["straggler_wait"] == 0


@pytest.mark.parametrize("path", ["h200/a2a", "h200/blocking_stdout"])
def test_synchronous_collectives_are_on_the_stream_of_compute(path: str) -> None:
    """On the rank that waits: in its waits, and in the transfers behind them."""
    found = analysis_of(path)
    mine = (found.gaps.rank == 1) & (found.gaps.part != PARTS.index("unmatched"))
    mine &= found.gaps.window >= 0
    assert mine.any()
    causes = Counter(CAUSES[cause] for cause in found.causes.cause[mine].tolist())
    assert set(causes) <= {"straggler_wait", "dependency", "kernel_gap", "step_tail", "host_late"}
    judged = mine & (found.causes.cause != CAUSES.index("host_late"))
    same = found.gaps.length[judged & found.causes.same_stream].sum()
    assert same > 0.95 * found.gaps.length[judged].sum()


def test_gaps_name_the_rank_that_is_waited_for() -> None:
    for gap in report_of("h200/a2a")["gaps"]:
        assert gap["straggler"] == (0 if gap["part"] == "wait" else None)
        assert not gap["may_be_waiting"]


def test_one_rank_of_eight_may_be_waiting() -> None:
    report = report_of(RESNET)
    assert report["gaps"]
    assert all(gap["may_be_waiting"] for gap in report["gaps"])
    assert {gap["part"] for gap in report["gaps"]} == {"unmatched"}
    assert _by_cause(RESNET, 0)["straggler_wait"] == 0
    told = [one for one in report["findings"] if one["rule"].startswith("O")]
    assert told
    assert all("may be waiting for another rank" in one["says"] for one in told)
    assert {one["confidence"] for one in told} <= {"medium", "low"}


def test_what_follows_the_buckets_of_resnet_is_their_copy() -> None:
    """Copies out of a bucket need its result: a dependency."""
    gaps = [gap for gap in report_of(RESNET)["gaps"] if gap["dur_ns"] > MS]
    assert len(gaps) >= 6
    assert {gap["after"] for gap in gaps} == {"Memcpy DtoD (Device -> Device)"}
    assert {gap["cause"] for gap in gaps if gap["step"] is not None} == {"dependency"}


def test_ddp_that_is_bound_by_its_hosts_has_no_straggler() -> None:
    report = report_of("h200/ddp_default")
    assert not _findings("h200/ddp_default", "C1")
    (host,) = _findings("h200/ddp_default", "H3")
    assert host["severity"] in ("high", "medium")
    assert report["findings"]
    launch_bound = [row["launch_bound_share"] for row in report["launch"]]
    assert max(launch_bound) > 0.5


@pytest.mark.parametrize("path", CLEAN)
def test_clean_runs_have_no_finding_above_low(path: str) -> None:
    found: list[dict[str, Any]] = report_of(path)["findings"]
    assert [one["says"] for one in found if one["severity"] != "low"] == []
