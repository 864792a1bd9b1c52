"""Where there is a compiler for GPUs the program compiles without a warning.

It then finds that there is no GPU; what it does on one, only one can show.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import debian_rocm
import pytest

from commscope.generator.playing import compiling
from commscope.generator.playing.backends import find_cupti

pytestmark = pytest.mark.long

_SOURCES = Path(str(files("commscope.generator.playing"))) / "csrc"
_SECONDS = 300
_STUB = """
extern "C" int ncclGetVersion(int* version) { *version = 22105; return 0; }
"""
_ASKS_FOR_LIBRARY = """
#include <cstdio>
#include "ccl_library.h"
int main() {
  try {
    std::printf("%d\\n", csg::CclLibrary::get().version());
  } catch (const csg::Failure& failure) {
    std::printf("%s\\n", failure.what());
    return failure.code;
  }
}
"""


def needs(program: str) -> str:
    found = shutil.which(program)
    if not found:
        pytest.skip(f"needs {program}")
    return found


def run(words: Sequence[str | Path], **variables: str | Path) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "HIP_PLATFORM": "amd", **{k: str(v) for k, v in variables.items()}}
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True, text=True, timeout=_SECONDS, check=False, env=environ,
    )  # fmt: skip


def compiled(backend: str, arch: str, compiler: str, output: Path) -> Path:
    target = compiling.target(backend, arch, compiler=needs(compiler), strict=True)
    compiling.compile_to(output, target, _SOURCES)
    return output


def check_that_it_finds_no_gpu(program: Path, folder: Path) -> None:
    if any(Path(device).exists() for device in ("/dev/kfd", "/dev/nvidiactl")):
        pytest.skip("there is a GPU")
    (folder / "schedule.txt").write_text("rank 0 host0\nsync\n", encoding="utf-8")
    words = [program, "--schedule", folder / "schedule.txt", "--rank", "0", "--out", folder]
    done = run(words)
    assert done.returncode == 77
    assert re.fullmatch(r"commscope-gen: rank 0: no GPU \(.*\) \(preparing\)\n", done.stderr)


def test_it_compiles_with_hipcc_and_finds_no_gpu(tmp_path: Path) -> None:
    program = compiled("amd", "gfx90a", "hipcc", tmp_path / "commscope-gen")
    check_that_it_finds_no_gpu(program, tmp_path)


def test_it_compiles_with_nvcc_and_finds_no_gpu(tmp_path: Path) -> None:
    program = compiled("nvidia", "sm_90", "nvcc", tmp_path / "commscope-gen")
    if find_cupti():
        assert "libcupti" in run(["readelf", "-d", program]).stdout
    check_that_it_finds_no_gpu(program, tmp_path)


def test_it_compiles_for_all_targets_of_amd(tmp_path: Path) -> None:
    clang = debian_rocm.newer_clang()
    (tmp_path / "bitcode").mkdir()
    targets = ("gfx90a", "gfx942", "gfx950")
    done = run([
        clang, "-x", "hip", *(f"--offload-arch={target}" for target in targets),
        *debian_rocm.flags(tmp_path / "bitcode"), "-O1", "-std=c++17",
        "-Wall", "-Wextra", "-Werror", "-c", _SOURCES / compiling.SOURCE, "-o", tmp_path / "all.o",
    ])  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    section = ["objcopy", "-O", "binary", "--only-section=.hip_fatbin"]
    assert run([*section, tmp_path / "all.o", tmp_path / "all.bin"]).returncode == 0
    bundler = clang.replace("clang++", "clang-offload-bundler")
    listed = run([bundler, "--list", "--type=o", f"--input={tmp_path / 'all.bin'}"]).stdout
    assert all(f"hipv4-amdgcn-amd-amdhsa--{target}\n" in listed for target in targets)


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that looks for the collective library as the real one does."""
    folder = tmp_path_factory.mktemp("asking")
    (folder / "asks.hip").write_text(_ASKS_FOR_LIBRARY, encoding="utf-8")
    done = run([
        needs("hipcc"), "--offload-arch=gfx90a", "-std=c++17", f"-I{_SOURCES}", folder / "asks.hip",
        "-o", folder / "asks", "-ldl",
    ])  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "asks"


def stub(folder: Path, functions: Sequence[str]) -> Path:
    """A library with these functions, which do nothing."""
    lines = [f'extern "C" int {name}() {{ return 0; }}' for name in functions]
    (folder / "stub.cpp").write_text("\n".join([_STUB, *lines]), encoding="utf-8")
    library = folder / "librccl.so.1"
    assert run(["g++", "-shared", "-fPIC", folder / "stub.cpp", "-o", library]).returncode == 0
    return library


def functions_needed() -> list[str]:
    text = (_SOURCES / "ccl_library.h").read_text(encoding="utf-8")
    listed = text[text.index("#define CSG_CCL_FUNCTIONS") : text.index("struct CclLibrary")]
    names = [f"nccl{name}" for name in re.findall(r"EACH\((\w+)\)", listed)]
    return [name for name in names if name != "ncclGetVersion"]


def test_a_collective_library_is_found_by_its_name(asking: Path, tmp_path: Path) -> None:
    stub(tmp_path, functions_needed())
    done = run([asking], LD_LIBRARY_PATH=tmp_path)
    assert (done.returncode, done.stdout) == (0, "22105\n")


def test_without_a_collective_library_it_says_what_it_looked_for(asking: Path) -> None:
    done = run([asking])
    if done.returncode == 0:
        pytest.skip("there is a collective library")
    assert done.returncode == 79
    assert "looked for librccl.so.1, librccl.so: install it" in done.stdout


def test_a_library_that_lacks_a_function_is_refused(asking: Path, tmp_path: Path) -> None:
    library = stub(tmp_path, functions_needed()[:-1])
    done = run([asking], COMMSCOPE_CCL_LIBRARY=library)
    assert (done.returncode, done.stdout) == (79, "rccl has no function ncclGroupEnd\n")
