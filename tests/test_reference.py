"""The independent reference against the verified figures of the real cases.

Once both agree, the program can be compared with the reference on every file and every step.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import reference
import verified
from reference import COMMUNICATION, COMPUTE, COPY, Activity, File, Recording
from verified import FACTS, TOLERANCE_NS

TOTALS = [
    pytest.param(path, entry, id=f"{path.removesuffix('.json.gz')}-{entry['definition']}-{index}")
    for path, facts in FACTS.items()
    for index, entry in enumerate(facts["totals"])
]
STEPS = [
    pytest.param(path, entry, id=f"{path.removesuffix('.json.gz')}-{entry['step']}")
    for path in verified.having("steps")
    for entry in FACTS[path]["steps"]
]


def _activities(file: File) -> list[Activity]:
    return [one for recording in file.recordings for one in recording.activities]


def _kernels(activities: Iterable[Activity]) -> list[Activity]:
    return [one for one in activities if one.kind == "kernel"]


def _collectives(activities: Iterable[Activity]) -> list[Activity]:
    return [one for one in activities if reference.classify(one) == COMMUNICATION]


def _unlinked(activities: Iterable[Activity]) -> list[Activity]:
    return [one for one in activities if one.launch_ns is None]


def _same(values: Iterable[int]) -> int:
    (value,) = set(values)
    return value


COUNTS: dict[str, Callable[[File], int]] = {
    "events": lambda file: file.events,
    "kernels": lambda file: len(_kernels(_activities(file))),
    "communication_kernels": lambda file: len(_collectives(_activities(file))),
    "copies": lambda file: sum(one.kind != "kernel" for one in _activities(file)),
    "memcpy": lambda file: sum(one.kind == "memcpy" for one in _activities(file)),
    "memset": lambda file: sum(one.kind == "memset" for one in _activities(file)),
    "gpu_user_annotation": lambda file: file.categories.get("gpu_user_annotation", 0),
    "with_collective_name": lambda file: sum(
        "Collective name" in one.args for one in _kernels(_activities(file))
    ),
    "with_external_id": lambda file: sum(
        "External id" in one.args for one in _kernels(_activities(file))
    ),
    "kernels_without_grid": lambda file: sum(
        "grid" not in one.args for one in _kernels(_activities(file))
    ),
    "graph_kernels": lambda file: sum(
        one.args.get("kind") == "Dispatch Task" for one in _kernels(_activities(file))
    ),
    "kernels_of_each_rank": lambda file: _same(
        len(_kernels(one.activities)) for one in file.recordings
    ),
    "unlinked_activities": lambda file: len(_unlinked(_activities(file))),
    "unlinked_kernels": lambda file: len(_kernels(_unlinked(_activities(file)))),
    "unlinked_communication_kernels": lambda file: len(_collectives(_unlinked(_activities(file)))),
}


@pytest.mark.parametrize("path", verified.having("counts"))
def test_counts(path: str) -> None:
    expected = FACTS[path]["counts"]
    assert {name: COUNTS[name](verified.read(path)) for name in expected} == expected


def _said(file: File) -> dict[str, Any]:
    """What the file itself says of the process, under the names of the facts."""
    distributed = file.head.get("distributedInfo", {})
    devices = file.head.get("deviceProperties") or []
    said = {
        "rank": distributed.get("rank"),
        "world_size": distributed.get("world_size"),
        "backend": distributed.get("backend"),
        "gpu": devices[0].get("name") if devices else None,
        "base_ns": file.head.get("baseTimeNanoseconds"),
    }
    return {name: value for name, value in said.items() if value is not None}


@pytest.mark.parametrize("path", verified.having("says"))
def test_what_the_file_says_of_itself(path: str) -> None:
    expected = FACTS[path]["says"]
    said = _said(verified.read(path))
    assert {name: expected[name] for name in said if name in expected} == {
        name: said[name] for name in said if name in expected
    }


@pytest.mark.parametrize("path", verified.having("says"))
def test_device_and_steps(path: str) -> None:
    expected = FACTS[path]["says"]
    for recording in verified.read(path).recordings:
        if "steps" in expected:
            assert [one.step for one in recording.annotations] == expected["steps"]
        assert recording.device == expected.get("device", recording.device)


@pytest.mark.parametrize("path", verified.having("streams"))
def test_streams(path: str) -> None:
    kernels = _kernels(_activities(verified.read(path)))
    found = {
        "kernel": sorted({one.stream for one in kernels}),
        "communication": sorted({one.stream for one in _collectives(kernels)}),
    }
    expected = FACTS[path]["streams"]
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("path", verified.having("communication_names"))
def test_communication_names(path: str) -> None:
    names = (one.name.partition("(")[0] for one in _collectives(verified.only(path).activities))
    assert Counter(names) == FACTS[path]["communication_names"]


@pytest.mark.parametrize("path", verified.having("communication_ops"))
def test_operations_told_by_name(path: str) -> None:
    names = (one.name.split("_")[1] for one in _collectives(verified.only(path).activities))
    assert Counter(names) == FACTS[path]["communication_ops"]


@pytest.mark.parametrize("path", verified.having("kernels_per_stream"))
def test_kernels_of_each_stream(path: str) -> None:
    streams = (one.stream for one in _kernels(verified.only(path).activities))
    assert Counter(streams) == FACTS[path]["kernels_per_stream"]


@pytest.mark.parametrize(("path", "entry"), TOTALS)
def test_totals_by_the_definition_they_were_made_with(path: str, entry: dict[str, Any]) -> None:
    figures = verified.figures(entry["definition"], verified.only(path))
    wrong = {
        name: (figures.get(name), value)
        for name, value in verified.figures_of(entry).items()
        if not verified.agrees(figures, name, value)
    }
    assert not wrong


def _step_figures(recording: Recording, step: int) -> dict[str, float]:
    (found,) = (one for one in verified.steps(recording) if one.step == step)
    begin = recording.annotations[0].start_ns
    collectives = _collectives(reference.launched_in(recording)[step])
    return {
        "kernels": found.launched_kernels,
        "communication_kernels": len(collectives),
        "communication_ns": found.partition.communication_ns,
        "compute_ns": found.partition.compute_ns,
        "exposed_comm_ns": found.partition.exposed_comm_ns,
        "exposed_comm_ms": found.partition.exposed_comm_ns / 1e6,
        "start_after_host_ms": (found.start_ns - begin) / 1e6,
        "end_after_host_ms": (found.end_ns - begin) / 1e6,
    }


@pytest.mark.parametrize(("path", "entry"), STEPS)
def test_steps_by_launch(path: str, entry: dict[str, Any]) -> None:
    figures = _step_figures(verified.only(path), entry["step"])
    for name, value in verified.figures_of(entry).items():
        if isinstance(value, str):
            assert figures[name] == pytest.approx(float(value), abs=verified.half_a_digit(value))
        else:
            assert figures[name] == value, name


@pytest.mark.parametrize("path", verified.having("mean_step"))
def test_mean_of_the_steps(path: str) -> None:
    parts = [one.partition.exposed_comm_ns for one in verified.steps(verified.only(path))]
    printed = FACTS[path]["mean_step"]["exposed_comm_ms"]
    assert statistics.mean(parts) / 1e6 == pytest.approx(
        float(printed), abs=verified.half_a_digit(printed)
    )


@pytest.mark.parametrize("path", verified.having("unlinked"))
def test_activities_without_a_launch(path: str) -> None:
    recording = verified.only(path)
    lost = _unlinked(recording.activities)
    found = reference.sweep(lost, reference.window_of(recording.activities))
    assert verified.figures_of(FACTS[path]["unlinked"]) == {
        "kernels": len(_kernels(lost)),
        "communication_kernels": len(_collectives(lost)),
        "communication_ns": found.communication_ns,
        "compute_ns": found.compute_ns,
        "exposed_comm_ns": found.exposed_comm_ns,
    }


@pytest.mark.parametrize("path", verified.having("collectives_per_step"))
def test_collectives_of_each_step(path: str) -> None:
    expected = [(one["op"], one["elements"]) for one in FACTS[path]["collectives_per_step"]]
    for launched in reference.launched_in(verified.only(path)).values():
        found = [
            (one.args["Collective name"], int(one.args["In msg nelems"]))
            for one in _collectives(launched)
        ]
        assert found == expected


@pytest.mark.parametrize("path", verified.having("host_lag_us"))
def test_how_far_the_device_is_behind_the_host(path: str) -> None:
    lags = [
        (one.start_ns - one.launch_ns) / 1000
        for one in _kernels(verified.only(path).activities)
        if one.launch_ns is not None
    ]
    printed = FACTS[path]["host_lag_us"]
    assert min(lags) == pytest.approx(float(printed["min"]), abs=50)
    assert max(lags) == pytest.approx(float(printed["max"]), abs=50)


@pytest.mark.parametrize("path", verified.having("all_ranks"))
def test_ranks_of_a_merged_file_taken_as_one(path: str) -> None:
    kernels = _kernels(_activities(verified.read(path)))
    whole = reference.sweep(kernels, reference.window_of(kernels))
    assert verified.figures_of(FACTS[path]["all_ranks"]) == {
        "kernel_sum_ns": sum(one.end_ns - one.start_ns for one in kernels),
        "kernel_union_ns": whole.compute_ns + whole.exposed_comm_ns,
    }


@pytest.mark.parametrize("path", verified.having("truth"))
def test_exposed_time_of_the_generator(path: str) -> None:
    """The truth times events around a collective: up to 5 us more for each of the four."""
    recording, facts = verified.only(path), FACTS[path]["truth"]
    collectives = _collectives(recording.activities)
    steps = [collectives[first : first + 4] for first in range(4, len(collectives), 4)]
    low, high = (1000 * float(facts["exposed_per_step_us"][end]) for end in ("min", "max"))
    for step in steps:
        window = (step[0].start_ns, step[-1].end_ns)
        exposed = reference.sweep(recording.activities, window).exposed_comm_ns
        assert low - 4 * 5000 <= exposed <= high + TOLERANCE_NS


def _activity(kind: str, name: str, start_ns: int, end_ns: int) -> Activity:
    return Activity(kind, name, start_ns, end_ns, None, False, {})


def test_sweep_by_hand() -> None:
    found = reference.sweep(
        [
            _activity("kernel", "gemm", 0, 40),
            _activity("kernel", "ncclDevKernel_Generic", 30, 60),
            _activity("kernel", "ncclDevKernel_Generic", 50, 70),
            _activity("memcpy", "Memcpy DtoD", 65, 80),
            _activity("kernel", "no time at all", 90, 90),
            _activity("kernel", "gemm", 95, 200),
        ],
        (10, 100),
    )
    assert found == reference.Partition(
        window_ns=90,
        compute_ns=35,
        communication_ns=40,
        hidden_comm_ns=10,
        exposed_comm_ns=30,
        exposed_copy_ns=10,
        idle_ns=15,
    )


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("kernel", "ncclDevKernel_Generic_1(...)", COMMUNICATION),
        ("kernel", "rcclGenericKernel", COMMUNICATION),
        ("kernel", "mscclKernel_Sum", COMMUNICATION),
        ("kernel", "__amd_rocclr_copyBuffer.kd", COPY),
        ("kernel", "__amd_rocclr_fillBufferAligned", COPY),
        ("kernel", "Cijk_Ailk_Bljk", COMPUTE),
        ("memcpy", "nccl in the name of a copy", COPY),
        ("memset", "Memset (Device)", COPY),
    ],
)
def test_classes(kind: str, name: str, expected: str) -> None:
    assert reference.classify(_activity(kind, name, 0, 1)) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3743411222862.936", 3743411222862936),
        (1669783687384669, 1669783687384669000),
        ("1.5e3", 1500000),
        ("0.0006", 1),
    ],
)
def test_times_are_exact(written: object, expected: int) -> None:
    assert reference.nanoseconds(written) == expected


def _old_schema() -> dict[str, Any]:
    def event(cat: str, name: str, ts: int, dur: int, **args: str) -> dict[str, Any]:
        return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, "args": args}

    return {
        "traceEvents": [
            event("Operator", "ProfilerStep#1", 0, 10),
            event("Operator", "ProfilerStep#2", 10, 10),
            event("Runtime", "cudaLaunchKernel", 2, 1, correlation="7"),
            event("Runtime", "cudaLaunchKernel", 12, 1, correlation="8"),
            event("Kernel", "early", 1, 2, device="0", stream="7", correlation="99"),
            event("Kernel", "gemm", 20, 30, device="0", stream="7", correlation="7"),
            event("Memset", "Memset", 45, 10, device="0", stream="8"),
            event("Kernel", "gemm", 60, 5, device="0", stream="7", correlation="8"),
        ]
    }


def test_steps_by_launch_in_the_old_schema(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(_old_schema()), encoding="utf-8")
    (recording,) = reference.read(path).recordings
    first, second = reference.steps(recording)
    assert (first.start_ns, first.end_ns, first.kernels) == (20_000, 60_000, 1)
    assert (first.partition.exposed_copy_ns, first.partition.idle_ns) == (5_000, 5_000)
    assert (second.start_ns, second.end_ns, second.kernels) == (60_000, 65_000, 1)


def test_command_line(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(_old_schema()), encoding="utf-8")
    command = [sys.executable, str(Path(reference.__file__)), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (rank,) = json.loads(done.stdout)["ranks"]
    assert re.fullmatch(r"\d+", str(rank["partition"]["window_ns"]))
    assert [step["step"] for step in rank["steps"]] == [1, 2]
