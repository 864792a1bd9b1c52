"""Compiles the program that plays a schedule: one command of one compiler, kept in a cache.

build("host") -> Path of commscope-gen
build("nvidia", "sm_90", shared=True) -> Path of commscope_gen.so, for torch.profiler
shlex.join(command("amd", "gfx942"))
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from platformdirs import user_cache_dir

from commscope.engine.cache_folder import FOLDER_VARIABLE
from commscope.errors import CommscopeError, UsageError
from commscope.generator.playing.arch import arch_of_machine, checked
from commscope.generator.playing.backends import (
    choose_backend,
    collective_library,
    find_compiler,
    find_cupti,
)

SOURCE = "commscope_gen.hip"
COLLECTOR = "collector_cupti.cpp"
_WARNINGS = ("-Wall", "-Wextra", "-Werror")
_SECONDS = 600
_SHOWN_LINES = 12


@dataclass(frozen=True, slots=True)
class Target:
    """What is compiled: for which GPUs, by which compiler, as a program or a shared object."""

    backend: str
    arch: str
    compiler: str
    shared: bool = False
    strict: bool = False

    @property
    def file_name(self) -> str:
        """Of what comes out."""
        return "commscope_gen.so" if self.shared else "commscope-gen"


def target(
    backend: str = "auto",
    arch: str | None = None,
    *,
    compiler: str | None = None,
    shared: bool = False,
    strict: bool = False,
) -> Target:
    """What would be compiled; ``strict`` treats warnings as errors.

    Raises UsageError where there is no such backend, no compiler, or no GPU to tell its
    architecture.
    """
    chosen = choose_backend(backend)
    path = find_compiler(chosen, compiler)
    return Target(chosen, checked(chosen, arch or arch_of_machine(chosen)), path, shared, strict)


def build(
    backend: str = "auto",
    arch: str | None = None,
    *,
    compiler: str | None = None,
    shared: bool = False,
) -> Path:
    """Path of the compiled program or shared object; it is compiled where it is not yet kept.

    Raises UsageError as ``target`` does, and CommscopeError with the compiler's words where it
    fails.
    """
    wanted = target(backend, arch, compiler=compiler, shared=shared)
    with _sources() as sources:
        kept = _folder(wanted, sources) / wanted.file_name
        if not kept.is_file():
            _compile_into(kept, wanted, sources)
    return kept


def command(
    backend: str = "auto",
    arch: str | None = None,
    *,
    compiler: str | None = None,
    shared: bool = False,
) -> list[str]:
    """The words of the command that ``build`` would run; raises UsageError as it does."""
    wanted = target(backend, arch, compiler=compiler, shared=shared)
    with _sources() as sources:
        return command_of(wanted, sources, _folder(wanted, sources) / wanted.file_name)


def command_of(wanted: Target, sources: Path, output: Path) -> list[str]:
    """The command that compiles the sources in a folder."""
    writer = {"amd": _amd_flags, "nvidia": _nvidia_flags, "host": _host_flags}[wanted.backend]
    kind = ["-DCSG_SHARED"] if wanted.shared else []
    return [*_compiler(wanted), *writer(wanted, sources), *kind, "-o", str(output), "-ldl"]


def _compiler(wanted: Target) -> list[str]:
    """What runs the compiler: hipcc takes nvcc where it sees one, unless it is told."""
    told = ["env", "HIP_PLATFORM=amd"] if wanted.backend == "amd" else []
    return [*told, wanted.compiler]


def _host_flags(wanted: Target, sources: Path) -> list[str]:
    kind = ["-shared", "-fPIC"] if wanted.shared else []
    return ["-x", "c++", *_common(wanted), "-pthread", *kind, str(sources / SOURCE)]


def _amd_flags(wanted: Target, sources: Path) -> list[str]:
    kind = ["-shared", "-fPIC"] if wanted.shared else []
    targets = [f"--offload-arch={arch}" for arch in wanted.arch.split(",")]
    return ["-x", "hip", *targets, *_common(wanted), *_collectives("amd"), "-pthread", *kind,
            str(sources / SOURCE)]  # fmt: skip


def _nvidia_flags(wanted: Target, sources: Path) -> list[str]:
    flags = ["-x", "cu", "-O2", "-std=c++17", f"-arch={wanted.arch}", *_collectives("nvidia")]
    if wanted.strict:
        flags += ["-Xcompiler", ",".join(_WARNINGS), "-Werror", "all-warnings"]
    if wanted.shared:
        # The profiler that watches has its own CUPTI; the runtime has to be the one it watches.
        return [*flags, "-shared", "-Xcompiler", "-fPIC", "-cudart", "shared",
                str(sources / SOURCE)]  # fmt: skip
    return [*flags, str(sources / SOURCE), *_cupti_flags(sources)]


def _cupti_flags(sources: Path) -> list[str]:
    """Without CUPTI the program compiles as well; it then has no collector of its own."""
    cupti = find_cupti()
    if cupti is None:
        return []
    folder = cupti.library.parent
    return [
        str(sources / COLLECTOR), "-DCSG_CUPTI", f"-I{cupti.include}", f"-L{folder}",
        f"-l:{cupti.library.name}", "-Xlinker", f"-rpath={folder}",
    ]  # fmt: skip


def _common(wanted: Target) -> list[str]:
    return ["-O2", "-std=c++17", *(_WARNINGS if wanted.strict else ())]


def _collectives(backend: str) -> list[str]:
    found = collective_library(backend)
    return [] if found is None else [f'-DCSG_CCL_LIBRARY="{found}"']


@contextmanager
def _sources() -> Iterator[Path]:
    with as_file(files("commscope.generator.playing") / "csrc") as folder:
        yield folder


def _folder(wanted: Target, sources: Path) -> Path:
    """Where it is kept: equal sources, compiler and flags give the same folder."""
    seen = hashlib.sha256()
    for path in sorted(sources.iterdir()):
        seen.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    relative = command_of(wanted, Path("csrc"), Path("out"))
    seen.update("\0".join((*relative, _version(wanted))).encode())
    root = os.environ.get(FOLDER_VARIABLE) or user_cache_dir("commscope", appauthor=False)
    return Path(os.path.abspath(root), "generator", seen.hexdigest()[:20])


def _version(wanted: Target) -> str:
    return _run([*_compiler(wanted), "--version"]).stdout


def _compile_into(kept: Path, wanted: Target, sources: Path) -> None:
    """Compiles beside the place where it is kept, so that what is there is whole."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            output = Path(folder, kept.name)
            compile_to(output, wanted, sources)
            if not output.is_file():
                raise CommscopeError(f"{wanted.compiler} ended with 0, but wrote no program")
            os.replace(output, kept)
    except OSError as error:
        raise UsageError(f"{kept.parent} cannot be written: {error.strerror}") from error


def compile_to(output: Path, wanted: Target, sources: Path) -> None:
    """Runs the compiler; raises CommscopeError with its last words where it fails."""
    words = command_of(wanted, sources, output)
    done = _run(words)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        first = next((i for i, line in enumerate(said) if "error" in line), 0)
        raise CommscopeError(
            f"{wanted.compiler} failed with exit code {done.returncode}: "
            f"{' | '.join(said[first : first + _SHOWN_LINES]) or 'it said nothing'}; "
            f"the command was {shlex.join(words)}"
        )


def _run(words: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise CommscopeError(f"{words[0]} did not end within {_SECONDS} s") from error
    except OSError as error:
        raise UsageError(f"{words[0]} cannot be run: {error.strerror}") from error
