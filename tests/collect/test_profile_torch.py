"""The injection into a process of the real torch that ends early, and into a Trainer's."""

from __future__ import annotations

from pathlib import Path

from torch_jobs import need, one, read_trace, spans

from commscope.collect.profiling.options import ProfileOptions
from commscope.collect.profiling.prepare import prepare

_MARKED = """
import torch
from torch.profiler import record_function
weight = torch.ones(4, requires_grad=True)
for batch in range(6):
    with record_function(f"train batch {batch}"):
        weight.square().sum().backward()
raise SystemExit(7)
"""
_TRAINER = """
import torch
from transformers import Trainer, TrainingArguments
class Model(torch.nn.Linear):
    def forward(self, x, labels):
        return {"loss": super().forward(x).square().mean()}
data = [{"x": [1.0, i], "labels": i % 2} for i in range(96)]
arguments = TrainingArguments("out", use_cpu=True, per_device_train_batch_size=2, max_steps=10,
    gradient_accumulation_steps=2, report_to=[], save_strategy="no", disable_tqdm=True)
Trainer(Model(2, 1), arguments, train_dataset=data).train()
"""


def test_a_range_begins_the_steps_and_a_failed_job_leaves_what_there_is(tmp_path: Path) -> None:
    need("torch")
    options = ProfileOptions("kineto", (3, 5), None, r"^train batch")
    prepared = prepare(options, tmp_path / "traces", tmp_path / "scratch", {})
    ended = one(tmp_path, ["-c", _MARKED], prepared.variables)
    assert (ended.stdout, ended.returncode) == ("", 7)
    (line,) = ended.stderr.splitlines()
    assert line.endswith("the trace holds 3 to 5, the last of them not to its end")
    trace = read_trace(tmp_path / "traces" / "rank0.pt.trace.json.gz")
    steps, batches = spans(trace, "ProfilerStep#"), spans(trace, "train batch ")
    assert list(steps) == list(batches) == [3, 4, 5]
    assert all(steps[it][0] <= batches[it][0] for it in steps)


def test_a_trainer_is_profiled_in_steps_of_its_own(tmp_path: Path) -> None:
    need("torch", "transformers", "accelerate")
    options = ProfileOptions("kineto", (6, 7))
    prepared = prepare(options, tmp_path / "traces", tmp_path / "scratch", {})
    ended = one(tmp_path, ["-c", _TRAINER], prepared.variables)
    assert ended.returncode == 0, ended
    trace = read_trace(tmp_path / "traces" / "rank0.pt.trace.json.gz")
    assert list(spans(trace, "ProfilerStep#")) == [6, 7, 8]
    calls = [event["name"] for event in trace["traceEvents"]].count("Optimizer.step#AdamW.step")
    assert calls == 3  # one each, whatever is accumulated
    assert "unprofiled_step_ms" in (tmp_path / "unprofiled.log").read_text()
