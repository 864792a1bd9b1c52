"""Runs the job: warm-up, then steps under the profiler, and notes when each began and ended."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile, record_function

from .data_parallel import make_ddp, make_serial
from .disturbing import Disturbances
from .experts import make_ep
from .options import JobOptions, read_options
from .pipeline import make_pp
from .place import CannotRun, Place, take_place
from .sharded import make_fsdp
from .tensor_parallel import make_tp
from .work import Make, Work

MAKERS: dict[str, Make] = {
    "ddp": make_ddp,
    "serial": make_serial,
    "fsdp": make_fsdp,
    "tp": make_tp,
    "pp": make_pp,
    "ep": make_ep,
}
SCHEMA = "commscope.torch/1"


def main(path: str) -> int:
    """Exit code of this rank."""
    options = read_options(path)
    try:
        place = take_place(options)
        run(options, place)
    except CannotRun as reason:
        sys.stderr.write(f"commscope-gen: {reason}\n")
        return reason.code
    dist.destroy_process_group()
    return 0


def run(options: JobOptions, place: Place) -> None:
    """Does all steps, and writes the trace and what was noted."""
    clock = read_clocks()
    work = MAKERS[options.strategy](options, place)
    late = Disturbances(options, place)
    noted = [_step(number, options, work, late) for number in range(-options.warmup, 0)]
    out = Path(options.out)
    trace = out / f"rank{place.rank}" / "trace.json.gz"
    with _profiled(place, trace) if place.rank in options.profiled else nullcontext():
        dist.barrier()
        noted += [_step(number, options, work, late) for number in range(options.steps)]
    counts = {op: {"count": count, "bytes": size} for op, (count, size) in work.counts().items()}
    rows = [_header(options, place, clock), *({**step, "collectives": counts} for step in noted)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (out / "recorded" / f"torch_rank{place.rank}.jsonl").write_text(text, encoding="utf-8")


def _step(number: int, options: JobOptions, work: Work, late: Disturbances) -> dict[str, Any]:
    label = f"ProfilerStep#{number}" if number >= 0 else "csg.warmup"
    begin = time.monotonic_ns()
    with record_function(label):
        late.begin_step(number)
        loss = work.step()
        if options.read_loss and loss is not None:
            loss.item()
    end = time.monotonic_ns()
    return {"op": "host_step", "step": number, "host_begin_ns": begin, "host_end_ns": end}


@contextmanager
def _profiled(place: Place, trace: Path) -> Iterator[None]:
    activities = [ProfilerActivity.CPU]
    if place.has_gpu:
        activities.append(ProfilerActivity.CUDA)
    with profile(activities=activities) as profiler:
        yield
        place.wait()
    profiler.export_chrome_trace(str(trace))


def read_clocks() -> dict[str, int]:
    """The clocks of the host, read together: the tightest of some tries."""
    tries = [_read_clocks_once() for _ in range(16)]
    return min(tries, key=lambda it: it[0])[1]


def _read_clocks_once() -> tuple[int, dict[str, int]]:
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    realtime = time.clock_gettime_ns(time.CLOCK_REALTIME)
    boottime = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    took = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - begin
    middle = begin + took // 2
    return took, {"realtime_ns": realtime, "boottime_ns": boottime, "monotonic_ns": middle}


def _header(options: JobOptions, place: Place, clock: dict[str, int]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "backend": options.backend,
        "vendor": place.vendor,
        "ccl": {"amd": "rccl", "nvidia": "nccl"}.get(place.vendor, "gloo"),
        "ccl_version": _library_version() if place.has_gpu else 0,
        "device_name": torch.cuda.get_device_name(place.device) if place.has_gpu else "CPU",
        "torch": torch.__version__,
        "rank": place.rank,
        "world": place.world,
        "clock": clock,
    }


def _library_version() -> int:
    """As NCCL counts: 22809 is 2.28.9."""
    major, minor, patch = torch.cuda.nccl.version()[:3]
    return int(major) * 10_000 + int(minor) * 100 + int(patch)
