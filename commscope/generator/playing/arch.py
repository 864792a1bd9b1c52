"""Which architecture the GPUs of this machine have, as their compiler wants to be told."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from commscope.collect.profiling.rocprofv3 import program_of_rocm
from commscope.errors import UsageError

_KFD_NODES = Path("/sys/class/kfd/kfd/topology/nodes")
_TARGET_VERSION = re.compile(r"^gfx_target_version (\d+)$", re.MULTILINE)
_AMD = re.compile(r"gfx[0-9a-f]{3,4}")
_SECONDS = 20
#: hipcc hands its words to a shell. AMD's may have features behind a colon, as in gfx90a:xnack+.
_GIVEN = {
    "amd": re.compile(r"gfx[0-9a-f]{3,4}(?::[a-z]{3,10}[+-]){0,2}"),
    "nvidia": re.compile(r"sm_[0-9]{2,3}[af]?"),
}


def checked(backend: str, arch: str) -> str:
    """The architectures, divided by commas; raises UsageError for what none is called."""
    pattern = _GIVEN.get(backend)
    for name in arch.split(",") if pattern else ():
        if pattern and not pattern.fullmatch(name):
            such = "gfx942" if backend == "amd" else "sm_90"
            raise UsageError(f"--arch {name}: is no GPU of {backend.upper()}, such as {such}")
    return arch


def arch_of_machine(backend: str) -> str:
    """Architecture of the first GPU, ``gfx942`` or ``sm_90``; empty for the host.

    Raises UsageError, saying where it was looked for, where there is no GPU.
    """
    if backend == "host":
        return ""
    found = _amd() if backend == "amd" else _nvidia()
    if found is None:
        asked = "rocm_agent_enumerator and " + str(_KFD_NODES) if backend == "amd" else "nvidia-smi"
        raise UsageError(
            f"no {backend.upper()} GPU tells its architecture ({asked} were asked): give it, as in "
            f"--arch {'gfx942' if backend == 'amd' else 'sm_90'}"
        )
    return found


def _amd() -> str | None:
    told = _AMD.findall(_output("rocm_agent_enumerator"))
    return next((arch for arch in (*told, *_of_driver(_KFD_NODES)) if arch != "gfx000"), None)


def _of_driver(nodes: Path) -> Iterator[str]:
    """What the driver says of every GPU; CPUs have the version 0."""
    for properties in sorted(nodes.glob("*/properties")):
        found = _TARGET_VERSION.search(properties.read_text(encoding="ascii", errors="replace"))
        if found and int(found[1]):
            yield target_name(int(found[1]))


def target_name(version: int) -> str:
    """The name of a ``gfx_target_version``: 90402 is gfx942, 90010 is gfx90a."""
    return f"gfx{version // 10000}{version // 100 % 100}{version % 100:x}"


def _nvidia() -> str | None:
    told = _output("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader")
    found = re.search(r"^(\d+)\.(\d)$", told, re.MULTILINE)
    return f"sm_{found[1]}{found[2]}" if found else None


def _output(*command: str) -> str:
    """What a program prints; nothing where it is not there or fails."""
    path = program_of_rocm(command[0], os.environ)
    if path is None:
        return ""
    try:
        done = subprocess.run(
            (path, *command[1:]), capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
