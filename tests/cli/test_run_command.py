"""``commscope run``: the options of the file that runs alone, and an end like the job's."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest
from run_jobs import LATE_S, environment

from commscope.cli.main import run as run_command_line
from commscope.cli.run import run
from commscope.collect.options import OPTIONS, RunOptions, read


def test_both_command_lines_have_the_same_options() -> None:
    options = [it for it in run.params if isinstance(it, click.Option)]
    assert [it.opts for it in options] == [[option.flag] for option in OPTIONS]
    assert [it.name for it in options] == [option.field for option in OPTIONS]


@pytest.mark.parametrize(
    ("code", "end"), [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 15)", -15)]
)
def test_a_job_is_run(tmp_path: Path, code: str, end: int) -> None:
    options = ["--no-analyze", "--run-dir", "run", "--wait", "7"]
    job = [sys.executable, "-I", "-c", f"print('--help', flush=True); {code}", "--run-dir"]
    done = subprocess.run(
        [sys.executable, "-m", "commscope", "run", *options, "--", *job],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        check=False,
        timeout=LATE_S,
    )
    assert (done.returncode, done.stdout) == (end, b"--help\n")
    assert list((tmp_path / "run" / "nodes").glob("*/status.json"))


@pytest.mark.parametrize(
    "words",
    [
        ["--", "python", "--", "train.py"],
        ["torchrun", "--name", "x", "train.py"],
        ["--name=a=b", "--log-calls", "--wait", "7", "--timeout=60", "--", "true", "--no-log"],
        ["--profile", "kineto", "--profile-steps", "3-4", "--profile-ranks=0,2", "true"],
        ["--run-dir", "-x", "--name", "", "--name", "y", "--no-analyze", "true"],
    ],
)
def test_the_quick_way_reads_what_the_command_line_reads(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[RunOptions] = []
    monkeypatch.setattr("commscope.cli.run.run_job", lambda options: ran.append(options) or 0)
    assert run_command_line(["run", *words]) == 0
    quick = read(words)
    assert quick is not None
    assert replace(quick, command=tuple(quick.command)) == ran[0]


@pytest.mark.parametrize(
    "words",
    [
        *([], ["--"], ["--help"], ["--bogus", "true"], ["--no-log=1", "true"], ["--name"]),
        *(["--prof", "kineto", "true"], ["--profile", "x", "true"], ["--wait", "x", "true"]),
        *(["--log-calls", "--no-log", "true"], ["--profile-marker", "x", "true"]),
    ],
)
def test_the_quick_way_leaves_to_the_command_line_what_is_not_right(words: list[str]) -> None:
    assert read(words) is None


def test_a_job_does_not_wait_for_what_other_commands_need(tmp_path: Path) -> None:
    code = (
        "import atexit, sys; from commscope.__main__ import main\n"
        "atexit.register(lambda: print(*{'click', 'numpy', 'argparse'} & {*sys.modules}))\n"
        "sys.argv = ['commscope', 'run', '--no-log', '--', 'nowhere']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        check=False,
        timeout=LATE_S,
    )
    assert (done.returncode, done.stdout) == (127, b"\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--timeout", "0", "--", "true"], "0: a number of seconds above 0"),
        (["--profile-ranks", "1-0", "--profile", "kineto", "--", "true"], "1-0"),
        (["--profile-marker", "x", "--", "true"], "--profile-marker needs --profile"),
        (["--log-calls", "--no-log", "--", "true"], "exclude each other"),
        (["--run-dir", "", "--", "true"], "name a folder"),
        (["--no-log=1", "--", "true"], "does not take a value"),
        ([], "Missing argument"),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["run", *arguments]) == 2
    assert says in capsys.readouterr().err
