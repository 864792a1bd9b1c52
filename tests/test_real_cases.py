"""The program on every real Kineto file: against the independent reference, and the figures.

The reference must be met exactly, on every rank and step. A verified figure must be met within 1 us
where it was made by our definition; where it was made by another, that definition must give it.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from typing import Any

import pytest
import reference
import verified
from case_table import CaseTable, Row
from real_runs import RUNS, Report, Run, each_run, path_of_run, report_of
from reference import COMMUNICATION, COPY, Partition, Recording
from support import case
from verified import FACTS, TOLERANCE_NS

import commscope
from commscope.errors import NoDeviceEvents

_PARTS = [part.name for part in fields(Partition)]

WITHOUT_GPU = [file for file, facts in FACTS.items() if facts["counts"].get("kernels") == 0]


def _files_with(key: str) -> Any:
    files = [file for run in RUNS for file in run.files if FACTS[file].get(key)]
    return pytest.mark.parametrize("file", files)


def _recordings(run: Run) -> dict[int, Recording]:
    """What the reference reads, by the rank that the program should give it."""
    if len(run.files) > 1:
        return {FACTS[file]["says"]["rank"]: verified.only(file) for file in run.files}
    recordings = verified.read(run.files[0]).recordings
    if len(recordings) > 1:
        return {one.rank: one for one in recordings if one.rank is not None}
    (rank,) = report_of(run.path)["ranks"]
    return {rank["rank"]: recordings[0]}


def _rank_of(file: str) -> Report:
    """The program's entry for the rank that a file holds."""
    ranks: list[Report] = report_of(path_of_run(file))["ranks"]
    if len(ranks) == 1:
        return ranks[0]
    (found,) = (one for one in ranks if one["rank"] == FACTS[file]["says"]["rank"])
    return found


def _steps_of(file: str) -> list[Report]:
    rank = _rank_of(file)["rank"]
    steps: list[Report] = report_of(path_of_run(file))["steps"]
    return [one for one in steps if one["rank"] == rank and one["start_ns"] is not None]


def _is_withheld(report: Report) -> bool:
    return any(one["withheld"] and one["result"] == "fail" for one in report["trust"]["checks"])


def _shown(path: str, partition: Report | None, table: CaseTable) -> dict[str, int]:
    """The numbers of a partition that are not withheld; those that are, trust must explain."""
    partition = partition or dict.fromkeys(_PARTS)
    hidden = [name for name in _PARTS if partition[name] is None]
    if hidden:
        assert _is_withheld(report_of(path)), f"{hidden} are null and no rule says why"
        table.withheld[path] += len(hidden)
    return {name: partition[name] for name in _PARTS if name not in hidden}


def _partitions(report: Report) -> Iterator[Report]:
    for one in [*report["ranks"], *report["steps"]]:
        if one["partition"] is not None:
            yield one["partition"]


@pytest.mark.parametrize("file", WITHOUT_GPU)
def test_file_without_gpu_activity(file: str) -> None:
    with pytest.raises(NoDeviceEvents):
        commscope.analyze(commscope.load([case(file)]))


@each_run
def test_partition_adds_up(run: Run) -> None:
    for one in _partitions(report_of(run.path)):
        if any(one[name] is None for name in _PARTS):
            continue
        parts = one["compute_ns"] + one["exposed_comm_ns"] + one["exposed_copy_ns"] + one["idle_ns"]
        assert parts == one["window_ns"]
        assert one["hidden_comm_ns"] + one["exposed_comm_ns"] == one["communication_ns"]


@each_run
def test_overlap_ratio_is_null_without_communication(run: Run) -> None:
    for one in _partitions(report_of(run.path)):
        if not one["communication_ns"]:
            assert one["overlap_ratio"] is None
        elif one["overlap_ratio"] is not None:
            expected = one["hidden_comm_ns"] / one["communication_ns"]
            assert one["overlap_ratio"] == pytest.approx(expected, abs=1e-9)


@each_run
def test_steps_tile_and_only_the_last_is_open(run: Run) -> None:
    report = report_of(run.path)
    for rank in report["ranks"]:
        steps = [one for one in report["steps"] if one["rank"] == rank["rank"]]
        active = [one for one in steps if one["start_ns"] is not None]
        assert [one["end_ns"] for one in active[:-1]] == [one["start_ns"] for one in active[1:]]
        assert not any(one["open"] for one in active[:-1])


