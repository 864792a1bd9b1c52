"""Jobs with the real torch, on the CPU, where it is installed."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from run_jobs import environment

_LIMIT_S = 300
#: Accelerate asks for it even where the processes have already met.
_NO_ADDRESS = {"MASTER_ADDR": "localhost", "MASTER_PORT": "0"}
#: More threads than cores take longer, and one alone always adds in the same order.
_QUIET = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


@dataclass(frozen=True)
class Ended:
    """What a process has left."""

    stdout: str
    stderr: str
    returncode: int


def need(*names: str) -> None:
    """Skips the test where one of the packages is not installed."""
    for name in names:
        if not is_installed(name):
            pytest.skip(f"{name} is not installed (extra: integrations)")


def is_installed(name: str) -> bool:
    """Whether there is a package of this name."""
    return find_spec(name) is not None


def two(script: Path) -> list[Ended]:
    """Runs a script in two processes; they meet in a file, whose address is the first argument."""
    started = []
    for rank in range(2):
        place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", **_NO_ADDRESS}
        address = f"file://{script}.met?rank={rank}&world_size=2"
        started.append(_start(script.parent, [str(script), address], place))
    return [_ended(process) for process in started]


def one(folder: Path, words: list[str], variables: Mapping[str, str] | None = None) -> Ended:
    """Runs Python in a folder."""
    return _ended(_start(folder, words, variables or {}))


def torchrun(folder: Path, script: Path, *options: str) -> Ended:
    """Runs a script in two processes of torchrun, under ``commscope run`` with these options."""
    job = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    meeting = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    words = ["-m", "commscope", "run", *options, "--", *job, *meeting, str(script)]
    return one(folder, words)


def _start(folder: Path, words: list[str], variables: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=environment(folder, **_QUIET, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _ended(process: subprocess.Popen[str]) -> Ended:
    with process:
        output, errors = process.communicate(timeout=_LIMIT_S)
    return Ended(output, errors, process.returncode)


def read_trace(path: Path) -> dict[str, Any]:
    """The trace of a rank."""
    trace: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return trace


def spans(trace: dict[str, Any], prefix: str) -> dict[int, tuple[float, float]]:
    """Begin and end of the ranges named by a prefix and a number."""
    return {
        int(event["name"][len(prefix) :]): (event["ts"], event["ts"] + event["dur"])
        for event in trace["traceEvents"]
        if event.get("cat") == "user_annotation" and event["name"].startswith(prefix)
    }
