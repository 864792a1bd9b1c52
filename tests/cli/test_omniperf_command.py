"""``commscope omniperf``: the table, JSON, files, and what it refuses."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from collected_counters import Run, write_database, write_document, write_table
from counter_samples import COPY, GEMM, database, dispatch, folder
from small_run import trace
from support import case


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A product that is memory-bound, and a copy that reads half of what HBM gives."""
    half = dispatch(COPY, 50, TCC_BUBBLE_sum=0, TCC_EA0_RDREQ_sum=100, TCC_EA0_RDREQ_DRAM_sum=100,
                    TCC_EA0_WRREQ_sum=300, TCC_EA0_WRREQ_64B_sum=300, TCC_EA0_WRREQ_DRAM_sum=300,
                    SQ_INSTS_VALU_MFMA_MOPS_BF16=0)  # fmt: skip
    return folder(tmp_path / "p", [dispatch(), half])


def test_the_table(call, profile: Path) -> None:
    lines = call("omniperf", profile).out.splitlines()
    assert lines[0] == (
        "p: rocprof-compute 3 on MI300X (gfx942); 2 dispatches of 2 kernels, 150 ns, "
        "66.7 % of it memory-bound"
    )
    assert lines[1].strip() == (
        "measured peaks: HBM 1,000 GB/s, L2 4,000 GB/s, MFMA BF16 40 TFLOP/s, MFMA F16 100 "
        "TFLOP/s, MFMA F32 20 TFLOP/s"
    )
    gemm, copy = (line for line in lines if line.startswith(("void gemm", "vecCopy")))
    assert "66.7 %     1  100 ns  memory-bound, 96.0 % of HBM" in gemm
    assert gemm.split()[-6:] == ["5.33", "20.0", "%", "960", "12.80", "kB"]
    assert "none, 51.2 % of HBM" in copy


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_it_fits_the_terminal(
    width: int, call, profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = call("omniperf", profile).out.splitlines()
    assert any("of HBM" in line for line in lines)


def test_the_verdict_only(call, profile: Path) -> None:
    out = call("omniperf", "-q", profile).out
    assert out.startswith("p: rocprof-compute 3 on MI300X")
    assert "gemm" not in out


def test_how_many(call, profile: Path) -> None:
    out = call("omniperf", "--top", 1, profile).out
    assert "Kernels, the first 1 of 2" in out
    assert "vecCopy" not in out


def test_json(call, profile: Path) -> None:
    found = json.loads(call("omniperf", "--format", "json", profile).out)
    assert (found["schema"], found["notes"]) == ("commscope.counters/1", [])
    (workload,) = found["workloads"]
    assert (workload["gpu"], workload["peaks"]["hbm"]) == ("MI300X", 1000)
    gemm = found["kernels"][0]
    assert (gemm["kernel"], gemm["position"], gemm["binding_roof"]) == (GEMM, "memory-bound", "hbm")
    assert gemm["fabric"]["remote_bytes"] == pytest.approx(12_800)
    assert gemm["roofs"]["mfma"] == pytest.approx(0.128)
    assert "secret" not in json.dumps(found)


def test_json_of_a_file_by_its_name(call, profile: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    assert call("omniperf", profile, "-o", output).out == ""
    assert json.loads(output.read_text())["schema"] == "commscope.counters/1"


def test_an_input_is_not_overwritten(refused, profile: Path) -> None:
    refused(2, "omniperf", profile, "-o", profile / "pmc_perf.csv")


def test_what_rocprofv3_counted(call, tmp_path: Path) -> None:
    path = write_document(tmp_path / "7_results.json")
    lines = call("omniperf", path).out.splitlines()
    assert lines[0] == (
        "7_results.json: rocprofv3 on AMD Instinct MI300X (gfx942); 3 dispatches of 2 kernels, "
        "350 ns"
    )
    assert any(line.startswith("void gemm") and "10.0 %" in line for line in lines)
    assert "(7_results.json: no measured peaks, so no position against the roofline; " in " ".join(
        lines
    )


def test_archives_databases_and_traces_beside_them(call, profile: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in sorted(profile.iterdir()):
            archive.write(path, f"x/{path.name}")
    (tmp_path / "rank0.json").write_bytes(trace(0))
    database(tmp_path / "a.db")
    found = json.loads(call("omniperf", "--format", "json", tmp_path).out)
    assert [row["file"] for row in found["workloads"]] == ["all.zip/x", "p", "a.db"]
    assert len(found["kernels"]) == 5


@pytest.mark.parametrize(
    "name",
    ["\x1b[31mred", "[bold]gemm[/]", "gemm\u202egnp", "k" * 100_000, "a\nb", "\u200b", "-"],
)
@pytest.mark.parametrize("kind", ["folder", "database", "csv", "json", "db"])
def test_hostile_names(name: str, kind: str, call, tmp_path: Path) -> None:
    if kind == "folder":
        path = folder(tmp_path / "p", [dispatch(name)])
    elif kind == "database":
        path = database(tmp_path / "a.db", name=name)
    else:
        write = {"csv": write_table, "json": write_document, "db": write_database}[kind]
        path = write(tmp_path / f"a.{kind}", [Run(1, name)])
    text, document = call("omniperf", path), call("omniperf", "--format", "json", path)
    assert (text.code, text.err, document.code) == (0, "", 0)
    for out in (text.out, document.out):
        assert all(line.isprintable() for line in out.split("\n"))
    assert max(map(len, text.out.split("\n"))) < 300
    assert json.loads(document.out)["kernels"][0]["kernel"] == name


def test_hostile_facts(call, tmp_path: Path) -> None:
    text = 'workload_name,gpu_arch,gpu_model,version\n"\x1b[31m","[bold]","\u202e","9\x07"\n'
    out = call("omniperf", folder(tmp_path / "p", sysinfo__csv=text)).out
    assert all(line.isprintable() for line in out.split("\n"))
    assert "[bold]" in out


@pytest.mark.parametrize("content", [b"", b"x", b"\x00\x01", b'{"traceEvents": []}'])
def test_what_is_no_profile_is_refused(content: bytes, refused, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    assert "folders of omniperf or rocprof-compute" in refused(3, "omniperf", tmp_path / "x")


def test_what_is_missing_is_refused(refused, tmp_path: Path) -> None:
    refused(2, "omniperf", tmp_path / "none")


def test_traces_alone_are_refused(refused) -> None:
    assert "no profile of counters" in refused(3, "omniperf", case("amd/rocprof_v1"))


def test_a_profile_is_no_trace(refused) -> None:
    path = case("amd/omniperf/bmm3/MI300X_A1/pmc_perf.csv.gz")
    refused(3, "analyze", path)
    refused(3, "analyze", case("amd/omniperf/mi350_rocprof_compute_350.db.gz"))
