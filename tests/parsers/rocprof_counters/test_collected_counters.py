"""One run's counters in every form of rocprofv3, and figures of real tables."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from collected_counters import (
    GENERATIONS,
    SAMPLE,
    Run,
    write_agents,
    write_database,
    write_document,
    write_table,
)
from counter_samples import COPY, COUNTERS, GEMM, PEAKS, SYSTEM, written
from hypothesis import given
from hypothesis import strategies as st
from support import case

from commscope.counters import KernelCounters, kernel_counters
from commscope.engine.counters import LoadedCounters, load_counters
from commscope.errors import CorruptTrace, FormatError, UnknownFormat
from commscope.parsers.rocprof_counters import Collected, counted
from commscope.parsers.rocprof_counters.profile import unanswered

close = pytest.approx


def rows(loaded: LoadedCounters, name: str) -> list[dict[str, Any]]:
    return loaded.tables[name].to_pylist()


def kernels(loaded: LoadedCounters) -> dict[str, tuple[Any, ...]]:
    found = rows(loaded, "COUNTED_KERNELS")
    kept = ("dispatches", "timed", "total_ns", "median_ns")
    return {row["kernel"]: tuple(row[name] for name in kept) for row in found}


def values(loaded: LoadedCounters) -> dict[tuple[str, str], float]:
    names = [row["kernel"] for row in rows(loaded, "COUNTED_KERNELS")]
    return {(names[it["kernel"]], it["counter"]): it["value"] for it in rows(loaded, "COUNTERS")}


EXPECTED = {
    **{(GEMM, name): close(value) for name, value in COUNTERS.items()},
    (GEMM, "GRBM_GUI_ACTIVE"): close((1600 + 4800) / 2),
    (COPY, "FETCH_SIZE"): close(10.625),
    (COPY, "WRITE_SIZE"): close(4),
}
TIMED = {GEMM: (2, 2, 300, 150), COPY: (1, 1, 50, 50)}
UNTIMED = {GEMM: (2, 0, None, None), COPY: (1, 0, None, None)}
WRITERS = {
    "7_counter_collection.csv": write_table,
    "7_results.json": write_document,
    "7_results.db": write_database,
}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_tables_of_every_version(generation: str, tmp_path: Path) -> None:
    loaded = load_counters([write_table(tmp_path / "a.csv", generation=generation)])
    has_times = generation not in ("6.2", "6.2.4")
    assert kernels(loaded) == (TIMED if has_times else UNTIMED)
    assert values(loaded) == EXPECTED
    told = any("2 of 2 kernels have no time" in note for note in loaded.notes)
    assert told is not has_times


@pytest.mark.parametrize("name", WRITERS)
def test_every_form_tells_the_same(name: str, tmp_path: Path) -> None:
    loaded = load_counters([WRITERS[name](tmp_path / name)])
    assert kernels(loaded) == TIMED
    assert values(loaded) == EXPECTED
    (workload,) = rows(loaded, "WORKLOADS")
    assert (workload["tool"], workload["version"]) == ("rocprofv3", None)
    assert "secret" not in str(workload)


def test_packed_files(tmp_path: Path) -> None:
    for name, write in WRITERS.items():
        path = write(tmp_path / name)
        packed = tmp_path / "packed" / f"{name}.gz"
        packed.parent.mkdir(exist_ok=True)
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert kernels(load_counters([packed])) == TIMED


@pytest.mark.parametrize("older", [False, True])
def test_instances_of_a_block_add_up(older: bool, tmp_path: Path) -> None:
    document = write_document(tmp_path / "a.json", instances=4, older=older)
    assert values(load_counters([document])) == EXPECTED
    assert kernels(load_counters([document])) == (UNTIMED if older else TIMED)
    assert values(load_counters([write_database(tmp_path / "a.db", instances=4)])) == EXPECTED


def test_of_one_process_one_file_is_read(tmp_path: Path) -> None:
    for name, write in WRITERS.items():
        write(tmp_path / name)
    loaded = load_counters([tmp_path])
    assert kernels(loaded) == TIMED
    assert rows(loaded, "WORKLOADS")[0]["gpu"] == "AMD Instinct MI300X"


@pytest.mark.parametrize("folder", ["pass_{}", "pmc_{}", "nodeA/pass_{}", "pass_{}/nodeA", "{}"])
def test_runs_of_a_program_are_one_profile(folder: str, tmp_path: Path) -> None:
    """Each counts something else; where no folders keep them apart, that tells them."""
    half = len(COUNTERS) // 2
    for number, part in enumerate((list(COUNTERS)[:half], list(COUNTERS)[half:]), 1):
        counters = {name: COUNTERS[name] for name in part}
        runs = [Run(1, counters=counters), Run(2, counters=counters, ns=300)]
        name = f"out/{folder.format(number)}/{number}_counter_collection.csv"
        write_table(tmp_path / name.replace("/1/", "/").replace("/2/", "/"), runs, pid=number)
    loaded = load_counters([tmp_path])
    assert kernels(loaded) == {GEMM: (2, 2, 400, 200)}
    assert values(loaded) == {(GEMM, name): close(value) for name, value in COUNTERS.items()}


def test_ranks_add_up(tmp_path: Path) -> None:
    for pid in (7, 8):
        write_table(tmp_path / f"{pid}_counter_collection.csv", pid=pid)
    loaded = load_counters([tmp_path])
    assert kernels(loaded) == {GEMM: (4, 4, 600, 150), COPY: (2, 2, 100, 50)}
    assert values(loaded) == EXPECTED


def one(*paths: Path) -> KernelCounters:
    return next(it for it in kernel_counters(load_counters(paths).tables) if it.kernel == GEMM)


@pytest.mark.parametrize("name", WRITERS)
def test_answers_are_those_of_the_formulas(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path / "p" / name, SAMPLE[:1])
    write_agents(tmp_path / "p" / "7_agent_info.csv")
    found = one(tmp_path / "p")
    assert (path.exists(), found.position, found.roofs) == (True, None, {})
    assert found.measured.flops == close(512_000)
    assert found.measured.gbps["hbm"] == close(960)
    assert found.measured.fabric.remote_bytes == close(12_800)
    assert found.measured.mfma_utilization == close(640 / (4 * 4 * 1600 / 8))


def test_peaks_of_such_a_gpu_give_a_position(tmp_path: Path) -> None:
    collected = write_document(tmp_path / "p" / "a.json", SAMPLE[:1])
    roof = tmp_path / "roof"
    roof.mkdir()
    for name, facts in (("sysinfo.csv", SYSTEM), ("roofline.csv", PEAKS)):
        (roof / name).write_text(written([list(facts), list(facts.values())]))
    found = one(collected, roof)
    assert (found.position, found.binding_roof) == ("memory-bound", "hbm")
    notes = load_counters([collected, roof]).notes
    assert any("a.json: the measured peaks are those of " in note for note in notes)
    other = {**SYSTEM, "gpu_model": "MI325X"}
    (roof / "sysinfo.csv").write_text(written([list(other), list(other.values())]))
    assert one(collected, roof).position is None


def test_a_derived_counter_is_as_good_as_its_parts(tmp_path: Path) -> None:
    runs = [Run(1, counters={"FETCH_SIZE": 62.5, "WRITE_SIZE": 31.25, "MfmaUtil": 25.0})]
    measured = one(write_table(tmp_path / "a.csv", runs)).measured
    assert (measured.fabric.read_bytes, measured.fabric.write_bytes) == (64_000, 32_000)
    assert measured.gbps == {"hbm": close(960)}
    assert (measured.mfma_utilization, measured.flops) == (0.25, None)
    assert measured.fabric.remote_read_share is None


def test_what_cannot_be_told_is_said(tmp_path: Path) -> None:
    (note, _) = load_counters(
        [write_table(tmp_path / "a.csv", [Run(1, counters={"SQ_WAVES": 1.0})])]
    ).notes
    assert note.startswith("a.csv: not told, for want of counters: traffic of HBM (FETCH_SIZE, ")
    assert unanswered(COUNTERS) == []
    for lacks in ("TCC_BUBBLE_sum", "TCC_EA0_WRREQ_DRAM_sum", "GRBM_GUI_ACTIVE"):
        assert len(unanswered(set(COUNTERS) - {lacks})) == 1


def test_damage_is_said(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.csv", generation="6.2")
    data = path.read_bytes()
    path.write_bytes(data.replace(b"\n0,", b"\n0,0,", 1)[:-3])
    loaded = load_counters([path])
    assert loaded.notes[0] == "a.csv: 2 rows are torn and not counted; copy the file again"
    document = write_document(tmp_path / "a.json")
    text = document.read_text()
    document.write_text(text.replace('"dispatch_info": {"size"', '"dispatch_info": [{"size"', 1))
    loaded = load_counters([document])
    assert loaded.notes[0] == "a.json: 1 dispatch is damaged and not counted; record again"
    assert kernels(loaded)[GEMM][0] + kernels(loaded)[COPY][0] == 2


def test_cut_files_give_what_they_hold_or_an_error(tmp_path: Path) -> None:
    for name, write in WRITERS.items():
        data = write(tmp_path / name).read_bytes()
        for part in range(20):
            (tmp_path / name).write_bytes(data[: len(data) * part // 20])
            try:
                found = kernels(load_counters([tmp_path / name]))
            except (UnknownFormat, CorruptTrace, FormatError):
                continue
            assert found.keys() <= {GEMM, COPY}


def test_a_document_that_ends_early_is_said_to(tmp_path: Path) -> None:
    path = write_document(tmp_path / "a.json")
    text = path.read_text()
    path.write_text(text[: text.rindex('{"thread_id"') + 40])
    loaded = load_counters([path])
    assert kernels(loaded) == {GEMM: (1, 1, 100, 100), COPY: (1, 1, 50, 50)}
    assert "a.json: ends within its counters; copy it again" in loaded.notes
    path.write_text(text[: text.index('"kernel_symbols"')])
    with pytest.raises(CorruptTrace, match="is cut before its counters"):
        load_counters([path])


def test_a_row_without_an_end_counts_where_its_value_is_whole(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.csv", [Run(1, counters={"SQ_WAVES": 64.0})])
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert kernels(load_counters([path])) == {GEMM: (1, 1, 100, 100)}


def test_traces_hold_no_counters(tmp_path: Path) -> None:
    write_document(tmp_path / "a.json", [])
    with pytest.raises(UnknownFormat, match=r"a\.json: holds no counters; record with rocprofv3"):
        load_counters([tmp_path / "a.json"])
    with pytest.raises(UnknownFormat, match="holds no counters"):
        load_counters([case("amd/rocpd")])
    with pytest.raises(UnknownFormat, match="holds no counters"):
        load_counters([case("amd/rocprofv3_json")])


REAL = {
    "docs_6.2.0/counter_collection.csv": (1, 0),
    "docs_6.2.4/counter_collection.csv": (7, 0),
    "docs_7x/counter_collection.csv": (4, 196_900),
    "llama_decode_gfx1151/decode_fetch_counter_collection.csv": (34, 467_793),
    "llama_decode_gfx1151/decode_stall_counter_collection.csv": (34, 463_587),
}


@pytest.mark.parametrize("name", REAL)
def test_real_tables(name: str) -> None:
    """Means of each kernel against the rows themselves."""
    path = case(f"amd/rocprofv3_csv/{name}")
    total: defaultdict[tuple[str, str], float] = defaultdict(float)
    count: defaultdict[tuple[str, str], int] = defaultdict(int)
    for row in csv.DictReader(path.read_text().splitlines()):
        key = row["Kernel_Name"], row["Counter_Name"]
        total[key] += float(row["Counter_Value"])
        count[key] += 1
    loaded = load_counters([path])
    assert values(loaded) == {key: close(value / count[key]) for key, value in total.items()}
    found = kernels(loaded).values()
    assert (sum(row[0] for row in found), sum(row[2] or 0 for row in found)) == REAL[name]


def test_real_runs_beside_each_other_are_one_profile() -> None:
    loaded = load_counters([case("amd/rocprofv3_csv/llama_decode_gfx1151")])
    assert sum(row[0] for row in kernels(loaded).values()) == 34
    assert len(values(loaded)) == 17 * 11


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 2)), max_size=20),
        min_size=1, max_size=3,
    )
)  # fmt: skip
def test_means_are_over_dispatches(runs: list[list[tuple[int, int, int]]]) -> None:
    """Values of (dispatch, value, counter), each dispatch of the kernel with half its number."""
    import numpy as np

    names, counters = ["a", "b"], ["x", "y", "z"]
    processes = []
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    read: defaultdict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
    for number, told in enumerate(runs):
        columns = [np.array([row[at] for row in told], np.int64) for at in range(3)]
        processes.append([
            Collected(names, counters, np.array([0, 0, 1, 1]), np.full(4, 10.0), columns[0],
                      columns[2], columns[1].astype(np.float64))
        ])  # fmt: skip
        for dispatch, value, counter in told:
            key = names[dispatch // 2], counters[counter]
            sums[key] += value
            read[key].add((number, dispatch))
    found = counted(processes)
    means = {(it.name, name): value for it in found for name, value in it.counters.items()}
    assert means == {key: close(total / len(read[key])) for key, total in sums.items()}
    assert [(it.dispatches, it.total_ns) for it in found] == [(2, 20), (2, 20)]
