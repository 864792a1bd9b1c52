"""Positions against the roofline, against computing by hand from the files themselves."""

from __future__ import annotations

import csv
import gzip
import io
import statistics
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest
from counter_samples import (
    COPY,
    COUNTERS,
    GEMM,
    METRICS,
    PEAKS,
    database,
    dispatch,
    folder,
    written,
)
from support import case

from commscope.counters import KernelCounters, kernel_counters
from commscope.counters.raw import fabric_of, measured_of, operations_of
from commscope.engine.counters import load_counters

close = pytest.approx


def kernels(*paths: Path) -> dict[str, KernelCounters]:
    return {one.kernel: one for one in kernel_counters(load_counters(paths).tables)}


def one(*paths: Path) -> KernelCounters:
    (found,) = kernels(*paths).values()
    return found


def by_hand(path: Path) -> dict[str, dict[str, float]]:
    """Sums over dispatches of each kernel, row by row with the csv module."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    found: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in csv.DictReader(io.StringIO(text)):
        sums = found[row["Kernel_Name"]]
        sums["n"] += 1
        sums["ns"] += float(row["End_Timestamp"]) - float(row["Start_Timestamp"])
        for name, value in row.items():
            if name.endswith("_sum") or name.startswith(("SQ_", "GRBM_")):
                sums[name] += float(value)
    return {name: dict(sums) for name, sums in found.items()}


def test_a_real_matrix_product() -> None:
    """A batched bf16 product on MI300X: 2.147 GFLOP a dispatch in 20.1 us."""
    path = case("amd/omniperf/bmm3/MI300X_A1")
    sums = max(by_hand(path / "pmc_perf.csv.gz").values(), key=lambda s: s["ns"])
    found = max(kernels(path).values(), key=lambda kernel: kernel.total_ns or 0)
    flop = 512 * sums["SQ_INSTS_VALU_MFMA_MOPS_BF16"]
    assert flop / sums["n"] == found.measured.flops == 2**31
    large, reads = sums["TCC_BUBBLE_sum"], sums["TCC_EA0_RDREQ_sum"]
    moved = 128 * large + 64 * (reads - large) + 64 * sums["TCC_EA0_WRREQ_64B_sum"]
    moved += 32 * (sums["TCC_EA0_WRREQ_sum"] - sums["TCC_EA0_WRREQ_64B_sum"])
    assert found.measured.fabric.total_bytes == close(moved / sums["n"])
    assert found.measured.gbps["hbm"] == close(moved / sums["ns"]) == close(2628.4, abs=0.1)
    assert found.measured.intensity["hbm"] == close(flop / moved) == close(40.65, abs=0.01)
    assert found.measured.total_gflops == close(flop / sums["ns"]) == close(106_840, abs=1)
    assert found.roofs["hbm"] == close(moved / sums["ns"] / 4218.8232)
    assert found.roofs["mfma"] == close(flop / sums["ns"] / 516485.31)
    busy = sums["SQ_VALU_MFMA_BUSY_CYCLES"] / (4 * 304 * sums["GRBM_GUI_ACTIVE"] / 8)
    assert found.measured.mfma_utilization == close(busy) == close(0.0728, abs=1e-4)
    lds = 32 * 4 * (sums["SQ_LDS_IDX_ACTIVE"] - sums["SQ_LDS_BANK_CONFLICT"])
    assert found.measured.gbps["lds"] == close(lds / sums["ns"])
    assert (found.position, found.binding_roof) == ("memory-bound", "hbm")
    assert found.binding_share == close(0.623, abs=1e-3)
    assert found.time_share == close(3015001 / 3851227.25)


def test_the_roofline_itself_says_the_same() -> None:
    """What is attainable at its intensity, in the textbook's way."""
    found = max(
        kernels(case("amd/omniperf/bmm3/MI300X_A1")).values(), key=lambda k: k.total_ns or 0
    )
    attainable = min(516485.31, found.measured.intensity["hbm"] * 4218.8232)
    assert (found.measured.total_gflops or 0) / attainable == close(found.binding_share)


