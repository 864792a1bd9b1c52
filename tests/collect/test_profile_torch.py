"""The injection into jobs of the real torch: nothing in their scripts knows of a profiler."""

from __future__ import annotations

import re
from pathlib import Path

from torch_jobs import need, one, read_trace, spans, torchrun, two

from commscope.collect.profiling import ProfileOptions, missing_traces, prepare

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
sys.stdout.write(f"{rank} {hashlib.sha256(weights).hexdigest()} {sys.path[:2]}\\n")
dist.destroy_process_group()
sys.exit(5 if rank else 0)
"""
_MARKED = """
import torch
from torch.profiler import record_function
weight = torch.ones(4, requires_grad=True)
for batch in range(int({batches})):
    with record_function(f"train batch {{batch}}"):
        weight.square().sum().backward()
raise SystemExit(7)
"""


def test_a_job_leaves_the_traces_asked_for_and_is_otherwise_untouched(tmp_path: Path) -> None:
    need("torch")
    script = tmp_path / "train.py"
    script.write_text(_TRAIN)
    options = ProfileOptions("kineto", (10, 12))
    prepared = prepare(options, tmp_path / "traces", tmp_path / "scratch", {})
    plain, profiled = two(script, {}), torchrun(script, prepared.variables)
    assert sorted(profiled.stdout.splitlines()) == sorted(it.stdout.strip() for it in plain)
    assert [it.returncode for it in plain] == [0, 5]
    assert re.search(r"exitcode\s*: 5\b", profiled.stderr)
    assert "commscope" not in profiled.stderr
    for rank in (0, 1):
        trace = read_trace(tmp_path / "traces" / f"rank{rank}.pt.trace.json.gz")
        assert trace["distributedInfo"]["rank"] == rank
        steps, loops = spans(trace, "ProfilerStep#"), spans(trace, "loop ")
        assert list(steps) == [10, 11, 12, 13]
        assert set(steps) <= set(loops)
        assert all(steps[it][0] <= loops[it][0] < steps[it][1] for it in steps)
    told = (tmp_path / "unprofiled.log").read_text().splitlines()
    assert len(told) == 2
    assert all(re.fullmatch(r'\{"rank": \d, "unprofiled_step_ms": [\d.]+\}', it) for it in told)


def test_a_range_begins_the_steps_and_a_failed_job_leaves_what_there_is(tmp_path: Path) -> None:
    need("torch")
    options = ProfileOptions("kineto", (3, 5), None, r"^train batch")
    prepared = prepare(options, tmp_path / "traces", tmp_path / "scratch", {})
    ended = one(["-c", _MARKED.format(batches=6)], prepared.variables)
    assert (ended.stdout, ended.returncode) == ("", 7)
    (line,) = ended.stderr.splitlines()
    assert line.endswith("the trace holds 3 to 5, the last of them not to its end")
    trace = read_trace(tmp_path / "traces" / "rank0.pt.trace.json.gz")
    steps, batches = spans(trace, "ProfilerStep#"), spans(trace, "train batch ")
    assert list(steps) == list(batches) == [3, 4, 5]
    assert all(steps[it][0] <= batches[it][0] for it in steps)
    assert missing_traces(options, tmp_path / "traces") == []
