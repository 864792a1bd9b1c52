"""Where the output goes: files written whole or not at all, pipes, and what is not overwritten."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_run import trace, write_run

from commscope.cli import output as output_module
from commscope.errors import UsageError

USAGE = UsageError.exit_code
Refused = Callable[..., str]


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


@pytest.mark.parametrize("command", ["analyze", "collectives", "stragglers", "kernels", "inspect"])
@pytest.mark.parametrize("given", ["x.json", "x.out --format json"])
def test_json_file(command: str, given: str, run_folder: Path, tmp_path: Path, call) -> None:
    name, *option = given.split()
    outcome = call(command, run_folder, "-o", tmp_path / name, *option)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert json.loads(text) is not None
    assert text == call(command, run_folder, "--format", "json").out


@pytest.mark.parametrize("command", ["analyze", "collectives", "stragglers", "kernels", "inspect"])
def test_text_file_is_what_a_pipe_gets(
    command: str, run_folder: Path, tmp_path: Path, call
) -> None:
    call(command, run_folder, "-o", tmp_path / "x.txt")
    text = (tmp_path / "x.txt").read_text(encoding="utf-8")
    assert text == call(command, run_folder).out == call(command, run_folder, "-o", "-").out
    assert not any(line.endswith(" ") for line in text.splitlines())
    assert "\x1b" not in text


def test_quiet_and_verbose_hold_for_files(run_folder: Path, tmp_path: Path, call) -> None:
    for option in ("-q", "-v"):
        call("analyze", run_folder, option, "-o", tmp_path / "x.txt")
        assert (tmp_path / "x.txt").read_text() == call("analyze", run_folder, option).out


def test_equal_input_gives_equal_bytes(run_folder: Path, call) -> None:
    first, second = (call("analyze", run_folder, "--format", "json").out for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", ["gone/x.json", "", "run/rank0.json"])
def test_output_that_cannot_be(
    name: str, run_folder: Path, tmp_path: Path, refused: Refused
) -> None:
    before = (run_folder / "rank0.json").read_bytes()
    refused(USAGE, "analyze", run_folder / "rank0.json", "-o", tmp_path / name)
    assert (run_folder / "rank0.json").read_bytes() == before


READ = {
    "folder": ("run", "run/rank0.json"),
    "folder above": (".", "run/rank1.json"),
    "pattern": ("run/rank*.json", "run/rank1.json"),
    "pattern of folders": ("r*", "run/rank0.json"),
    "not a trace": ("run", "run/damaged.zip"),
    "link to a file": ("run", "elsewhere.json"),
    "hard link": ("run/rank0.json", "twin.json"),
    "by a link": ("run", "to_rank0.json"),
}


@pytest.fixture
def linked(run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory has a run, files that links join to it, and settings."""
    monkeypatch.chdir(tmp_path)
    (run_folder / "damaged.zip").write_bytes(b"PK\x03\x04" + bytes(50))
    Path("elsewhere.json").write_bytes(trace(2))
    (run_folder / "rank2.json").symlink_to(tmp_path / "elsewhere.json")
    Path("twin.json").hardlink_to(run_folder / "rank0.json")
    Path("to_rank0.json").symlink_to(run_folder / "rank0.json")
    for name in ("own.toml", "commscope.toml"):
        Path(name).write_text("[patterns]\n")


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("command", ["analyze", "collectives", "stragglers", "kernels", "inspect"])
@pytest.mark.parametrize(("given", "output"), READ.values(), ids=READ)
def test_inputs_are_never_overwritten(
    given: str, output: str, command: str, refused: Refused
) -> None:
    before = Path(output).read_bytes()
    assert "would be lost" in refused(USAGE, command, given, "-o", output)
    assert Path(output).read_bytes() == before


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("command", ["analyze", "collectives", "stragglers", "kernels"])
@pytest.mark.parametrize("config", [("--config", "own.toml"), ()])
def test_settings_are_never_overwritten(
    config: tuple[str, ...], command: str, refused: Refused
) -> None:
    output = config[1] if config else "commscope.toml"
    assert "would be lost" in refused(USAGE, command, "run", *config, "-o", output)
    assert Path(output).read_text() == "[patterns]\n"


def test_a_new_file_may_lie_next_to_the_traces(run_folder: Path, call) -> None:
    assert call("analyze", run_folder, "-o", run_folder / "report.json").code == 0
    assert json.loads((run_folder / "report.json").read_bytes())["summary"]["ranks"] == 2


def test_an_old_report_elsewhere_is_replaced(run_folder: Path, tmp_path: Path, call) -> None:
    (tmp_path / "report.json").write_text("old")
    assert call("analyze", run_folder, "-o", tmp_path / "report.json").code == 0
    assert json.loads((tmp_path / "report.json").read_bytes())


def test_failed_write_leaves_the_old_file_and_no_other(
    run_folder: Path, tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "x.json"
    old.write_text("old")

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output_module.Path, "write_bytes", full)
    assert "No space left" in refused(USAGE, "analyze", run_folder, "-o", old)
    assert old.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["run", "x.json"]


def test_existing_file_keeps_its_mode_and_a_link_its_target(
    run_folder: Path, tmp_path: Path, call
) -> None:
    target = tmp_path / "target.json"
    target.write_text("old")
    target.chmod(0o600)
    (tmp_path / "link.json").symlink_to(target)
    assert call("analyze", run_folder, "-o", tmp_path / "link.json").code == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads(target.read_text())
    assert target.stat().st_mode & 0o777 == 0o600


def test_full_device(run_folder: Path, refused: Refused) -> None:
    assert "No space left" in refused(USAGE, "analyze", run_folder, "-o", "/dev/full")


def process(*arguments: object, **how: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "commscope", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output="stdout" not in how, **how)


def test_full_standard_output(run_folder: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = process("analyze", run_folder, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == USAGE
    assert done.stderr == (
        b"commscope: standard output: cannot be written (No space left on device)\n"
    )


def test_reader_of_the_pipe_leaves_early(run_folder: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb") as pipe:
        done = process("analyze", run_folder, stdout=pipe, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")


def test_terminal_that_lacks_characters(tmp_path: Path) -> None:
    (write_run(tmp_path) / "b\N{GREEK SMALL LETTER ALPHA}.txt").write_bytes(b"text")
    done = process("inspect", tmp_path, env={**os.environ, "PYTHONIOENCODING": "iso8859-1"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"b?.txt" in done.stdout


def test_version_needs_no_heavy_import() -> None:
    code = (
        "import sys; from commscope.cli.main import run; run(['--version'])\n"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'pyarrow', 'pandas', 'rich')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
