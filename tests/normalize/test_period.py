"""Steps without annotations: planted periods, hostile sequences and recorded traces."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import case

from commscope.columns import Int64
from commscope.normalize.period import Period, busy_until, find_period

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Recorded:
    """The busiest compute stream of a trace, and what its annotations say."""

    names: Int64
    starts: Int64
    busy: Int64
    launches: Int64
    words: list[str]
    steps: list[int]  #: begins of the ProfilerStep annotations
    annotations: list[tuple[str, int, int]]

    def period(self) -> Period | None:
        return find_period(self.names, self.starts, self.busy)

    def annotated_firsts(self) -> list[int]:
        return [int(np.flatnonzero(self.launches >= begin)[0]) for begin in self.steps]


def _ns(value: Any) -> int:
    return int(Decimal(str(value)) * 1000)


def _span(event: dict[str, Any]) -> tuple[int, int]:
    return _ns(event["ts"]), _ns(event["ts"]) + _ns(event["dur"])


def _recorded(path: str) -> Recorded:
    with gzip.open(case(f"{path}.json.gz")) as file:
        document = json.loads(file.read().decode("utf-8", "replace"), strict=False)
    events = [e for e in document["traceEvents"] if e.get("ph") == "X" and "dur" in e]
    kinds = [(str(e.get("cat", "")).lower(), e) for e in events]
    launches = {
        e["args"].get("correlation"): _ns(e["ts"])
        for kind, e in kinds
        if kind in {"cuda_runtime", "cuda_driver", "hip_runtime", "runtime"}
    }
    activities = [e for kind, e in kinds if kind in {"kernel", "gpu_memcpy", "gpu_memset"}]
    notes = [
        (e["name"], *_span(e))
        for kind, e in kinds
        if kind in {"user_annotation", "cpu_op", "operator"}
    ]
    return _stream(activities, launches, notes)


def _busiest(activities: list[dict[str, Any]]) -> Any:
    time: Counter[Any] = Counter()
    for event in activities:
        if str(event["cat"]).lower() == "kernel" and "nccl" not in event["name"].lower():
            time[event["args"].get("stream")] += _ns(event["dur"])
    return time.most_common(1)[0][0]


def _stream(
    activities: list[dict[str, Any]],
    launches: dict[Any, int],
    notes: list[tuple[str, int, int]],
) -> Recorded:
    spans = np.array([_span(e) for e in activities])
    stream = _busiest(activities)
    rows = [e for e in activities if e["args"].get("stream") == stream]
    launched = [e for e in rows if e["args"].get("correlation") in launches]
    if launched:
        rows = sorted(launched, key=lambda e: launches[e["args"]["correlation"]])
    else:
        rows = sorted(rows, key=lambda e: _ns(e["ts"]))
    words: dict[str, int] = {}
    names = np.array([words.setdefault(e["name"], len(words)) for e in rows])
    starts = np.array([_ns(e["ts"]) for e in rows])
    times = np.array([launches.get(e["args"].get("correlation"), _ns(e["ts"])) for e in rows])
    steps = sorted({begin for name, begin, _ in notes if name.startswith("ProfilerStep")})
    busy = busy_until(starts, spans[:, 0], spans[:, 1])
    return Recorded(names, starts, busy, times, list(words), steps, notes)


ANNOTATED = [
    *(
        f"h200/{run}/rank{rank}"
        for run in (
            "ddp_default",
            "ddp_straggler",
            "fsdp",
            "tp",
            "a2a",
            "blocking_stdout",
            "ddp_small_buckets",
            "ddp_shm_stdout",
        )
        for rank in (0, 1)
    ),
    *(f"amd/kineto/ddp4_unmerged/rank{rank}" for rank in range(4)),
    "amd/kineto/mi300_resnet_ddp8_rank0",
    "kineto/v100_ddp2_rank1_allreduce2020",
    "kineto/a100_ddp2_rank0_ncclmeta",
    "kineto/a100_8gpu_rank3_a2a_allreduce",
    "kineto/v100_resnet50_oldschema_nw0",
]


@pytest.mark.parametrize("path", ANNOTATED)
def test_inferred_steps_are_the_annotated_ones(path: str) -> None:
    recorded = _recorded(path)
    period = recorded.period()
    assert period is not None
    assert period.match_share >= 0.99
    assert period.firsts.tolist() == recorded.annotated_firsts()


@pytest.mark.parametrize("rank", [0, 1])
def test_steps_without_annotation_begin_after_the_optimizer(rank: int) -> None:
    recorded = _recorded(f"h200/ddp_nosteps/rank{rank}")
    period = recorded.period()
    assert period is not None
    assert (period.length, period.firsts.tolist()) == (451, [0, 451, 902, 1353])
    assert len({recorded.words[recorded.names[first]] for first in period.firsts}) == 1
    optimizers = sorted(
        (begin, end)
        for name, begin, end in recorded.annotations
        if name.startswith("Optimizer.step")
    )
    assert len(optimizers) == 4
    for (_, end), first in zip(optimizers[:-1], period.firsts[1:], strict=True):
        assert recorded.launches[first - 1] < end <= recorded.launches[first]


@pytest.mark.parametrize("run", ["ddp", "serial", "mock"])
def test_generator_steps_begin_with_the_first_layer(run: str) -> None:
    recorded = _recorded(f"generator_h200/{run}/trace_rank0")
    period = recorded.period()
    assert period is not None
    assert (period.length, period.phase) == (17, "gap")
    truth = case(f"generator_h200/{run}/truth_rank0.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in truth]
    begins = [
        r for r in records if r.get("phase") == "forward" and r.get("layer") == 0 and "op" in r
    ]
    assert period.firsts.size == len(begins) == 6
    assert all(recorded.words[recorded.names[i]].startswith("csg_fwd") for i in period.firsts)
    times = recorded.starts[period.firsts]
    planned = np.array([r["begin_us"] for r in begins]) * 1000
    # Two clocks, one program: steps start at the same distance from each other.
    assert np.abs(np.diff(times)[1:] - np.diff(planned)[1:]).max() < 50_000


@pytest.mark.parametrize(
    "path",
    [
        "kineto/a100_alexnet_nosteps",
        "amd/kineto/sglang_decode",
        "amd/kineto/vllm_decode_full",
        "amd/kineto/mi210_gpu_only",
        "amd/kineto/norm_layer",
        "amd/kineto/mi300_falconsai_vit",
        "amd/kineto/mi300_bert_small",
        "kineto/dlrm8_v100/rank0",
    ],
)
def test_layers_of_one_pass_are_no_steps(path: str) -> None:
    assert _recorded(path).period() is None


def _evenly(names: Int64) -> Period | None:
    starts = np.arange(names.size, dtype=np.int64) * 1000
    return find_period(names, starts, starts + 900)


@pytest.mark.parametrize("size", [0, 1, 2, 15, 16, 17, 5000])
@pytest.mark.parametrize("modulus", [1, 2, 10**9])
def test_sequences_without_steps(size: int, modulus: int) -> None:
    assert _evenly(np.arange(size, dtype=np.int64) % modulus) is None


def test_random_names_have_no_period() -> None:
    assert _evenly(np.random.default_rng(3).integers(0, 20, 20_000)) is None


def test_layers_inside_a_step_lose_to_the_step() -> None:
    step = np.concatenate([[90, 91], np.tile(np.arange(12), 62), [92, 93, 94]])
    period = _evenly(np.tile(step, 5))
    assert period is not None
    assert period.firsts.tolist() == [k * step.size for k in range(5)]


def test_layers_between_head_and_tail_are_no_steps() -> None:
    names = np.concatenate([[90, 91], np.tile(np.arange(12), 126), [92, 93, 94]])
    assert _evenly(names) is None


def test_idle_device_tells_the_begin() -> None:
    names = np.tile(np.arange(200), 6)[30:-50]
    starts = np.arange(names.size, dtype=np.int64) * 1000
    starts += np.cumsum(names == 7) * 90_000
    period = find_period(names, starts, starts + 900)
    assert period is not None
    assert period.phase == "gap"
    assert set(names[period.firsts]) == {7}


def test_two_repetitions_need_every_activity() -> None:
    step = np.arange(50)
    assert _evenly(np.tile(step, 2)) is not None
    assert _evenly(np.concatenate([step, step[:20], [99], step[21:]])) is None


def test_period_beyond_the_searched_part() -> None:
    period = _evenly(np.tile(np.random.default_rng(4).integers(0, 90, 1000), 2500))
    assert period is not None
    assert (period.length, period.firsts.size) == (1000, 2500)


def test_busy_until_sees_the_other_streams() -> None:
    device_starts, device_ends = np.array([0, 50, 5]), np.array([10, 60, 48])
    busy = busy_until(np.array([0, 50]), device_starts, device_ends)
    assert busy.tolist() == [48, 60]


@st.composite
def _planted(draw: st.DrawFn) -> tuple[Int64, list[int], int]:
    """(Names, boundaries, length) of steps with few single activities inserted or dropped."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    length, repetitions = draw(st.integers(40, 300)), draw(st.integers(4, 12))
    step = rng.permutation(np.append(np.arange(8), rng.integers(0, 40, length - 8)))
    steps = [step.copy() for _ in range(repetitions)]
    for _ in range(draw(st.integers(0, repetitions // 4))):
        which, place = rng.integers(0, repetitions), rng.integers(5, length - 5)
        if rng.random() < 0.5:
            steps[which] = np.insert(steps[which], place, 77)
        else:
            steps[which] = np.delete(steps[which], place)
    firsts = np.cumsum([0, *(s.size for s in steps[:-1])])
    return np.concatenate(steps), firsts.tolist(), length


@settings(deadline=None, max_examples=150)
@given(_planted())
def test_planted_steps_are_found_or_nothing(planted: tuple[Int64, list[int], int]) -> None:
    names, firsts, length = planted
    starts = np.arange(names.size, dtype=np.int64) * 1000
    for first in firsts:
        starts[first:] += 50_000
    period = find_period(names, starts, starts + 900)
    if period is None:
        return
    assert abs(period.length - length) <= 1
    # A first step that is damaged near its begin may be left out: nothing before it confirms it.
    assert len(firsts) - period.firsts.size in (0, 1)
    assert np.abs(period.firsts - firsts[-period.firsts.size :]).max() <= 2
