"""Counters in csv of rocprof's first and second version: columns of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from collected_counters import write_table
from counter_samples import COPY, COUNTERS, GEMM, written

from commscope.counters import kernel_counters
from commscope.engine.counters import load_counters
from commscope.engine.inspect import inspect_paths
from commscope.engine.reading import silent

_FIRST = ("Index", "KernelName", "gpu-id", "queue-id", "queue-index", "pid", "tid", "grd", "wgr",
          "lds", "scr", "arch_vgpr", "accum_vgpr", "sgpr", "wave_size", "sig", "obj")  # fmt: skip
_SECOND = ("Dispatch_ID", "GPU_ID", "Queue_ID", "PID", "TID", "Grid_Size", "Workgroup_Size",
           "LDS_Per_Workgroup", "Scratch_Per_Workitem", "Arch_VGPR", "Accum_VGPR", "SGPR",
           "Wave_Size", "Kernel_Name")  # fmt: skip
SIZES = {"FetchSize": 62.5, "WriteSize": 31.25}


def table(path: Path, first: Sequence[str], last: Sequence[str], **counters: Any) -> Path:
    """Three dispatches; the counters of the second product are those of the first twice."""
    lines: list[list[Any]] = [[*first, *counters, *last]]
    for number, (name, times) in enumerate(((GEMM, 1), (COPY, 0), (GEMM, 2))):
        row = dict.fromkeys(first, 0) | {"KernelName": name, "Kernel_Name": name, "Index": number}
        begin = 2**60 + 1000 * number
        told = {"BeginNs": begin, "EndNs": begin + 100 * times + 50, "DurationNs": 7}
        told |= {"Start_Timestamp": begin, "End_Timestamp": begin + 100 * times + 50}
        values = [value * times for value in counters.values()]
        lines.append([*(row[key] for key in first), *values, *(told.get(key, 0) for key in last)])
    head, _, body = written(lines).partition("\n")
    gap = "\n\n" if first is _SECOND else "\n"
    path.write_text(head + gap + body)
    return path


V1 = (_FIRST, ("DispatchNs", "BeginNs", "EndNs", "CompleteNs", "DurationNs"))
V2 = (_SECOND, ("Start_Timestamp", "End_Timestamp", "Correlation_ID"))


@pytest.mark.parametrize(("first", "last", "name"), [(*V1, "results.csv"), (*V2, "results_7.csv")])
@pytest.mark.parametrize("counters", [COUNTERS, {"SQ_WAVES": 64.0}])
def test_counters_are_read(
    first: Sequence[str], last: Sequence[str], name: str, counters: Any, tmp_path: Path
) -> None:
    loaded = load_counters([table(tmp_path / name, first, last, **counters)])
    found = {row["kernel"]: row for row in loaded.tables["COUNTED_KERNELS"].to_pylist()}
    gemm = found[GEMM]
    assert (gemm["dispatches"], gemm["timed"], gemm["total_ns"]) == (2, 2, 400)
    values = loaded.tables["COUNTERS"].to_pylist()
    told = {row["counter"]: row["value"] for row in values if row["kernel"] == 0}
    assert told == {counter: pytest.approx(1.5 * value) for counter, value in counters.items()}
    assert loaded.tables["WORKLOADS"].to_pylist()[0]["tool"] == "rocprof"


def test_counters_that_rocprof_derives(tmp_path: Path) -> None:
    path = table(tmp_path / "results.csv", *V1, **SIZES)
    gemm = next(it for it in kernel_counters(load_counters([path]).tables) if it.kernel == GEMM)
    assert gemm.measured.fabric.read_bytes == pytest.approx(1.5 * 64_000)
    assert gemm.measured.fabric.write_bytes == pytest.approx(1.5 * 32_000)


@pytest.mark.parametrize("counters", [COUNTERS, SIZES, {"Wavefronts": 1.0}])
def test_none_is_taken_for_a_timeline(counters: Any, tmp_path: Path) -> None:
    table(tmp_path / "results.csv", *V1, **counters)
    if "SQ_LDS_BANK_CONFLICT" in counters:
        table(tmp_path / "results_7.csv", *V2, **counters)
    write_table(tmp_path / "7_counter_collection.csv")
    for file in inspect_paths([tmp_path], None, silent).files:
        assert (file.unread, file.holds) == ("counters of kernels, no timeline", ())


def test_kernels_without_counters_are_no_profile(tmp_path: Path) -> None:
    path = table(tmp_path / "results.csv", *V1)
    (file,) = inspect_paths([path], None, silent).files
    assert (file.parser, file.unread) == ("rocprof_v1", None)
