"""What the program can be compiled for, and where compilers and libraries of the vendors lie."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from commscope.errors import UsageError

BACKENDS = ("amd", "nvidia", "host")
_ROCM_FOLDERS = "/opt"
_CUDA = Path("/usr/local/cuda")
_DRIVERS = {"amd": Path("/dev/kfd"), "nvidia": Path("/dev/nvidiactl")}
_LIBRARY_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")
_COLLECTIVES = {
    "amd": ("librccl.so.1", "librccl.so"),
    "nvidia": ("libnccl.so.2", "libnccl.so"),
}


@dataclass(frozen=True, slots=True)
class Cupti:
    """NVIDIA's interface to what runs on the GPU: the folder of its headers, and its library."""

    include: Path
    library: Path


def choose_backend(wanted: str = "auto") -> str:
    """The backend meant: ``auto`` is the vendor whose driver and compiler are here, else the host.

    Raises UsageError for one that does not exist.
    """
    if wanted in BACKENDS:
        return wanted
    if wanted != "auto":
        raise UsageError(
            f"there is no backend {wanted}: it is auto or one of {', '.join(BACKENDS)}"
        )
    for backend in _DRIVERS:
        if has_driver(backend) and _first_program(_compiler_places(backend)):
            return backend
    return "host"


def has_driver(backend: str) -> bool:
    """Whether the vendor's driver is loaded."""
    return _DRIVERS[backend].exists()


def find_compiler(backend: str, given: str | None = None) -> str:
    """Path of the compiler, the one given or the first of those found.

    Raises UsageError naming all places where it was looked for.
    """
    places = [given] if given else list(_compiler_places(backend))
    found = _first_program(places)
    if found is None:
        raise UsageError(
            f"no compiler for the backend {backend}; looked for {', '.join(places)}: "
            f"{_HINTS[backend]}"
        )
    return found


_HINTS = {
    "amd": "install ROCm's hipcc, or give its path with --compiler",
    "nvidia": "install CUDA's nvcc, or give its path with --compiler",
    "host": "install g++, or give the path of a C++17 compiler with --compiler",
}


def _compiler_places(backend: str) -> Iterator[str]:
    """Where a compiler may be, best first; words without a slash are looked for on the PATH."""
    environ = os.environ
    if backend == "amd":
        yield from filter(None, [environ.get("COMMSCOPE_HIPCC")])
        yield from (str(folder / "bin/hipcc") for folder in _rocm_folders())
        yield "hipcc"
    elif backend == "nvidia":
        if environ.get("CUDA_HOME"):
            yield os.path.join(environ["CUDA_HOME"], "bin/nvcc")
        yield "nvcc"
        yield str(_CUDA / "bin/nvcc")
    else:
        yield from filter(None, [environ.get("CXX")])
        yield from ("g++", "c++", "clang++")


def _rocm_folders() -> Iterator[Path]:
    """The one that the environment names, then the newest."""
    if os.environ.get("ROCM_PATH"):
        yield Path(os.environ["ROCM_PATH"])
    installed = Path(_ROCM_FOLDERS).glob("rocm*")
    yield from sorted(installed, key=_version_of, reverse=True)


def _version_of(folder: Path) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", folder.name)]


def _first_program(places: Iterable[str]) -> str | None:
    return next((path for place in places if (path := shutil.which(place))), None)


def collective_library(backend: str) -> Path | None:
    """RCCL or NCCL where it lies in a place of its own; null: the loader may know better."""
    names = _COLLECTIVES.get(backend, ())
    return _first_file(_collective_folders(backend), names)


def _collective_folders(backend: str) -> Iterator[Path]:
    if backend == "amd":
        yield from (folder / "lib" for folder in _rocm_folders())
    else:
        yield from (folder / "lib" for folder in _wheel_folders("nccl"))
    yield from map(Path, _LIBRARY_FOLDERS)


def find_cupti() -> Cupti | None:
    """CUPTI of CUDA's wheels or of an installed CUDA; null where there is none."""
    names = ("libcupti.so", "libcupti.so.13", "libcupti.so.12")
    for root, include, library in _cupti_places():
        found = _first_file([root / library], names)
        if found and (root / include / "cupti.h").is_file():
            return Cupti(root / include, found)
    return None


def _cupti_places() -> Iterator[tuple[Path, str, str]]:
    """Roots, and where headers and library lie below them."""
    homes = [Path(os.environ["CUDA_HOME"])] if os.environ.get("CUDA_HOME") else []
    nvcc = shutil.which("nvcc")
    if nvcc:
        homes.append(Path(nvcc).resolve().parent.parent)
    for home in (*homes, _CUDA):
        yield home, "extras/CUPTI/include", "extras/CUPTI/lib64"
        yield from ((home, "include", lib) for lib in ("lib64", "lib"))
    # Wheels hold headers of CUDA as well, which had better be those of the compiler.
    for wheel in ("cu13", "cuda_cupti"):
        yield from ((folder, "include", "lib") for folder in _wheel_folders(wheel))


def _wheel_folders(name: str) -> Iterator[Path]:
    """Folders of that name of the packages ``nvidia.*``, which many wheels put together."""
    package = importlib.util.find_spec("nvidia")
    for root in (package.submodule_search_locations or ()) if package else ():
        if Path(root, name).is_dir():
            yield Path(root, name)


def _first_file(folders: Iterable[Path], names: Iterable[str]) -> Path | None:
    wanted = tuple(names)
    candidates = (folder / name for folder in folders for name in wanted)
    return next((path for path in candidates if path.is_file()), None)
