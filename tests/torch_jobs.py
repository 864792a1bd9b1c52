"""Jobs of two processes with the real torch, on the CPU, where there is one.

Its interpreter is that of the tests or the one that COMMSCOPE_TORCH_PYTHON names.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import commscope

PYTHON = os.environ.get("COMMSCOPE_TORCH_PYTHON", sys.executable)
_LIMIT_S = 300
#: Accelerate asks for it even where the processes have already met.
_NO_ADDRESS = {"MASTER_ADDR": "localhost", "MASTER_PORT": "0"}


@dataclass(frozen=True)
class Ended:
    """What a process has left."""

    stdout: str
    stderr: str
    returncode: int


def need(*names: str) -> None:
    """Skips the test where one of the packages is not there."""
    for name in names:
        if not is_installed(name):
            pytest.skip(f"{name} is not installed for {PYTHON} (COMMSCOPE_TORCH_PYTHON)")


def torchrun(script: Path, variables: Mapping[str, str]) -> Ended:
    """Runs a script in two processes of torchrun."""
    words = ["-m", "torch.distributed.run", "--nproc-per-node", "2"]
    meeting = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    return _ended(_start([*words, *meeting, str(script)], variables))


def two(script: Path, variables: Mapping[str, str]) -> list[Ended]:
    """Runs a script in two processes; they meet in a file, whose address is the first argument."""
    started = []
    for rank in range(2):
        place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", **_NO_ADDRESS}
        address = f"file://{script}.met?rank={rank}&world_size=2"
        started.append(_start([str(script), address], {**variables, **place}))
    return [_ended(process) for process in started]


def one(words: list[str], variables: Mapping[str, str]) -> Ended:
    """Runs the interpreter that has torch."""
    return _ended(_start(words, variables))


def _start(words: list[str], variables: Mapping[str, str]) -> subprocess.Popen[str]:
    quiet = {"OMP_NUM_THREADS": "1", "KINETO_LOG_LEVEL": "6"}
    return subprocess.Popen(
        [PYTHON, *words],
        env={**os.environ, **quiet, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _ended(process: subprocess.Popen[str]) -> Ended:
    with process:
        output, errors = process.communicate(timeout=_LIMIT_S)
    return Ended(output, errors, process.returncode)


def path_to_commscope(folder: Path) -> str:
    """A folder for PYTHONPATH that holds commscope and nothing else of where it lies."""
    folder.mkdir(exist_ok=True)
    (folder / "commscope").symlink_to(Path(commscope.__file__).parent)
    return str(folder)


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


@cache
def is_installed(name: str) -> bool:
    """Whether the interpreter has a package."""
    code = f"from importlib.util import find_spec; raise SystemExit(not find_spec({name!r}))"
    return subprocess.run([PYTHON, "-c", code], check=False).returncode == 0