#: Bytes of a copy of 8 MiB: read and written once; MI200's replays wrote less in one run.
COPIES = {
    "dispatch_0/MI300X_A1": (8.403e6, 8.389e6, 1144.9, 0.00247),
    "kernel/MI200": (8.389e6, 6.675e6, 866.5, 0.0),
    "device_filter/MI300A_A1": (8.394e6, 8.389e6, 2484.0, 0.00016),
}


@pytest.mark.parametrize("name", COPIES)
def test_real_copies(name: str) -> None:
    path = case(f"amd/omniperf/{name}")
    (sums,) = by_hand(path / "pmc_perf.csv").values()
    prefix = "TCC_EA0_" if "TCC_EA0_RDREQ_sum" in sums else "TCC_EA_"
    large = sums.get("TCC_BUBBLE_sum", 0)
    read = 128 * large + 64 * (sums[f"{prefix}RDREQ_sum"] - large)
    write = 64 * sums[f"{prefix}WRREQ_64B_sum"]
    reads, own = sums[f"{prefix}RDREQ_sum"], sums[f"{prefix}RDREQ_DRAM_sum"]
    fabric = one(path).measured.fabric
    assert fabric.read_bytes == close(read / 3) == close(COPIES[name][0], rel=1e-3)
    assert fabric.write_bytes == close(write / 3) == close(COPIES[name][1], rel=1e-3)
    assert one(path).measured.gbps["hbm"] == close((read + write) / sums["ns"])
    assert one(path).measured.gbps["hbm"] == close(COPIES[name][2], abs=0.1)
    assert fabric.remote_read_share == close((reads - own) / reads)
    assert fabric.remote_read_share == close(COPIES[name][3], abs=1e-4)
    assert one(path).measured.flops == 0
    assert one(path).measured.intensity["hbm"] == 0


def test_peaks_are_the_median_of_devices() -> None:
    path = case("amd/omniperf/kernel/MI200")
    rows = list(csv.DictReader(io.StringIO((path / "roofline.csv").read_text())))
    peak = statistics.median(float(row["HBMBw"]) for row in rows)
    found = one(path)
    assert found.roofs["hbm"] == close(found.measured.gbps["hbm"] / peak)
    assert found.position == "memory-bound"


def test_the_real_database_agrees_with_the_tool() -> None:
    """What the tool computed of amounts and of rates must fit together."""
    found = kernels(case("amd/omniperf/mi350_rocprof_compute_350.db.gz"))
    assert len(found) == 7
    for kernel in found.values():
        measured, mean = kernel.measured, kernel.mean_ns or 0
        assert kernel.position == "neither"
        assert measured.total_gflops == close((measured.flops or 0) / mean)
        moved = measured.fabric.total_bytes or 0
        # Mean of rates against rate of means, and requests of different replays.
        assert measured.gbps["hbm"] == close(moved / mean, rel=0.05)
        if measured.flops:
            assert measured.intensity["hbm"] == close(measured.flops / moved, rel=0.01)


def test_a_sample_by_hand(tmp_path: Path) -> None:
    found = one(folder(tmp_path / "p"))
    measured = found.measured
    assert measured.flops == 512_000
    assert measured.total_gflops == measured.gflops["mfma bf16"] == 5120
    assert measured.fabric.read_bytes == 250 * 128 + 500 * 64
    assert measured.fabric.write_bytes == 500 * 64
    assert measured.fabric.remote_read_share == 0.2
    assert measured.fabric.remote_write_share == 0
    assert measured.fabric.remote_bytes == close(64_000 * 0.2)
    assert measured.fabric.hbm_read_bytes == close(64_000 * 0.8)
    assert measured.fabric.hbm_write_bytes == 32_000
    assert measured.gbps == {"hbm": 960, "l2": 960, "l1": 1280, "lds": 25.6}
    assert measured.intensity["hbm"] == close(512 / 96)
    assert measured.mfma_utilization == 640 / (4 * 4 * 1600 / 8)
    assert found.roofs == close(
        {"hbm": 0.96, "l2": 0.24, "l1": 0.16, "lds": 25.6 / 9000, "mfma": 0.128, "valu": 0}
    )
    assert (found.position, found.binding_roof, found.binding_share) == (
        "memory-bound", "hbm", 0.96,
    )  # fmt: skip


