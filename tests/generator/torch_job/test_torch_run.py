"""Jobs in PyTorch, from a plan: what their ranks are told, and what is read back."""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch_jobs

from commscope.errors import CommscopeError, CorruptTrace, UnknownFormat, UsageError
from commscope.generator.catalog import SCENARIOS, plan_of
from commscope.generator.engines import Choice, generate
from commscope.generator.run_folder import read_run
from commscope.generator.torch_job.job.options import read_options
from commscope.generator.torch_job.noted import read_noted
from commscope.generator.torch_job.planned import GLOO, NCCL, Where, job_options, width_of
from commscope.generator.truth_file import read_truth

_HEADER = {
    "schema": "commscope.torch/1", "backend": "gloo", "vendor": "none", "ccl": "gloo",
    "ccl_version": 0, "device_name": "CPU", "torch": "2.99", "rank": 0, "world": 1,
    "clock": {"realtime_ns": 3, "boottime_ns": 2, "monotonic_ns": 1},
}  # fmt: skip
_STEP = {"step": 0, "host_begin_ns": 5, "host_end_ns": 9, "collectives": {}}
#: Python that runs no job, but notes that it has.
_STAND_IN = """#!{python}
import json, os, pathlib, sys
options = json.loads(pathlib.Path(sys.argv[2]).read_text())
rank = int(os.environ["RANK"])
print("no torch", rank, flush=True)
if options["layers"] == 13:
    sys.exit(77)
header = {header!r}
header.update(rank=rank, world=int(os.environ["WORLD_SIZE"]))
out = pathlib.Path(options["out"])
rows = [header, {step!r}]
text = "".join(json.dumps(row) + chr(10) for row in rows)
(out / "recorded" / f"torch_rank{{rank}}.jsonl").write_text(text)
if options["layers"] != 12:
    (out / f"rank{{rank}}" / "trace.json.gz").write_bytes(b"a trace")
"""


@pytest.fixture
def python(tmp_path: Path) -> str:
    """A stand-in for a Python with torch."""
    path = tmp_path / "python"
    path.write_text(_STAND_IN.format(python=sys.executable, header=_HEADER, step=_STEP))
    path.chmod(0o755)
    return str(path)


def _where(backend: str) -> Where:
    return Where(backend, Path("out"), Path("meet"), 60, (0, 1))


@pytest.mark.parametrize(
    ("scenario", "strategy"),
    [
        ("ddp-overlap", "ddp"), ("ddp-serial", "serial"), ("fsdp-no-prefetch", "fsdp"),
        ("tp", "tp"), ("moe-a2a", "ep"), ("pipeline", "pp"), ("straggler-input", "ddp"),
    ],
)  # fmt: skip
def test_scenarios_have_their_counterparts(scenario: str, strategy: str, tmp_path: Path) -> None:
    options = job_options(plan_of(scenario), _where(GLOO))
    assert options.strategy == strategy
    path = tmp_path / "torch.json"
    path.write_text(options.to_json())
    assert read_options(str(path)) == options


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_every_scenario_has_a_counterpart(scenario: str) -> None:
    assert job_options(plan_of(scenario), _where(NCCL)).strategy


def test_sizes_follow_the_plan_on_gpus_and_stay_small_on_cpus() -> None:
    plan = plan_of("ddp-overlap", {"layer_bytes": 64 << 20, "bucket_bytes": 128 << 20})
    gpu, cpu = job_options(plan, _where(NCCL)), job_options(plan, _where(GLOO))
    assert 0.9 * (64 << 20) < 8 * gpu.width**2 * 2 <= 64 << 20
    assert cpu.width < gpu.width
    assert cpu.bucket_bytes == 2 * 8 * cpu.width**2 * 4
    assert width_of(1, 2) == 64


def test_who_is_late_is_told() -> None:
    options = job_options(plan_of("straggler-input"), _where(GLOO))
    assert [(it.rank, it.where) for it in options.late] == [(1, "input")]


def test_a_run_has_truth_commands_and_traces(python: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    choice = Choice(engine="torch", backend="host", python=python, profile_ranks=(1,))
    generate(plan_of("straggler-host"), choice, folder)
    run, truth = read_run(folder), read_truth(folder / "truth_rank1.jsonl")
    assert (run.backend, run.profiler, run.exit_codes) == ("host", "kineto", [0, 0])
    assert run.versions["torch"] == "2.99"
    assert run.commands[0][0] == python
    assert (truth.header.rank, truth.header.engine) == (1, "torch")
    assert [step.host_end_ns for step in truth.host_steps] == [9]
    assert [(cause.rule, cause.rank) for cause in truth.causes] == [("C1", 1)]
    assert (folder / "rank0/output.log").read_text() == "no torch 0\n"
    assert json.loads((folder / "torch.json").read_text())["profiled"] == [1]


@pytest.mark.parametrize(
    ("layers", "error", "says"),
    [
        (13, UsageError, "there is no GPU that can be used: no torch"),
        (12, CommscopeError, "rank 0: the profiler wrote no trace"),
    ],
)
def test_what_goes_wrong_is_one_line(
    layers: int, error: type[CommscopeError], says: str, python: str, tmp_path: Path
) -> None:
    choice = Choice(engine="torch", backend="host", python=python)
    with pytest.raises(error, match=says):
        generate(plan_of("ddp-overlap", {"layers": layers}), choice, tmp_path / "run")
    assert read_run(tmp_path / "run").exit_codes == [77 if layers == 13 else 0] * 2


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        (Choice(engine="torch", profiler="rocprofv3"), "records with kineto, or none"),
        (Choice(engine="torch", backend="host", python="p", devices=(0,)), "names 1 of 2"),
    ],
)
def test_what_cannot_be_asked_for_is_said(choice: Choice, says: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=says):
        generate(plan_of("ddp-overlap"), choice, tmp_path / "run")


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        (json.dumps({**_HEADER, "schema": "x"}), UnknownFormat, "schema 'x'"),
        ("{", CorruptTrace, "line 1"),
        (json.dumps(_HEADER) + "\n{}", CorruptTrace, "line 2"),
    ],
)
def test_notes_that_are_broken_are_one_line(
    text: str, error: type[CommscopeError], says: str, tmp_path: Path
) -> None:
    (tmp_path / "torch_rank0.jsonl").write_text(text)
    with pytest.raises(error, match=says):
        read_noted(tmp_path, 0)


def test_a_real_job_communicates_what_its_truth_says(tmp_path: Path) -> None:
    torch_jobs.need("torch")
    folder = tmp_path / "run"
    plan = plan_of("straggler-host", {"layers": 4, "steps": 2})
    generate(plan, Choice(engine="torch", backend="host", timeout_s=60), folder)
    truth = read_truth(folder / "truth_rank0.jsonl")
    with gzip.open(folder / "rank0/trace.json.gz") as file:
        events = json.load(file)["traceEvents"]
    traced = Counter(event["name"] for event in events if event["name"].startswith("gloo:"))
    steps = [step for step in truth.host_steps if step.step >= 0]
    assert traced["gloo:all_reduce"] == sum(it.collectives["all_reduce"].count for it in steps)
    annotated = {it["name"] for it in events if it["name"].startswith("ProfilerStep#")}
    assert annotated == {f"ProfilerStep#{step.step}" for step in steps}
