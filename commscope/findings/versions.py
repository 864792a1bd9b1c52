"""Versions of ROCm and of the profiler that are known to lose or distort records."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownProblem:
    """A problem of some versions: what it does to a trace, and where that is told."""

    applies: Callable[[Mapping[str, str]], bool]
    versions: str
    says: str
    source: str


def rocm_version(versions: Mapping[str, str]) -> tuple[int, int, int] | None:
    """(major, minor, patch) of the HIP runtime: 60443483 is 6.4.43483."""
    number = versions.get("hip_runtime_version", "")
    if not re.fullmatch(r"\d{8,10}", number):
        return None
    major, rest = divmod(int(number), 10_000_000)
    return major, rest // 100_000, rest % 100_000


def _rocm(major: int, minor: int) -> Callable[[Mapping[str, str]], bool]:
    def applies(versions: Mapping[str, str]) -> bool:
        found = rocm_version(versions)
        return found is not None and found[:2] == (major, minor)

    return applies


KNOWN_PROBLEMS = (
    KnownProblem(
        _rocm(6, 1),
        "ROCm 6.1",
        "RCCL kernels carry correlation 0: their launches cannot be found",
        "https://github.com/ROCm/roctracer/issues/100",
    ),
    KnownProblem(
        _rocm(6, 2),
        "ROCm 6.2",
        "kernels of one queue may overlap by some 27 ns",
        "https://github.com/ROCm/roctracer/issues/104",
    ),
    KnownProblem(
        _rocm(7, 0),
        "ROCm 7.0",
        "a stream may be missing, another one on each rank (seen with 7.0.1 on MI300X and MI350X)",
        "https://github.com/ROCm/rocm-systems/issues/1327",
    ),
)


def known_problems(versions: Mapping[str, str]) -> list[KnownProblem]:
    """The problems that the versions of one file are known for."""
    return [problem for problem in KNOWN_PROBLEMS if problem.applies(versions)]
