"""Runs of which not all is known: those in PyTorch, those of which few ranks were profiled."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from graded import Line, change_trace, change_truth, failures, graded, run_of

from commscope.generator.catalog import plan_of
from commscope.generator.engines import Choice, generate
from commscope.generator.grading import verdict


def _host_steps(lines: list[Line]) -> None:
    """Leaves of a truth what that of a job in PyTorch has."""
    operations = [line for line in lines if line.get("op") == "collective"]
    for line in [line for line in lines if line.get("op") == "step"]:
        mine = [row for row in operations if row["step"] == line["step"]]
        collectives = {
            op: {"count": count, "bytes": sum(r["bytes"] for r in mine if r["coll"] == op)}
            for op, count in Counter(row["coll"] for row in mine).items()
        }
        kept = {name: line[name] for name in ("step", "host_begin_ns", "host_end_ns")}
        lines.append({"op": "host_step", **kept, "collectives": collectives})
    lines[:] = [line for line in lines if line.get("op") in (None, "host_step", "cause")]
    lines[0]["engine"] = "torch"


@pytest.fixture(scope="module")
def in_torch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = run_of("straggler-host", tmp_path_factory.mktemp("graded") / "run")
    for rank in (0, 1):
        change_truth(run, rank, _host_steps)
    (run / "run.json").unlink()
    return run


@pytest.fixture
def run(in_torch: Path, tmp_path: Path) -> Path:
    """A copy to tamper with."""
    copy: Path = shutil.copytree(in_torch, tmp_path / "run")
    return copy


def test_a_job_in_pytorch_passes(run: Path) -> None:
    found = graded(run)
    assert found.failures == []
    passed = {tally.check for tally in found.tallies if tally.passed}
    assert passed >= {"steps", "clock", "collectives", "sizes", "causes"}
    untold = {tally.check for tally in found.tallies if tally.not_told}
    assert untold == {"run", "compute", "communication", "hidden comm", "exposed comm"}


def test_the_clock_of_a_job_in_pytorch(run: Path) -> None:
    def shift(document: Line) -> None:
        document["baseTimeNanoseconds"] += 10**9

    change_trace(run, 0, shift)
    (row,) = failures(run)["clock"]
    assert row.place == (0, None, "begins of steps")
    assert row.says.startswith("the trace is 1.00 s ahead of the host's clock")


def test_a_job_in_pytorch_on_cpus(run: Path) -> None:
    def without_gpu(document: Line) -> None:
        events = document["traceEvents"]
        kept = [event for event in events if event["cat"] in ("user_annotation", "cpu_op")]
        document["traceEvents"] = kept

    for rank in (0, 1):
        change_trace(run, rank, without_gpu)
        change_truth(run, rank, lambda lines: lines[0].update(backend="gloo"))
    found = graded(run)
    assert [row.says for row in found.rows if row.result == "not_told"] == [
        "there is no run.json: how its processes ended is not known",
        "the job ran on CPUs, of which traces show no activity",
    ]
    assert verdict(found) == (
        "failed: the traces tell nothing that could be compared with the truth"
    )


def test_ranks_that_were_not_profiled_need_no_trace(tmp_path: Path) -> None:
    run = run_of("straggler-host", tmp_path / "run")
    (run / "rank1/trace.json.gz").unlink()
    document = json.loads((run / "run.json").read_text(encoding="utf-8"))
    more = {"profile_ranks": [0], "files": {"0": ["rank0/trace.json.gz"]}}
    (run / "run.json").write_text(json.dumps({**document, **more}), encoding="utf-8")
    found = graded(run)
    assert found.failures == []
    untold = {(row.check, row.place.rank) for row in found.rows if row.result == "not_told"}
    assert untold >= {("trace", 1), ("causes", None), ("waits", 0)}


@pytest.mark.parametrize("formats", [("csv",), ("json",), ("rocpd",), ("csv", "json", "kineto")])
def test_every_format_of_traces_is_exact(formats: tuple[str, ...], tmp_path: Path) -> None:
    """Those of rocprofv3 are on the clock that counts from the start of the host."""
    plan = plan_of("straggler-host", {"ranks": 2, "steps": 2, "layers": 2})
    generate(plan, Choice(formats=formats), tmp_path / "run")
    found = graded(tmp_path / "run")
    assert found.failures == []
    passed = {tally.check for tally in found.tallies if tally.passed}
    assert passed >= {"clock", "steps", "order", "sizes", "exposed wait", "stragglers", "causes"}
    untold = {(row.check, row.place.what) for row in found.rows if row.result == "not_told"}
    assert untold == ({("sizes", "copies")} if formats == ("csv",) else set())
