"""Real training of two processes, on the CPU: with hooks, and under ``commscope run``.

To start torch takes most of the time, so that all is seen in two jobs. One trains a model, and
then with hooks; the other trains the same model, and is profiled without knowing of it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from torch_jobs import Ended, is_installed, need, read_trace, spans, torchrun, two

#: Two micro-batches a step, two optimizers, and a step that GradScaler skips.
_TRAIN = """
import hashlib, sys, torch, torch.distributed as dist
from torch.nn import Linear, Sequential
from torch.profiler import record_function
dist.init_process_group("gloo", init_method=sys.argv[1] if sys.argv[1:] else None)
rank = dist.get_rank()
torch.manual_seed(1)
layers = Linear(16, 32), Linear(32, 4)
model = torch.nn.parallel.DistributedDataParallel(Sequential(*layers))
optimizers = [torch.optim.AdamW(layers[0].parameters()), torch.optim.SGD(layers[1].parameters())]
scaler = torch.amp.GradScaler("cpu")
for step in range(16):
    with record_function(f"loop {step}"):
        for micro in range(2):
            loss = model(torch.randn(8, 16)).square().mean()
            scaler.scale(loss * (float("inf") if step == 4 else 1)).backward()
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()
    for optimizer in optimizers:
        optimizer.zero_grad()
weights = b"".join(it.detach().numpy().tobytes() for it in model.parameters())
sys.stdout.write(f"{rank} {hashlib.sha256(weights).hexdigest()} {sys.path[1:]}\\n")
sys.stdout.flush()
"""
_END = "sys.exit(5 if rank else 0)\n"
_LOOP = """
from commscope.integrations.torch import profile_steps
def train(hook):
    for step in range(12):
        with record_function(f"loop {step}"):
            model(torch.randn(8, 16)).square().mean().backward()
            optimizers[1].step()
        hook.step()
with profile_steps("loop", steps=(7, 8)) as hook:
    train(hook)
with profile_steps("short", steps=(50, 51), ranks=[1]) as hook:
    train(hook)
"""
_TRAINER = """
from commscope.integrations.transformers import CommscopeCallback
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
sizes = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
model = BertForSequenceClassification(BertConfig(vocab_size=16, **sizes))
data = [{"input_ids": torch.tensor([i % 16, 1]), "labels": torch.tensor(i % 2)} for i in range(96)]
arguments = TrainingArguments("out", use_cpu=True, per_device_train_batch_size=2, max_steps=12,
    gradient_accumulation_steps=2, report_to=[], save_strategy="no", disable_tqdm=True,
    ddp_backend="gloo")
hook = CommscopeCallback("trainer", steps=(6, 7), ranks=[0])
Trainer(model, arguments, train_dataset=data, callbacks=[hook]).train()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jobs")


@pytest.fixture(scope="module")
def hooked(folder: Path) -> list[Ended]:
    need("torch")
    script = folder / "hooked.py"
    trainer = _TRAINER if is_installed("transformers") and is_installed("accelerate") else ""
    script.write_text(_TRAIN + _LOOP + trainer + _END)
    return two(script)


@pytest.fixture(scope="module")
def run(folder: Path) -> Ended:
    """The job that knows of nothing, and the folder ``run`` that it leaves."""
    need("torch")
    script = folder / "train.py"
    script.write_text(_TRAIN + "dist.destroy_process_group()\n" + _END)
    profile = ("--profile", "kineto", "--profile-steps", "10-12")
    return torchrun(folder, script, *profile, "--run-dir", "run")


def test_a_job_under_run_is_untouched(hooked: list[Ended], run: Ended) -> None:
    trained = [it.stdout.splitlines()[0] for it in hooked]
    assert sorted(run.stdout.splitlines()) == trained
    assert [it.returncode for it in hooked] == [0, 5], hooked
    assert run.returncode == 1  # torchrun's own, which tells that of the rank
    assert re.search(r"exitcode\s*: 5\b", run.stderr), run.stderr


def test_a_job_under_run_leaves_the_steps_asked_for(folder: Path, run: Ended) -> None:
    (node,) = (folder / "run" / "nodes").glob("0000-*")
    for rank in (0, 1):
        trace = read_trace(node / "traces" / f"rank{rank}.pt.trace.json.gz")
        assert trace["distributedInfo"]["rank"] == rank
        steps, loops = spans(trace, "ProfilerStep#"), spans(trace, "loop ")
        assert list(steps) == [10, 11, 12, 13]
        assert set(steps) <= set(loops)
        assert all(steps[it][0] <= loops[it][0] < steps[it][1] for it in steps)
    told = (node / "unprofiled.log").read_text().splitlines()
    assert len(told) == 2
    assert all(re.fullmatch(r'\{"rank": \d, "unprofiled_step_ms": [\d.]+\}', it) for it in told)


def test_a_job_under_run_leaves_a_report(folder: Path, run: Ended) -> None:
    (node,) = (folder / "run" / "nodes").glob("0000-*")
    assert list((node / "environment").iterdir())
    status = json.loads((node / "status.json").read_bytes())
    assert (status["exit_code"], status["problems"]) == (1, [])
    assert {it.name for it in (folder / "run").glob("report.*")} == {
        *("report.html", "report.json", "report.md")
    }
    ended, _, place = [it for it in run.stderr.splitlines() if it.startswith("commscope: ")]
    assert ended == "commscope: the job failed with exit code 1"
    assert place.startswith(f"commscope: report: {folder / 'run' / 'report.html'}")


def test_a_loop_records_the_steps_asked_for(folder: Path, hooked: list[Ended]) -> None:
    for rank in (0, 1):
        trace = read_trace(folder / "loop" / f"rank{rank}.pt.trace.json.gz")
        assert trace["distributedInfo"]["rank"] == rank
        steps, loops = spans(trace, "ProfilerStep#"), spans(trace, "loop ")
        assert list(steps) == list(loops) == [7, 8, 9]
        assert all(steps[it][0] <= loops[it][0] < loops[it][1] <= steps[it][1] for it in steps)
    assert len((folder / "loop" / "unprofiled.log").read_text().splitlines()) == 2


def test_a_loop_that_is_too_short_is_told_so_by_one_rank(folder: Path, hooked: list[Ended]) -> None:
    assert hooked[0].stderr.count("commscope:") == 0
    assert "rank 1: no trace: the job ended after 12 steps" in hooked[1].stderr
    assert not (folder / "short").exists()


def test_the_trainer_records_its_own_steps_whatever_is_accumulated(
    folder: Path, hooked: list[Ended]
) -> None:
    need("transformers", "accelerate")
    assert [it.name for it in (folder / "trainer").glob("rank*")] == ["rank0.pt.trace.json.gz"]
    trace = read_trace(folder / "trainer" / "rank0.pt.trace.json.gz")
    steps = spans(trace, "ProfilerStep#")
    assert list(steps) == [6, 7, 8]
    forward = [event for event in trace["traceEvents"]
                if event.get("name") == "DistributedDataParallel.forward"]  # fmt: skip
    assert len(forward) == 6  # two micro-batches a step
    assert "unprofiled_step_ms" in (folder / "trainer" / "unprofiled.log").read_text()
