"""What is saved on the machine of a job: by tools that fail in every way, and no secret."""

from __future__ import annotations

import ast
import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commscope.collect import host_facts as collect
from commscope.collect.host_facts import MANIFEST, Tool, is_allowed, kept_environment, system_facts

#: Far less than any tool needs that hangs, and enough for one that does not.
_SOON_S, _LATE_S = 0.05, 30.0

Fake = Callable[[str, str], Tool]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Puts a shell script on PATH and gives the tool that runs it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")

    def make(name: str, script: str) -> Tool:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return Tool(name, (name, "--all"), f"{name}.txt")

    return make


def saved(folder: Path, *tools: Tool, **given: Any) -> dict[str, dict[str, Any]]:
    """Collects with these tools; what the manifest says of each."""
    given.setdefault("timeout_s", _LATE_S)
    collect.collect(folder, tools=tools, **given)
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["schema"] == "commscope.collected/1"
    return {tool["tool"]: tool for tool in manifest["tools"]}


def test_output_of_a_tool_is_saved(tmp_path: Path, fake: Fake) -> None:
    tool = fake("good", 'echo "$1 $LC_ALL"; echo error >&2')
    told = saved(tmp_path / "out", tool)["good"]
    assert (tmp_path / "out" / "good.txt").read_bytes() == b"--all C\nerror\n"
    assert (told["status"], told["exit_code"], told["bytes"]) == ("ok", 0, 14)
    assert (told["reason"], told["command"]) == (None, "good --all")


def test_a_tool_that_hangs_is_ended_with_its_children(tmp_path: Path, fake: Fake) -> None:
    tool = fake("hangs", "echo begun; sleep 600 & echo $!; sleep 600")
    told = saved(tmp_path / "out", tool, timeout_s=10 * _SOON_S)["hangs"]
    assert told["status"] == "timed out"
    assert told["exit_code"] is None
    assert "did not end within" in told["reason"]
    output = tmp_path / "out" / "hangs.txt"
    lines = output.read_text().split() if output.exists() else []
    assert all(has_ended(int(line)) for line in lines[1:])


