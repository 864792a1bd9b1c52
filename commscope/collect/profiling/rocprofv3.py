"""The command of rocprofv3, by what the installed version understands.

Written from the sources of releases 0.4 (ROCm 6.2) to 1.3, and tested with a stand-in for the
program: we had no AMD GPU. Counters are never asked for, for they make kernels run one by one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_NAME = "rocprofv3"
_DEFAULT_ROOT = "/opt/rocm"
_TIMEOUT_S = 10.0
_TRACES = ("--kernel-trace", "--memory-copy-trace", "--hip-runtime-trace", "--marker-trace")
#: Since ROCm 6.3.
_RCCL_SINCE = (0, 5)
#: Since ROCm 7.0 the database is what is best kept; before, JSON alone tells the bytes of copies.
_ROCPD_SINCE = (1, 0)
#: The version that comes with a release of ROCm, the newest first.
_OF_ROCM = (((7, 0), (1, 0)), ((6, 4), (0, 6)), ((6, 3), (0, 5)), ((6, 2), (0, 4)))

#: Taken for one that does not tell its version.
OLDEST = _OF_ROCM[-1][1]

#: ROCm/TheRock issue 8229.
MI300A = (
    "in ROCm 10.0 several rocprofv3 at a time on the MI300As of a node can reset the node: there,"
    " profile one rank"
)
WHOLE_RUN = (
    "rocprofv3 records the whole run of each rank, not only the steps asked for: keep the run"
    f" short; {MI300A}"
)


def command(environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The words before the output folder, and lines to show; no words where it is missing."""
    program = program_of_rocm(_NAME, environment)
    if program is None:
        return [], [f"{_NAME} is not installed: the job runs without a profiler"]
    version = installed_version(program)
    warnings = [WHOLE_RUN]
    if version is None:
        version = OLDEST
        warnings.append(f"{program} does not tell its version: RCCL's calls are not recorded")
    return [program, *flags(version)], warnings


def program_of_rocm(name: str, environment: Mapping[str, str]) -> str | None:
    """Where a program of ROCm is: on the PATH, in ``ROCM_PATH`` or in the usual place."""
    own = os.path.join(environment.get("ROCM_PATH") or _DEFAULT_ROOT, "bin")
    path = os.pathsep.join((environment.get("PATH", os.defpath), own))
    return shutil.which(name, path=path)


def flags(version: tuple[int, int], layouts: Sequence[str] = ()) -> list[str]:
    """The options that a version understands; without layouts that which is analysed best."""
    rccl = ["--rccl-trace"] if records_rccl(version) else []
    best = "rocpd" if writes_rocpd(version) else "json"
    return [*_TRACES, *rccl, "--output-format", *(layouts or (best,))]


def records_rccl(version: tuple[int, int]) -> bool:
    """Whether a version records the calls of RCCL."""
    return version >= _RCCL_SINCE


def writes_rocpd(version: tuple[int, int]) -> bool:
    """Whether a version writes rocpd's database."""
    return version >= _ROCPD_SINCE


def installed_version(program: str) -> tuple[int, int] | None:
    """As ``--version`` tells, else as the release of ROCm around the program; None: unknown."""
    return version_in(_output(program)) or _version_of_rocm(Path(program))


def version_in(text: str) -> tuple[int, int] | None:
    """The version in the output of ``--version``."""
    found = re.search(r"^\s*version:\s*(\d{1,4})\.(\d{1,4})", text, re.MULTILINE)
    return None if found is None else (int(found[1]), int(found[2]))


def _output(program: str) -> str:
    try:
        ended = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout[:4096].decode("utf-8", "replace")


def _version_of_rocm(program: Path) -> tuple[int, int] | None:
    try:
        text = (program.resolve().parent.parent / ".info" / "version").read_text("utf-8")
    except (OSError, ValueError):
        return None
    found = re.match(r"(\d{1,4})\.(\d{1,4})", text)
    release = (int(found[1]), int(found[2])) if found else (0, 0)
    return next((version for rocm, version in _OF_ROCM if release >= rocm), None)