@pytest.mark.parametrize(("changed", "position", "roof"), [
    ({"SQ_INSTS_VALU_MFMA_MOPS_BF16": 7800}, "compute-bound", "mfma"),
    ({"SQ_INSTS_VALU_FMA_F32": 40_000}, "compute-bound", "valu"),
    ({"TCC_BUBBLE_sum": 0, "TCC_EA0_RDREQ_sum": 100}, "neither", "hbm"),
    ({"TCP_TOTAL_CACHE_ACCESSES_sum": 12_200}, "memory-bound", "l1"),
    # More than HBM gives: from the cache in front of it.
    ({"TCC_BUBBLE_sum": 750}, "memory-bound", "mall"),
])  # fmt: skip
def test_positions(changed: dict[str, float], position: str, roof: str, tmp_path: Path) -> None:
    found = one(folder(tmp_path / "p", [dispatch(**changed)]))
    assert (found.position, found.binding_roof) == (position, roof)


def test_types_that_share_a_unit_add_up(tmp_path: Path) -> None:
    row = dispatch(SQ_INSTS_VALU_MFMA_MOPS_BF16=3125, SQ_INSTS_VALU_MFMA_MOPS_F16=7812.5)
    assert one(folder(tmp_path / "p", [row])).roofs["mfma"] == close(0.4 + 0.4)


def test_an_unknown_peak_of_what_is_used_leaves_the_position_open(tmp_path: Path) -> None:
    row = dispatch(SQ_INSTS_VALU_MFMA_MOPS_F64=1, TCC_BUBBLE_sum=0, TCC_EA0_RDREQ_sum=100)
    found = one(folder(tmp_path / "p", [row]))
    assert "mfma" not in found.roofs
    assert found.position is None


#: What is lost with each counter.
NEEDED = {
    "TCC_BUBBLE_sum": {"fabric.read_bytes", "fabric.remote_bytes", "gbps.hbm", "intensity.hbm"},
    "TCC_EA0_WRREQ_64B_sum": {
        "fabric.write_bytes", "fabric.remote_bytes", "gbps.hbm", "intensity.hbm",
    },
    "TCC_EA0_RDREQ_DRAM_sum": {"fabric.remote_read_share", "fabric.remote_bytes"},
    "SQ_INSTS_VALU_FMA_F64": {"flops", "total_gflops", "intensity.hbm", "gflops.valu f64"},
    "SQ_INSTS_VALU_MFMA_MOPS_F32": {"flops", "total_gflops", "intensity.hbm", "gflops.mfma f32"},
    "GRBM_GUI_ACTIVE": {"mfma_utilization"},
    "TCP_TCC_WRITE_REQ_sum": {"gbps.l2"},
    "TCP_TOTAL_CACHE_ACCESSES_sum": {"gbps.l1"},
    "SQ_LDS_BANK_CONFLICT": {"gbps.lds"},
}  # fmt: skip


def value_at(found: object, path: str) -> object:
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else getattr(found, name)
    return found


@pytest.mark.parametrize("gone", NEEDED)
def test_without_a_counter_what_needs_it_is_null_and_nothing_else(
    gone: str, tmp_path: Path
) -> None:
    row = {name: value for name, value in dispatch().items() if name != gone}
    less = one(folder(tmp_path / "p", [row])).measured
    whole = one(folder(tmp_path / "q")).measured
    for path in set().union(*NEEDED.values()):
        assert value_at(less, path) == (None if path in NEEDED[gone] else value_at(whole, path))