def has_ended(pid: int) -> bool:
    """Whether a process has ended, or does so once the signal that was sent reaches it."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], _LATE_S)[0])
    finally:
        os.close(process)


def test_a_tool_that_closes_its_output_and_lives_on_is_ended(
    tmp_path: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "_PATIENCE_S", _SOON_S)
    tool = fake("lives", "echo done; exec >&- 2>&-; sleep 600")
    assert saved(tmp_path / "out", tool)["lives"]["status"] == "timed out"


def test_a_tool_that_fails_keeps_what_it_said(tmp_path: Path, fake: Fake) -> None:
    told = saved(tmp_path / "out", fake("fails", "echo no device; exit 3"))["fails"]
    assert (told["status"], told["exit_code"], told["reason"]) == (
        "failed",
        3,
        "ended with code 3",
    )
    assert (tmp_path / "out" / "fails.txt").read_bytes() == b"no device\n"


def test_binary_output_is_saved_as_it_is(tmp_path: Path, fake: Fake) -> None:
    saved(tmp_path / "out", fake("binary", r"printf '\377\376\000\033[31m'"))
    assert (tmp_path / "out" / "binary.txt").read_bytes() == b"\xff\xfe\0\x1b[31m"


def test_a_tool_that_is_missing_or_prints_nothing_leaves_no_file(
    tmp_path: Path, fake: Fake
) -> None:
    silent = fake("silent", "exit 0")
    missing = Tool("no-such-tool", ("no-such-tool",), "missing.txt")
    told = saved(tmp_path / "out", silent, missing)
    assert told["no-such-tool"]["status"] == "missing"
    assert told["no-such-tool"]["reason"] == "no-such-tool is not installed"
    assert told["silent"]["reason"] == "printed nothing"
    assert os.listdir(tmp_path / "out") == [MANIFEST]


def test_a_tool_that_cannot_be_started_says_why(tmp_path: Path, fake: Fake) -> None:
    tool = fake("broken", "")
    (tmp_path / "bin" / "broken").write_bytes(b"#!/no/such/interpreter\n")
    assert "cannot be started" in saved(tmp_path / "out", tool)["broken"]["reason"]


def test_output_without_end_is_cut(tmp_path: Path, fake: Fake) -> None:
    told = saved(tmp_path / "out", fake("endless", "exec yes"), most_bytes=10_000)["endless"]
    assert (told["status"], told["bytes"]) == ("cut", 10_000)
    assert (tmp_path / "out" / "endless.txt").stat().st_size == 10_000


def test_saving_again_replaces_what_an_earlier_run_left(tmp_path: Path, fake: Fake) -> None:
    tool = fake("tool", "echo first")
    saved(tmp_path / "out", tool)
    fake("tool", "echo second")
    saved(tmp_path / "out", tool)
    assert (tmp_path / "out" / "tool.txt").read_bytes() == b"second\n"
    (tmp_path / "bin" / "tool").unlink()
    saved(tmp_path / "out", tool)
    assert os.listdir(tmp_path / "out") == [MANIFEST]


def test_only_variables_of_communication_are_kept(
    tmp_path: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("NCCL_AUTH_TOKEN", "hunter2")
    saved(tmp_path / "out", fake("good", "echo fine"))
    text = (tmp_path / "out" / MANIFEST).read_text(encoding="utf-8")
    assert json.loads(text)["environment"]["NCCL_DEBUG"] == "INFO"
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("NCCL_IB_HCA", True),
        ("RCCL_MSCCL_ENABLE", True),
        ("TORCH_FR_BUFFER_SIZE", True),
        ("GPU_MAX_HW_QUEUES", True),
        ("CUDA_VISIBLE_DEVICES", True),
        ("OMP_NUM_THREADS", True),
        ("UCX_TLS", True),
        ("HOME", False),
        ("CUDA_HOME", False),
        ("HF_TOKEN", False),
        ("NCCL_PASSWORD", False),
        ("NCCL_debug", False),
        ("MLX5_PWD", False),
        ("UCX_PWD_FILE", False),
        ("NCCL_DB_PW", False),
        ("XNCCL_DEBUG", False),
    ],
)
def test_names_of_variables(name: str, allowed: bool) -> None:
    assert is_allowed(name) is allowed


def test_values_are_of_bounded_length_and_valid_text() -> None:
    kept = kept_environment({"NCCL_B": "x" * 9999, "NCCL_A": "\udcff", "PATH": "/bin"})
    assert list(kept) == ["NCCL_A", "NCCL_B"]
    assert (kept["NCCL_A"], len(kept["NCCL_B"])) == ("?", 400)


def test_settings_of_the_system(tmp_path: Path) -> None:
    files = {
        "proc/cmdline": "quiet iommu=pt amd_iommu=on secret=hunter2 iommu.passthrough=1\n",
        "proc/sys/kernel/numa_balancing": "1\n",
        "opt/rocm/.info/version": "6.4.2-120\n",
        "sys/kernel/iommu_groups/0/type": "",
        "sys/module/amdkfd/version": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    facts = system_facts(tmp_path)
    assert facts["kernel flags"] == "iommu=pt amd_iommu=on iommu.passthrough=1"
    assert (facts["numa balancing"], facts["rocm version"]) == ("1", "6.4.2-120")
    assert (facts["iommu groups"], facts["gpu direct module"]) == ("1", "amdkfd")
    assert facts["amdgpu driver"] is None


def test_the_file_runs_alone_and_needs_the_standard_library_only(tmp_path: Path) -> None:
    alone = shutil.copy(collect.__file__, tmp_path / "copied.py")
    command = [sys.executable, "-I", "-S", alone, str(tmp_path / "out"), "--timeout", "20"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "rocm-smi --showtopo: " in done.stdout
    assert (tmp_path / "out" / MANIFEST).is_file()


def test_the_module_runs_as_part_of_the_package(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "commscope.collect.host_facts", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_file_is_of_python_3_9() -> None:
    text = Path(collect.__file__).read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 9))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= sys.stdlib_module_names
    assert "slots" not in text


def test_a_folder_that_cannot_be_written_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert collect.main([str(tmp_path / "file" / "out")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e300", "0", "-1", "soon"])
def test_a_limit_of_time_that_cannot_be_waited_for_is_refused(
    seconds: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        collect.main([str(tmp_path / "out"), "--timeout", seconds])
    assert "--timeout" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
