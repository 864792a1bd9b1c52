"""What the ranks have in their environment, and what is kept of the machine's beside the traces."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from commscope.collect import host_facts
from commscope.collect.profiling.rocprofv3 import program_of_rocm
from commscope.errors import UsageError

TOPOLOGY = "topology"
LOG = "rccl.log"
#: What tells of algorithms, rings and collectives; names that a version does not know are ignored.
SUBSYSTEMS = "INIT,ENV,GRAPH,NET,COLL,TUNING"

_TOOL_S = 20
_VERSIONS = {
    "rocm": ("hipconfig", "--version"),
    "nvidia_driver": ("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
    "nvcc": ("nvcc", "--version"),
}


def rank_variables(rank: int, world: int, local_rank: int, local_world: int) -> dict[str, str]:
    """Who a process is, as torchrun would tell it."""
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(world),
        "LOCAL_RANK": str(local_rank),
        "LOCAL_WORLD_SIZE": str(local_world),
    }


def log_variables(folder: Path) -> dict[str, str]:
    """Lets RCCL or NCCL write its log into the folder of a rank."""
    return {
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_SUBSYS": SUBSYSTEMS,
        "NCCL_DEBUG_FILE": str(folder / LOG),
    }


def save_topology(run: Path) -> dict[str, str]:
    """Saves what the vendors' tools tell of the machine; gives what became of each tool.

    Raises UsageError where the folder cannot be written.
    """
    try:
        outcomes = host_facts.collect(run / TOPOLOGY, timeout_s=_TOOL_S)
    except OSError as error:
        raise UsageError(f"{run / TOPOLOGY} cannot be written: {error.strerror}") from error
    return {it.command: it.reason or "ok" for it in outcomes if it.status != "missing"}


def has_mi300a(run: Path) -> bool:
    """Whether what was saved of the machine names an MI300A."""
    return any(
        b"MI300A" in path.read_bytes()
        for path in sorted((run / TOPOLOGY).glob("*"))
        if path.is_file()
    )


def versions(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Versions of what is installed that matters to traces; what is missing is left out."""
    found = {name: _first_line(words, environment) for name, words in _VERSIONS.items()}
    found["torch"] = _installed("torch")
    return {name: version for name, version in found.items() if version}


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _first_line(words: tuple[str, ...], environment: Mapping[str, str]) -> str:
    program = program_of_rocm(words[0], environment)
    if program is None:
        return ""
    try:
        ended = subprocess.run(
            [program, *words[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=_TOOL_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = [line.strip() for line in ended.stdout.splitlines() if line.strip()]
    # nvcc tells its release in the last line but one.
    return next((line for line in lines if "release" in line), (lines or [""])[0])
