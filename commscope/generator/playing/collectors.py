"""Who records what a rank runs: a profiler around the program, one inside of it, or nobody.

The words of rocprofv3 follow its sources and documents; we had no AMD GPU to run them on.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commscope.collect.profiling import rocprofv3
from commscope.errors import UsageError
from commscope.generator.playing.backends import find_cupti

PROFILERS = ("auto", "rocprofv3", "rocprof", "cupti", "kineto", "own", "none")
#: What rocprofv3 writes; of these, the first that its version knows is what is analysed best.
FORMATS = ("rocpd", "json", "csv", "pftrace", "otf2")

TRACE_NAME = "trace"
_ROCPD_SINCE = (1, 0)
_RCCL_SINCE = (0, 5)
_ROCM = "/opt/rocm/bin"
_TRACES = ("--kernel-trace", "--memory-copy-trace", "--hip-runtime-trace", "--marker-trace")
_PLAYER = Path(__file__).with_name("under_torch.py")

#: ROCm/TheRock issue 8229.
MI300A_WARNING = (
    "several rocprofv3 at a time on the MI300As of a node have reset the node (ROCm 10.0): "
    "profile one rank, --profile-ranks 0"
)


@dataclass(frozen=True, slots=True)
class Collector:
    """Who records. ``wrap(words, folder)`` is what is run for a rank to be recorded.

    ``inside``: the program's own collector does. ``shared``: the program is a shared object.
    """

    name: str
    version: str = ""
    formats: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    inside: bool = False
    shared: bool = False
    wrap: Callable[[Sequence[str], Path], tuple[str, ...]] = lambda words, _: tuple(words)


def choose(
    wanted: str,
    backend: str,
    formats: Sequence[str] = (),
    *,
    python: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Collector:
    """The collector meant; ``auto`` is the best that is installed for the backend.

    ``python`` is where torch is, where it is not here. Raises UsageError for one that is not
    installed, or that cannot see the backend.
    """
    if wanted not in PROFILERS:
        raise UsageError(f"--profiler {wanted}: one of {', '.join(PROFILERS)}")
    if wanted == "auto":
        return _best(backend, formats, python, environment)
    if wanted not in _FOR[backend]:
        raise UsageError(
            f"--profiler {wanted} sees nothing of the backend {backend}: one of "
            f"{', '.join(_FOR[backend])}"
        )
    found = _found(wanted, formats, python, environment)
    if found is None:
        raise UsageError(f"--profiler {wanted}: {_MISSING[wanted]}")
    return found


_FOR = {
    "amd": ("rocprofv3", "rocprof", "kineto", "none"),
    "nvidia": ("cupti", "kineto", "none"),
    "host": ("own", "none"),
}
_MISSING = {
    "rocprofv3": f"rocprofv3 is neither on the PATH nor in {_ROCM}",
    "rocprof": f"rocprof is neither on the PATH nor in {_ROCM}",
    "cupti": "CUPTI's headers and library were not found in CUDA or beside torch",
    "kineto": "torch is not installed here: --python tells another Python that has it",
}


def _best(
    backend: str, formats: Sequence[str], python: str | None, environment: Mapping[str, str]
) -> Collector:
    tried = (_found(name, formats, python, environment) for name in _FOR[backend])
    return next(found for found in tried if found is not None)


def _found(
    name: str, formats: Sequence[str], python: str | None, environment: Mapping[str, str]
) -> Collector | None:
    """The collector, or null where it is not installed."""
    if name == "rocprofv3":
        program = _rocm_program(name, environment)
        return None if program is None else around_rocprofv3(program, formats)
    if name == "rocprof":
        program = _rocm_program(name, environment)
        return None if program is None else _around_rocprof(program)
    if name == "cupti":
        return Collector(name, inside=True) if find_cupti() else None
    if name == "kineto":
        return _under_torch(python)
    return Collector(name, inside=name == "own")


def _rocm_program(name: str, environment: Mapping[str, str]) -> str | None:
    path = os.pathsep.join((environment.get("PATH", os.defpath), _ROCM))
    return shutil.which(name, path=path)


def around_rocprofv3(program: str, formats: Sequence[str] = ()) -> Collector:
    """Runs a rank under rocprofv3; formats that its version does not know are refused.

    Counters are never asked for, as they make kernels run one after the other, and no ``%rank%`` is
    used, as it does not know torchrun's variables. Raises UsageError.
    """
    known = rocprofv3.installed_version(program)
    version = known or (0, 4)
    chosen = tuple(formats) or (("rocpd",) if version >= _ROCPD_SINCE else ("json",))
    for name in chosen:
        if name not in FORMATS or (name == "rocpd" and version < _ROCPD_SINCE):
            raise UsageError(f"--formats {name}: {program} {_said(version)} does not write it")
    rccl = ("--rccl-trace",) if version >= _RCCL_SINCE else ()
    flags = (*_TRACES, *rccl, "--output-format", *chosen)
    no_rccl = f"{program} {_said(version)}: calls of RCCL are not recorded (ROCm 6.3 does)"
    unknown = f"{program} does not tell its version: taken for that of ROCm 6.2"
    warnings = (*((unknown,) if known is None else ()), *(() if rccl else (no_rccl,)))

    def wrap(words: Sequence[str], folder: Path) -> tuple[str, ...]:
        return (program, *flags, "-d", str(folder), "-o", TRACE_NAME, "--", *words)

    return Collector("rocprofv3", _said(version), chosen, warnings, wrap=wrap)


def _said(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _around_rocprof(program: str) -> Collector:
    """Runs a rank under the older rocprof, whose words differ; not tried on a GPU either."""

    def wrap(words: Sequence[str], folder: Path) -> tuple[str, ...]:
        output = str(folder / f"{TRACE_NAME}.csv")
        return (program, "--hip-trace", "--roctx-trace", "-d", str(folder), "-o", output, *words)

    warning = f"{program} is deprecated, and does not record the calls of RCCL: install rocprofv3"
    return Collector("rocprof", formats=("json",), warnings=(warning,), wrap=wrap)


def _under_torch(python: str | None) -> Collector | None:
    if python is None and importlib.util.find_spec("torch") is None:
        return None
    interpreter = python or sys.executable

    def wrap(words: Sequence[str], folder: Path) -> tuple[str, ...]:
        trace = str(folder / f"{TRACE_NAME}.json.gz")
        return (interpreter, str(_PLAYER), trace, *words)

    return Collector("kineto", formats=("kineto",), shared=True, wrap=wrap)


def traces_in(folder: Path) -> list[Path]:
    """The files of a profiler in the folder of a rank."""
    found = (path for path in folder.rglob(f"*{TRACE_NAME}*") if path.is_file())
    return sorted(path for path in found if path.stat().st_size)