@each_run
def test_ranks_of_the_run(run: Run) -> None:
    assert [one["rank"] for one in report_of(run.path)["ranks"]] == sorted(_recordings(run))


@each_run
def test_whole_trace_equals_the_reference(run: Run, case_table: CaseTable) -> None:
    recordings = _recordings(run)
    for rank in report_of(run.path)["ranks"]:
        expected = asdict(verified.whole(recordings[rank["rank"]]))
        shown = _shown(run.path, rank["partition"], case_table)
        assert shown == {name: expected[name] for name in shown}


@each_run
def test_annotated_steps_equal_the_reference(run: Run, case_table: CaseTable) -> None:
    report = report_of(run.path)
    for rank, recording in _recordings(run).items():
        if not recording.annotations:
            continue
        assert report["summary"]["step_source"] == "annotation"
        active = [one for one in report["steps"] if one["rank"] == rank]
        active = [one for one in active if one["start_ns"] is not None]
        expected = verified.steps(recording)
        assert [one["step"] for one in active] == [one.step for one in expected]
        for step, other in zip(active, expected, strict=True):
            shown = _shown(run.path, step["partition"], case_table)
            assert shown == {name: asdict(other.partition)[name] for name in shown}, other.step
            assert step["kernels"] == other.kernels


@each_run
def test_step_times_are_those_of_the_trace(run: Run) -> None:
    """Times are since the origin, which is on the wall clock where the file has one."""
    report = report_of(run.path)
    origin = report["clock"]["origin_ns"]
    bases = {verified.read(file).base_ns - origin for file in run.files}
    for rank, recording in _recordings(run).items():
        found = [one["start_ns"] for one in report["steps"] if one["rank"] == rank]
        expected = [one.start_ns for one in verified.steps(recording)]
        if expected:
            starts = [one for one in found if one is not None]
            shifts = {ours - other for ours, other in zip(starts, expected, strict=True)}
            assert len(shifts) == 1
            assert shifts <= bases


@each_run
def test_steps_without_gpu_activity_have_no_numbers(run: Run) -> None:
    for step in report_of(run.path)["steps"]:
        if step["start_ns"] is None:
            numbers = (step["partition"] or {}).values()
            assert not any(value is not None for value in numbers)


def _figures(partition: Report) -> dict[str, float]:
    """The program's numbers under the names of the facts, without those that are withheld."""
    found = {name: partition[name] for name in _PARTS if partition[name] is not None}
    if {"window_ns", "idle_ns"} <= found.keys():
        found["busy_ns"] = found["window_ns"] - found["idle_ns"]
    if {"compute_ns", "exposed_comm_ns"} <= found.keys():
        found["kernel_union_ns"] = found["compute_ns"] + found["exposed_comm_ns"]
    if partition["overlap_ratio"] is not None:
        found["overlap_percent"] = 100 * partition["overlap_ratio"]
    return found


def _compared(file: str, entry: Report, table: CaseTable) -> Iterable[Row]:
    """The figures of an entry that the program gives as well."""
    ours = _figures(_rank_of(file)["partition"])
    for name, value in verified.figures_of(entry).items():
        if name in ours:
            row = Row(name, ours[name], float(value), entry["definition"])
            table.add(file, row)
            yield row


@_files_with("totals")
def test_verified_totals(file: str, case_table: CaseTable) -> None:
    for entry in FACTS[file]["totals"]:
        for row in _compared(file, entry, case_table):
            value = entry[row.figure]
            own = _figures(_rank_of(file)["partition"])
            if entry["definition"] == "commscope":
                assert verified.agrees(own, row.figure, value), row
            elif not verified.agrees(own, row.figure, value):
                theirs = verified.figures(entry["definition"], verified.only(file))
                assert verified.agrees(theirs, row.figure, value), row


