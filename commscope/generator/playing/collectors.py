"""Who records what a rank runs: a profiler around the program, one inside of it, or nobody.

The words of rocprofv3 follow its sources and documents; we had no AMD GPU to run them on.
"""

from __future__ import annotations

import importlib.util
import os
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
_PLAYER = Path(__file__).with_name("under_torch.py")


@dataclass(frozen=True, slots=True)
class Collector:
    """Who records. ``wrap(words, folder)`` is what is run for a rank to be recorded.

    ``inside``: the program's own collector does. ``shared``: the program is a shared object.
    """

    name: str
    version: str = ""
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
    if wanted not in ("auto", *_FOR[backend]):
        raise UsageError(
            f"--profiler {wanted} sees nothing of the backend {backend}: one of "
            f"{', '.join(_FOR[backend])}"
        )
    names = _FOR[backend] if wanted == "auto" else (wanted,)
    tried = (_found(name, formats, python, environment) for name in names)
    found = next((it for it in tried if it is not None), None)
    if found is None:
        raise UsageError(f"--profiler {wanted}: {_MISSING[wanted]}")
    if formats and found.name != "rocprofv3":
        raise UsageError(f"--formats: are those of rocprofv3; the profiler here is {found.name}")
    return found


_FOR = {
    "amd": ("rocprofv3", "rocprof", "kineto", "none"),
    "nvidia": ("cupti", "kineto", "none"),
    "host": ("own", "none"),
}
_NOT_ROCM = "neither on the PATH nor in the bin of ROCM_PATH or /opt/rocm"
_MISSING = {
    "rocprofv3": f"rocprofv3 is {_NOT_ROCM}",
    "rocprof": f"rocprof is {_NOT_ROCM}",
    "cupti": "CUPTI's headers and library were not found in CUDA or beside torch",
    "kineto": "torch is not installed here: --python tells another Python that has it",
}


def _found(
    name: str, formats: Sequence[str], python: str | None, environment: Mapping[str, str]
) -> Collector | None:
    """The collector, or null where it is not installed."""
    if name == "rocprofv3":
        program = rocprofv3.program_of_rocm(name, environment)
        return None if program is None else around_rocprofv3(program, formats)
    if name == "rocprof":
        program = rocprofv3.program_of_rocm(name, environment)
        return None if program is None else _around_rocprof(program)
    if name == "cupti":
        return Collector(name, inside=True) if find_cupti() else None
    if name == "kineto":
        return _under_torch(python)
    return Collector(name, inside=name == "own")


def around_rocprofv3(program: str, formats: Sequence[str] = ()) -> Collector:
    """Runs a rank under rocprofv3; formats that its version does not know are refused.

    Counters are never asked for, as they make kernels run one after the other, and no ``%rank%`` is
    used, as it does not know torchrun's variables. Raises UsageError.
    """
    known = rocprofv3.installed_version(program)
    version = known or rocprofv3.OLDEST
    for name in formats:
        if name not in FORMATS or (name == "rocpd" and not rocprofv3.writes_rocpd(version)):
            raise UsageError(f"--formats {name}: {program} {_said(version)} does not write it")
    flags = rocprofv3.flags(version, formats)
    no_rccl = f"{program} {_said(version)}: calls of RCCL are not recorded (ROCm 6.3 does)"
    unknown = f"{program} does not tell its version: taken for that of ROCm 6.2"
    warnings = (
        *((unknown,) if known is None else ()),
        *(() if rocprofv3.records_rccl(version) else (no_rccl,)),
    )

    def wrap(words: Sequence[str], folder: Path) -> tuple[str, ...]:
        return (program, *flags, "-d", str(folder), "-o", TRACE_NAME, "--", *words)

    return Collector("rocprofv3", _said(version) if known else "", warnings, wrap=wrap)


def _said(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _around_rocprof(program: str) -> Collector:
    """Runs a rank under the older rocprof, whose words differ; not tried on a GPU either."""

    def wrap(words: Sequence[str], folder: Path) -> tuple[str, ...]:
        output = str(folder / f"{TRACE_NAME}.csv")
        return (program, "--hip-trace", "--roctx-trace", "-d", str(folder), "-o", output, *words)

    warning = f"{program} is deprecated, and does not record the calls of RCCL: install rocprofv3"
    return Collector("rocprof", warnings=(warning,), wrap=wrap)


def _under_torch(python: str | None) -> Collector | None:
    if python is None and importlib.util.find_spec("torch") is None:
        return None
    interpreter = python or sys.executable

    def wrap(words: Sequence[str], folder: Path) -> tuple[str, ...]:
        trace = str(folder / f"{TRACE_NAME}.json.gz")
        return (interpreter, str(_PLAYER), trace, *words)

    return Collector("kineto", shared=True, wrap=wrap)


def traces_in(folder: Path) -> list[Path]:
    """The files of a profiler in the folder of a rank."""
    found = (path for path in folder.rglob(f"*{TRACE_NAME}*") if path.is_file())
    return sorted(path for path in found if path.stat().st_size)