def test_replays_that_contradict_each_other_give_nothing_negative() -> None:
    odd = {**COUNTERS, "TCC_BUBBLE_sum": 900, "TCC_EA0_RDREQ_DRAM_sum": 800,
           "TCC_EA0_WRREQ_64B_sum": 600, "SQ_LDS_BANK_CONFLICT": 40}  # fmt: skip
    fabric = fabric_of(odd)
    assert fabric.read_bytes == 900 * 128
    assert fabric.write_bytes == 600 * 64
    assert (fabric.remote_read_share, fabric.remote_bytes) == (0, 0)


def test_no_requests_are_no_remote_ones() -> None:
    fabric = fabric_of({**COUNTERS, "TCC_EA0_RDREQ_sum": 0, "TCC_BUBBLE_sum": 0})
    assert fabric.remote_read_share is None
    assert (fabric.hbm_read_bytes, fabric.remote_bytes) == (0, 0)


def test_active_cycles_of_more_than_the_kernel_tell_no_utilisation() -> None:
    workload = {"compute_units": 4, "simds": 4, "xcds": 8, "lds_banks": 32, "max_sclk_mhz": 2000}
    long = {**COUNTERS, "GRBM_GUI_ACTIVE": 8 * 2 * 2 * 100 + 8}
    assert measured_of(long, 100, workload).mfma_utilization is None
    idle = {**long, "SQ_VALU_MFMA_BUSY_CYCLES": 0}
    assert measured_of(idle, 100, workload).mfma_utilization == 0
    assert measured_of(COUNTERS, 100, {**workload, "xcds": None}).mfma_utilization is None


def test_integers_are_no_flops() -> None:
    found = operations_of({**COUNTERS, "SQ_INSTS_VALU_MFMA_MOPS_I8": 5})
    assert found["mfma i8"] == 5 * 512
    workload = dict.fromkeys(("compute_units", "simds", "xcds", "lds_banks", "max_sclk_mhz"))
    assert measured_of({**COUNTERS, "SQ_INSTS_VALU_MFMA_MOPS_I8": 5}, 1, workload).flops == 512_000


def test_communication_is_shown_and_counts_nowhere(tmp_path: Path) -> None:
    name = "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"
    found = kernels(folder(tmp_path / "p", [dispatch(), dispatch(name, 900), dispatch(COPY, 300)]))
    assert found[name].is_communication
    assert (found[name].position, found[name].time_share) == (None, None)
    assert (found[GEMM].time_share, found[COPY].time_share) == (0.25, 0.75)


def test_a_kernel_without_times_has_intensities_but_no_rates(tmp_path: Path) -> None:
    found = one(folder(tmp_path / "p", [dispatch(ns=0)]))
    assert (found.mean_ns, found.measured.gbps, found.roofs) == (None, {}, {})
    assert found.measured.intensity["hbm"] == close(512 / 96)
    assert (found.position, found.binding_share) == (None, None)


def test_without_peaks_there_is_no_position(tmp_path: Path) -> None:
    heads = {"device": "0", "HBMBw": "0"}
    path = folder(tmp_path / "p", roofline__csv=written([list(heads), list(heads.values())]))
    assert (one(path).roofs, one(path).position) == ({}, None)


def test_a_database_by_hand(tmp_path: Path) -> None:
    found = one(database(tmp_path / "a.db"))
    assert found.measured.gflops == {"mfma bf16": 20000}
    assert found.roofs == {"hbm": 0.7, "mfma": 0.5}
    assert found.measured.fabric.read_bytes == 10 * 32 + 20 * 64 + 30 * 128
    assert found.measured.fabric.write_bytes is None
    assert found.measured.fabric.remote_read_share == 0.25
    assert found.measured.mfma_utilization == 0.25
    assert found.measured.total_gflops is None
    assert (found.position, found.mean_ns) == ("memory-bound", 200)
    assert len(METRICS) == 8
    assert PEAKS["HBMBw"] == "1000"
