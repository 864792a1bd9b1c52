"""Events of a Kineto trace in one line each, and the report of some of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commscope


def kernel(
    name: str, start: float, duration: float, correlation: int, stream: int = 0
) -> dict[str, Any]:
    return {
        "ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": start,
        "dur": duration, "args": {"device": 0, "stream": stream, "correlation": correlation},
    }  # fmt: skip


def launch(start: float, correlation: int) -> dict[str, Any]:
    return {
        "ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 7, "tid": 7,
        "ts": start, "dur": 1, "args": {"correlation": correlation},
    }  # fmt: skip


def report_of(folder: Path, events: list[dict[str, Any]], **options: Any) -> commscope.Report:
    file = folder / "rank0.json"
    file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return commscope.analyze(commscope.load(file, **options))
