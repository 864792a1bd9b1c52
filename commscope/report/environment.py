"""What the traces say of the machines, and where their files disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from commscope.findings.versions import rocm_version
from commscope.report.model import Environment
from commscope.trace import Trace

_PLATFORMS: Mapping[bool, Literal["rocm", "cuda"]] = {True: "rocm", False: "cuda"}
_MOST_FILES = 3


def environment_of(trace: Trace) -> Environment:
    """Versions, GPUs and platform; of versions that differ between files, all."""
    versions = {name: ", ".join(sorted(found)) for name, found in _files_by_version(trace).items()}
    gpus = {name for name in trace.ranks.column("gpu").to_pylist() if name}
    platforms = {file.is_rocm for file in trace.files if file.is_rocm is not None}
    return Environment(
        versions=versions,
        gpus=tuple(sorted(gpus)),
        platform=_PLATFORMS[platforms.pop()] if len(platforms) == 1 else None,
        source="metadata of the traces",
    )


def disagreements(trace: Trace) -> Iterator[str]:
    """One sentence for each version that is not the same in all files that tell it."""
    for name, found in _files_by_version(trace).items():
        if len(found) > 1:
            told = "; ".join(f"{v} ({_shown(files)})" for v, files in sorted(found.items()))
            yield f"the files differ in {name}: {told}"


def _files_by_version(trace: Trace) -> dict[str, dict[str, list[str]]]:
    """Component -> version -> the files that tell it."""
    result: dict[str, dict[str, list[str]]] = {}
    for file in trace.files:
        for name, version in _with_releases(file.versions).items():
            result.setdefault(name, {}).setdefault(version, []).append(file.file)
    return result


def _with_releases(versions: Mapping[str, str]) -> dict[str, str]:
    """The versions with the releases of ROCm and CUDA that the runtimes' numbers stand for."""
    result = dict(versions)
    rocm = rocm_version(versions)
    if rocm:
        result["rocm"] = ".".join(map(str, rocm))
    cuda = versions.get("cuda_runtime_version", "")
    if cuda.isdecimal() and len(cuda) < 7:
        result["cuda"] = f"{int(cuda) // 1000}.{int(cuda) % 1000 // 10}"
    return result


def _shown(files: list[str]) -> str:
    more = len(files) - _MOST_FILES
    return ", ".join(files[:_MOST_FILES]) + (f" and {more} more" if more > 0 else "")
