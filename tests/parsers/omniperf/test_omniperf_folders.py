"""Folders of profiles: verified figures of real ones, and what is missing, torn or hostile."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest
from counter_samples import COPY, COUNTERS, GEMM, SYSTEM, dispatch, folder, table, written
from support import CASES, case

from commscope.engine.counters import LoadedCounters, load_counters
from commscope.errors import UnknownFormat
from commscope.parsers.omniperf import Kind, kind_of

#: Dispatches, kernels, sum of lengths, version, compute units: verified in the cases' README.
VERIFIED = {
    "dispatch_0/MI300X_A1": (3, 1, 44_000, "2.0.0", 304),
    "kernel/MI200": (3, 1, 52_160, "2.0.0-RC1", 104),
    "device_filter/MI300A_A1": (3, 1, 20_269, "2.0.0", 228),
    "bmm3/MI300X_A1": (301, 2, 3_851_227.25, "3.3.1", 304),
}
KINDS = {
    "pmc_perf.csv": Kind.COUNTERS, "timestamps.csv": Kind.TIMES, "sysinfo.csv": Kind.SYSTEM,
    "roofline.csv": Kind.PEAKS, "pmc_kernel_top.csv": Kind.TOP, "log.txt": Kind.LOG,
    "pmc_dispatch_info.csv": Kind.DISPATCHES, "profiling_config.yaml": Kind.CONFIG,
    "SQ_LEVEL_WAVES.csv": Kind.COUNTERS, "SQ_IFETCH_LEVEL.csv": Kind.COUNTERS,
    "SQ_INST_LEVEL_LDS.csv": Kind.COUNTERS, "SQ_INST_LEVEL_SMEM.csv": Kind.COUNTERS,
    "SQ_INST_LEVEL_VMEM.csv": Kind.COUNTERS,
}  # fmt: skip


def rows(loaded: LoadedCounters, name: str) -> list[dict[str, Any]]:
    return loaded.tables[name].to_pylist()


def counters(loaded: LoadedCounters, kernel: int = 0) -> dict[str, float]:
    found = rows(loaded, "COUNTERS")
    return {row["counter"]: row["value"] for row in found if row["kernel"] == kernel}


@pytest.mark.parametrize("name", VERIFIED)
def test_verified_figures(name: str) -> None:
    loaded = load_counters([case(f"amd/omniperf/{name}")])
    kernels, (workload,) = rows(loaded, "COUNTED_KERNELS"), rows(loaded, "WORKLOADS")
    found = (
        sum(row["dispatches"] for row in kernels),
        len(kernels),
        sum(row["total_ns"] for row in kernels),
        workload["version"],
        workload["compute_units"],
    )
    assert found == VERIFIED[name]
    assert all(row["timed"] == row["dispatches"] for row in kernels)


def test_the_tool_itself_counts_and_times_alike() -> None:
    """pmc_kernel_top.csv of a real profile."""
    path = case("amd/omniperf/bmm3/MI300X_A1")
    found = {row["kernel"]: row for row in rows(load_counters([path]), "COUNTED_KERNELS")}
    gemm, fill = (found[name] for name in sorted(found, key=len, reverse=True))
    assert (gemm["dispatches"], gemm["total_ns"], gemm["median_ns"]) == (150, 3015001.0, 20080.0625)
    assert (fill["dispatches"], fill["total_ns"], fill["median_ns"]) == (151, 836226.25, 5514.25)


@pytest.mark.parametrize("gone", ["command", "hostname", "secret"])
def test_host_and_command_are_not_kept(gone: str, tmp_path: Path) -> None:
    loaded = load_counters([folder(tmp_path / "p")])
    assert gone not in str([table.to_pylist() for table in loaded.tables.values()])


def test_every_file_of_real_folders_is_told_by_its_content() -> None:
    for path in sorted(case("amd/omniperf").rglob("*")):
        if path.is_file() and path.suffix != ".db":
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            expected = KINDS.get(path.name.removesuffix(".gz"))
            assert kind_of(data[: 256 << 10]) is expected, path.name


def test_nothing_else_of_the_real_files_is_taken_for_a_profile() -> None:
    case("amd")
    for path in sorted((CASES / "amd").rglob("*")):
        if path.is_file() and "omniperf" not in path.parts and path.suffix in (".csv", ".txt"):
            kind = kind_of(path.read_bytes()[: 256 << 10])
            # Old rocprof wrote the same columns, but no counters.
            assert kind is None or (kind is Kind.TIMES and "rocprof_v1" in path.parts), path


def test_replays_of_a_column_are_left_out_and_counters_that_end_in_a_number_are_not(
    tmp_path: Path,
) -> None:
    row = dispatch(GEMM, 100, SQ_WAVES=7, SQ_WAVES_1=9, SQ_WAVES_LT_32=3, SQC_DCACHE_REQ_READ_8=5)
    found = counters(load_counters([folder(tmp_path / "p", [row])]))
    assert "SQ_WAVES_1" not in found
    assert (found["SQ_WAVES"], found["SQ_WAVES_LT_32"]) == (7, 3)
    assert found["SQC_DCACHE_REQ_READ_8"] == 5


def test_means_are_of_the_dispatches_that_have_the_counter(tmp_path: Path) -> None:
    extra: list[Any] = [dispatch(SQ_WAVES=n) for n in (2, "", "N/A", 4, "inf", "nan")]
    found = counters(load_counters([folder(tmp_path / "p", extra)]))
    assert found["SQ_WAVES"] == 3


def test_times_are_exact_where_they_are_whole(tmp_path: Path) -> None:
    (kernel,) = rows(load_counters([folder(tmp_path / "p", [dispatch(ns=3), dispatch(ns=5)])]),
                     "COUNTED_KERNELS")  # fmt: skip
    assert (kernel["total_ns"], kernel["median_ns"], kernel["timed"]) == (8, 4, 2)


def test_without_times_there_is_a_note_and_the_rest(tmp_path: Path) -> None:
    loaded = load_counters([folder(tmp_path / "p", [dispatch(ns=0), dispatch(COPY, ns=0)])])
    assert [row["total_ns"] for row in rows(loaded, "COUNTED_KERNELS")] == [None, None]
    assert [row["dispatches"] for row in rows(loaded, "COUNTED_KERNELS")] == [1, 1]
    assert "p: 2 of 2 kernels have no time, so no rates" in loaded.notes


@pytest.mark.parametrize("name", ["timestamps.csv", "pmc_kernel_top.csv"])
def test_times_come_from_other_files_where_need_be(name: str, tmp_path: Path) -> None:
    path = folder(tmp_path / "p", [dispatch(ns=0)] * 2)
    if name == "timestamps.csv":
        heads = ["Dispatch_ID", "GPU_ID", "Kernel_Name", "Start_Timestamp", "End_Timestamp"]
        lines = [heads, [0, 2, GEMM, 10, 30], [1, 2, GEMM, 40, 80]]
    else:
        lines = [["Kernel_Name", "Count", "Sum(ns)", "Mean(ns)", "Median(ns)", "Pct"],
                 [GEMM, 2, 60.0, 30.0, 30.0, 100.0]]  # fmt: skip
    (path / name).write_text(written(lines))
    (kernel,) = rows(load_counters([path]), "COUNTED_KERNELS")
    assert (kernel["total_ns"], kernel["median_ns"], kernel["timed"]) == (60, 30, 2)


def test_replays_in_files_of_their_own_are_one_profile(tmp_path: Path) -> None:
    path = folder(tmp_path / "p")
    names = list(COUNTERS)
    for number, part in enumerate((names[:10], names[10:])):
        row = {name: value for name, value in dispatch().items()
               if name in (*part, "Kernel_Name", "ns")}  # fmt: skip
        (path / f"pmc_perf_{number}.csv").write_text(table([row, row]))
    (path / "pmc_perf.csv").unlink()
    loaded = load_counters([path])
    (kernel,) = rows(loaded, "COUNTED_KERNELS")
    assert (kernel["dispatches"], kernel["total_ns"]) == (2, 200)
    assert counters(loaded) == COUNTERS


def test_folders_of_ranks_are_profiles_of_their_own(tmp_path: Path) -> None:
    for rank in (0, 1):
        folder(tmp_path / f"rank{rank}", [dispatch()] * (rank + 1))
    loaded = load_counters([tmp_path])
    assert [row["file"] for row in rows(loaded, "WORKLOADS")] == ["rank0", "rank1"]
    assert [row["workload"] for row in rows(loaded, "COUNTED_KERNELS")] == [0, 1]


def test_a_table_alone_says_what_is_missing(tmp_path: Path) -> None:
    loaded = load_counters([folder(tmp_path / "p") / "pmc_perf.csv"])
    assert rows(loaded, "WORKLOADS")[0]["arch"] is None
    assert [note.partition(",")[0] for note in loaded.notes] == [
        "pmc_perf.csv: no sysinfo.csv", "pmc_perf.csv: no roofline.csv",
    ]  # fmt: skip


def test_roof_only_is_told(tmp_path: Path) -> None:
    config = "mode: profile\nno_roof: false\nroof_only: true\n"
    loaded = load_counters([folder(tmp_path / "p", profiling_config__yaml=config)])
    assert rows(loaded, "WORKLOADS")[0]["roof_only"] is True
    (tmp_path / "p" / "pmc_perf.csv").unlink()
    loaded = load_counters([tmp_path / "p"])
    assert loaded.tables["ROOFLINES"].num_rows
    assert "p: no kernel with counters" in loaded.notes


def test_the_first_layout_of_the_tool(tmp_path: Path) -> None:
    """Version 1: other names of columns, counters of MI200, no number of dies."""
    path = folder(tmp_path / "p")
    heads = ["Index", "KernelName", "gpu-id", "SQ_WAVES", "BeginNs", "EndNs"]
    (path / "pmc_perf.csv").write_text(written([heads, [0, COPY, 2, 8, 100, 350]]))
    facts = {"workload_name": "old", "gpu_soc": "gfx90a", "numCU": "104", "numSIMD": "4"}
    (path / "sysinfo.csv").write_text(written([list(facts), list(facts.values())]))
    loaded = load_counters([path])
    (kernel,), (workload,) = rows(loaded, "COUNTED_KERNELS"), rows(loaded, "WORKLOADS")
    assert (kernel["kernel"], kernel["total_ns"]) == (COPY, 250)
    assert (workload["compute_units"], workload["simds"], workload["xcds"]) == (104, 4, 1)


def test_a_torn_row_is_counted_and_left_out(tmp_path: Path) -> None:
    path = folder(tmp_path / "p", [dispatch(ns=10), dispatch(ns=20), dispatch(ns=30)])
    text = (path / "pmc_perf.csv").read_text()
    (path / "pmc_perf.csv").write_text(text[:-2])  # the last number lost its end
    loaded = load_counters([path])
    assert rows(loaded, "COUNTED_KERNELS")[0]["total_ns"] == 30
    assert "pmc_perf.csv: 1 row is torn and not counted; copy the file again" in " ".join(
        loaded.notes
    )


def test_any_cut_of_a_table_gives_rows_that_were_there_or_a_clear_end(tmp_path: Path) -> None:
    path = folder(tmp_path / "p", [dispatch(ns=10 + n) for n in range(4)])
    whole = (path / "pmc_perf.csv").read_bytes()
    cuts = {0, 1, len(whole), *random.Random(6).sample(range(len(whole)), 60)}
    for cut in sorted(cuts):
        (path / "pmc_perf.csv").write_bytes(whole[:cut])
        loaded = load_counters([path])  # there are peaks in any case
        assert not any("\n" in note for note in loaded.notes)
        for kernel in rows(loaded, "COUNTED_KERNELS"):
            count = kernel["dispatches"]
            assert kernel["total_ns"] == sum(10 + n for n in range(count)), cut


def test_a_cut_of_a_packed_table_is_told(tmp_path: Path) -> None:
    path = folder(tmp_path / "p", [dispatch(ns=n) for n in range(1, 2000)])
    packed = gzip.compress((path / "pmc_perf.csv").read_bytes())
    (path / "pmc_perf.csv").unlink()
    (path / "pmc_perf.csv.gz").write_bytes(packed[: len(packed) // 2])
    loaded = load_counters([path])
    assert 0 < rows(loaded, "COUNTED_KERNELS")[0]["dispatches"] < 1999
    assert any("pmc_perf.csv.gz: " in note and "copy it again" in note for note in loaded.notes)


@pytest.mark.parametrize(
    "name", ["", "a,b", 'say "x"', "a\nb", "\u202egemm", "k" * 100_000, "nan", "N/A", "-1"]
)
def test_hostile_names_of_kernels(name: str, tmp_path: Path) -> None:
    loaded = load_counters([folder(tmp_path / "p", [dispatch(), dispatch(name), dispatch()])])
    found = {row["kernel"]: row["dispatches"] for row in rows(loaded, "COUNTED_KERNELS")}
    assert found.pop(GEMM) == 2
    assert found == {name: 1}


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = folder(tmp_path / "p")
    data = (path / "pmc_perf.csv").read_bytes()
    (path / "pmc_perf.csv").write_bytes(data.replace(b"gemm", b"ge\xffm"))
    assert "ge\ufffdm" in rows(load_counters([path]), "COUNTED_KERNELS")[0]["kernel"]


@pytest.mark.parametrize("text", ["workload_name,gpu_arch\n", "workload_name,gpu_arch\nx\n"])
def test_a_system_without_a_row(text: str, tmp_path: Path) -> None:
    loaded = load_counters([folder(tmp_path / "p", sysinfo__csv=text)])
    assert loaded.notes[0] == "sysinfo.csv: holds no row that can be read"


def test_numbers_of_the_system_that_are_none(tmp_path: Path) -> None:
    facts = {**SYSTEM, "cu_per_gpu": "1e400", "num_xcd": "-8", "simd_per_cu": "2.5", "max_sclk": ""}
    text = written([list(facts), list(facts.values())])
    (workload,) = rows(load_counters([folder(tmp_path / "p", sysinfo__csv=text)]), "WORKLOADS")
    assert {workload[n] for n in ("compute_units", "xcds", "simds", "max_sclk_mhz")} == {None}


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "{}", "Kernel_Name,Count\n"])
def test_what_is_no_profile(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(UnknownFormat, match=r"x\.csv: is .*, no profile of counters; what can"):
        load_counters([tmp_path / "x.csv"])


def test_files_that_only_tell_how_a_profile_was_made_are_none(tmp_path: Path) -> None:
    path = folder(tmp_path / "p")
    (path / "pmc_perf.csv").unlink()
    (path / "roofline.csv").unlink()
    with pytest.raises(UnknownFormat, match="what can be read: folders of omniperf"):
        load_counters([path])