def _step_figures(file: str, step: Report) -> dict[str, float]:
    """The program's numbers of a step under the names of the facts."""
    recording = verified.only(file)
    to_first_ns = verified.steps(recording)[0].start_ns - recording.annotations[0].start_ns
    since_host_ns = to_first_ns - _steps_of(file)[0]["start_ns"]
    return _figures(step["partition"]) | {
        "kernels": step["kernels"],
        "exposed_comm_ms": step["partition"]["exposed_comm_ns"] / 1e6,
        "start_after_host_ms": (step["start_ns"] + since_host_ns) / 1e6,
        "end_after_host_ms": (step["end_ns"] + since_host_ns) / 1e6,
    }


def _allowed(name: str, value: int | str) -> float:
    if isinstance(value, str):
        return verified.half_a_digit(value)
    return TOLERANCE_NS if name.endswith("_ns") else 0


@_files_with("steps")
def test_verified_steps(file: str, case_table: CaseTable) -> None:
    steps = {one["step"]: one for one in _steps_of(file)}
    for entry in FACTS[file]["steps"]:
        ours = _step_figures(file, steps[entry["step"]])
        for name, value in verified.figures_of(entry).items():
            if name in ours:
                label = f"#{entry['step']} {name}"
                case_table.add(file, Row(label, ours[name], float(value), entry["definition"]))
                assert ours[name] == pytest.approx(float(value), abs=_allowed(name, value)), label


@_files_with("mean_step")
def test_verified_mean_of_the_steps(file: str, case_table: CaseTable) -> None:
    printed = FACTS[file]["mean_step"]["exposed_comm_ms"]
    ours = statistics.mean(one["partition"]["exposed_comm_ns"] for one in _steps_of(file)) / 1e6
    case_table.add(file, Row("mean step exposed_comm_ms", ours, float(printed), "commscope"))
    assert ours == pytest.approx(float(printed), abs=verified.half_a_digit(printed))


def _counts(file: str) -> dict[str, int]:
    """The verified counts, less what takes no time: it counts nowhere in the program.

    Copies count by class there, so those that ROCm makes with kernels come in addition.
    """
    activities = verified.only(file).activities
    empty = [one for one in activities if one.start_ns == one.end_ns]
    kernels = [one for one in empty if one.kind == "kernel"]
    collectives = [one for one in kernels if reference.classify(one) == COMMUNICATION]
    by_kernel = [
        one
        for one in activities
        if one.kind == "kernel" and one.start_ns < one.end_ns and reference.classify(one) == COPY
    ]
    counts = FACTS[file]["counts"]
    if "memcpy" in counts and "memset" in counts:
        counts = {"copies": counts["memcpy"] + counts["memset"], **counts}
    lost = {
        "events": 0,
        "kernels": len(kernels),
        "communication_kernels": len(collectives),
        "copies": len(empty) - len(kernels) - len(by_kernel),
    }
    return {name: counts[name] - lost[name] for name in lost if name in counts}


@pytest.mark.parametrize("file", [one for run in RUNS for one in run.files if "merged" not in one])
def test_verified_counts(file: str, case_table: CaseTable) -> None:
    rank = _rank_of(file)
    (source,) = (
        one for one in report_of(path_of_run(file))["inputs"] if one["rank"] == rank["rank"]
    )
    ours = {
        "events": source["events"],
        "kernels": rank["kernels"],
        "communication_kernels": rank["collectives"],
        "copies": rank["copies"],
    }
    for name, value in _counts(file).items():
        case_table.add(file, Row(name, ours[name], value, "commscope"))
        assert ours[name] == value, name


@_files_with("says")
def test_what_is_known_of_the_rank(file: str) -> None:
    says, rank = FACTS[file]["says"], _rank_of(file)
    for name in ("rank", "backend", "device"):
        if says.get(name) is not None:
            assert rank[name] == says[name]


def test_unlinked_kernels_are_said() -> None:
    report = report_of("kineto/mi300x_resnet_ddp8_rank0.json.gz")
    assert report["launch"][0]["unlinked"] == 757
    assert any("757" in one["says"] for one in report["trust"]["checks"])


@each_run
def test_report_is_json_of_the_contract(run: Run) -> None:
    text = json.dumps(report_of(run.path), allow_nan=False)
    assert json.loads(text)["schema"] == "commscope.report/1"
