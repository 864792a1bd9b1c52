"""Which compiler, architecture and command are taken, and what is said where there is none."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from host_program import host_object, lines

from commscope.errors import CommscopeError, UsageError
from commscope.generator.playing import arch, backends, compiling

pytestmark = pytest.mark.long


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on the PATH but what a test puts there."""
    for name in ("ROCM_PATH", "CUDA_HOME", "COMMSCOPE_HIPCC", "CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("COMMSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(backends, "_ROCM_FOLDERS", str(tmp_path / "opt"))
    monkeypatch.setattr(backends, "_CUDA", tmp_path / "cuda")
    monkeypatch.setattr(backends, "_LIBRARY_FOLDERS", (str(tmp_path / "lib"),))
    monkeypatch.setattr(arch, "_KFD_NODES", tmp_path / "nodes")
    return tmp_path


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("backend", "said"),
    [
        ("amd", "looked for hipcc: install ROCm's hipcc"),
        ("nvidia", "looked for nvcc, "),
        ("host", "looked for g++, c++, clang++: install g++"),
    ],
)
def test_without_a_compiler_it_says_where_it_looked(backend: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"no compiler for the backend {backend};") as caught:
        compiling.build(backend, "some")
    assert said in str(caught.value)


def test_the_newest_rocm_is_taken(bare: Path) -> None:
    for version in ("6.4.1", "7.0.2", "6.10.0"):
        executable(bare / f"opt/rocm-{version}/bin/hipcc")
    assert backends.find_compiler("amd") == str(bare / "opt/rocm-7.0.2/bin/hipcc")


def test_what_the_environment_names_comes_first(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(bare / "opt/rocm-7.0.2/bin/hipcc")
    mine = executable(bare / "mine/hipcc")
    monkeypatch.setenv("COMMSCOPE_HIPCC", str(mine))
    assert backends.find_compiler("amd") == str(mine)


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no backend tpu: it is auto or one of amd, nvid"):
        compiling.command("tpu")


@pytest.mark.parametrize(
    ("version", "name"),
    [(90402, "gfx942"), (90010, "gfx90a"), (90500, "gfx950"), (110001, "gfx1101")],
)
def test_the_driver_tells_the_architecture(version: int, name: str) -> None:
    assert arch.target_name(version) == name


def test_the_architecture_comes_from_rocm_then_from_the_driver(bare: Path) -> None:
    for number, version in enumerate((0, 90402)):
        folder = bare / f"nodes/{number}"
        folder.mkdir(parents=True)
        (folder / "properties").write_text(f"a 1\ngfx_target_version {version}\n")
    assert arch.arch_of_machine("amd") == "gfx942"
    executable(bare / "bin/rocm_agent_enumerator", "#!/bin/sh\necho gfx000\necho gfx90a\n")
    assert arch.arch_of_machine("amd") == "gfx90a"


def test_the_architecture_comes_from_the_driver_of_nvidia(bare: Path) -> None:
    executable(bare / "bin/nvidia-smi", "#!/bin/sh\necho 9.0\necho 9.0\n")
    assert arch.arch_of_machine("nvidia") == "sm_90"


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("backend", "said"),
    [("amd", "no AMD GPU tells .*--arch gfx942"), ("nvidia", "no NVIDIA GPU .*--arch sm_90")],
)
def test_without_a_gpu_the_architecture_has_to_be_given(backend: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        arch.arch_of_machine(backend)


def test_the_command_for_amd(bare: Path) -> None:
    hipcc = executable(bare / "opt/rocm-7.0.2/bin/hipcc")
    executable(bare / "bin/env", "#!/bin/sh\n")
    library = executable(bare / "opt/rocm-7.0.2/lib/librccl.so.1")
    words = compiling.command("amd", "gfx942,gfx950")
    assert words[:3] == ["env", "HIP_PLATFORM=amd", str(hipcc)]
    assert words[3:7] == ["-x", "hip", "--offload-arch=gfx942", "--offload-arch=gfx950"]
    assert f'-DCSG_CCL_LIBRARY="{library}"' in words


def test_the_command_for_nvidia(bare: Path) -> None:
    nvcc = executable(bare / "bin/nvcc")
    executable(bare / "cuda/extras/CUPTI/include/cupti.h")
    executable(bare / "cuda/extras/CUPTI/lib64/libcupti.so.12")
    words = compiling.command("nvidia", "sm_90")
    assert words[:3] == [str(nvcc), "-x", "cu"]
    assert {"-DCSG_CUPTI", "-l:libcupti.so.12", "-arch=sm_90"} <= set(words)
    shared = compiling.command("nvidia", "sm_90", shared=True)
    assert {"-shared", "-DCSG_SHARED"} <= set(shared)
    assert "-DCSG_CUPTI" not in shared


def test_what_the_compiler_says_is_passed_on(bare: Path) -> None:
    executable(bare / "bin/g++", "#!/bin/sh\necho 'x.h:1: error: too old' >&2\nexit 4\n")
    with pytest.raises(CommscopeError, match=r"g\+\+ failed with exit code 4: (?s:.*)too old"):
        compiling.build("host")
    assert not list(bare.rglob("commscope-gen"))


def test_it_is_compiled_once_for_equal_sources_and_compilers(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = bare / "runs"
    script = '#!/bin/sh\n[ "$1" = --version ] && echo "$V" && exit\necho >>RUNS\n'
    script += 'while [ "$1" != -o ]; do shift; done\n: >"$2"\n'
    executable(bare / "bin/g++", script.replace("RUNS", str(counts)))
    monkeypatch.setenv("V", "1")
    first = compiling.build("host")
    assert compiling.build("host") == first
    monkeypatch.setenv("V", "2")
    assert compiling.build("host") != first
    assert counts.read_text() == "\n\n"


def test_the_shared_object_calls_back_for_steps_and_labels(tmp_path: Path) -> None:
    schedule = tmp_path / "schedule.txt"
    schedule.write_text(
        "comm dp 0\nrank 0 h\nstep -1\nendstep\nstep 0\npush mine\npop\n"
        "coll c dp all_reduce 8\nsync\nendstep\n"
    )
    seen: list[tuple[int, str]] = []
    marker = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p)(
        lambda kind, label: seen.append((kind, label.decode()))
    )
    words = ["commscope-gen", "--schedule", str(schedule), "--rank", "0", "--out", str(tmp_path)]
    argv = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    library = ctypes.CDLL(str(host_object()))
    assert library.csg_run(len(words), argv, marker) == 0
    coll = "csg.coll;seq=0;op=all_reduce;bytes=8"
    assert seen == [
        (2, ""), (1, "csg.warmup"), (0, ""), (1, "ProfilerStep#0"), (1, "mine"), (0, ""),
        (1, coll), (0, ""), (0, ""), (3, ""),
    ]  # fmt: skip
    assert len(lines(tmp_path / "recorded_rank0.jsonl")) == 9
