"""The hooks in real training loops of two processes, on the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch_jobs import Ended, is_installed, need, path_to_commscope, read_trace, spans, two

_LOOP = """
import sys, torch, torch.distributed as dist
from torch.profiler import record_function
from commscope.integrations.torch import profile_steps
dist.init_process_group("gloo", init_method=sys.argv[1])
torch.manual_seed(0)
def train(model, hook, optimizer):
    for step in range(12):
        with record_function(f"loop {step}"):
            model(torch.randn(4, 8)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        hook.step()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with profile_steps("loop", steps=(7, 8)) as hook:
    train(model, hook, optimizer)
with profile_steps("short", steps=(50, 51), ranks=[1]) as hook:
    train(model, hook, optimizer)
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
    return tmp_path_factory.mktemp("hooks")


@pytest.fixture(scope="module")
def ended(folder: Path) -> list[Ended]:
    need("torch")
    script = folder / "train.py"
    trainer = _TRAINER if is_installed("transformers") else ""
    script.write_text(f"import os; os.chdir({str(folder)!r})\n{_LOOP}{trainer}")
    return two(script, {"PYTHONPATH": path_to_commscope(folder / "path")})


def test_a_loop_records_the_steps_asked_for(folder: Path, ended: list[Ended]) -> None:
    assert [it.returncode for it in ended] == [0, 0], ended
    for rank in (0, 1):
        trace = read_trace(folder / "loop" / f"rank{rank}.pt.trace.json.gz")
        assert trace["distributedInfo"]["rank"] == rank
        steps, loops = spans(trace, "ProfilerStep#"), spans(trace, "loop ")
        assert list(steps) == list(loops) == [7, 8, 9]
        assert all(steps[it][0] <= loops[it][0] < loops[it][1] <= steps[it][1] for it in steps)
    assert len((folder / "loop" / "unprofiled.log").read_text().splitlines()) == 2


def test_a_loop_that_is_too_short_is_told_so_by_one_rank(folder: Path, ended: list[Ended]) -> None:
    assert ended[0].stderr.count("commscope:") == 0
    assert "rank 1: no trace: the job ended after 12 steps" in ended[1].stderr
    assert not (folder / "short").exists()


def test_the_trainer_records_its_own_steps_whatever_is_accumulated(
    folder: Path, ended: list[Ended]
) -> None:
    need("transformers", "accelerate")
    assert [it.returncode for it in ended] == [0, 0], ended
    assert [it.name for it in (folder / "trainer").glob("rank*")] == ["rank0.pt.trace.json.gz"]
    trace = read_trace(folder / "trainer" / "rank0.pt.trace.json.gz")
    steps = spans(trace, "ProfilerStep#")
    assert list(steps) == [6, 7, 8]
    forward = [event for event in trace["traceEvents"]
                if event.get("name") == "DistributedDataParallel.forward"]  # fmt: skip
    assert len(forward) == 6  # two micro-batches a step
    assert "unprofiled_step_ms" in (folder / "trainer" / "unprofiled.log").read_text()
