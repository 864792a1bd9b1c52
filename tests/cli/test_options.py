"""Every option of the commands that read traces: what it does, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_run import ALL_REDUCE, GEMM, STEPS, trace, write_run

from commscope import __version__
from commscope.errors import UsageError

USAGE = UsageError.exit_code
Refused = Callable[..., str]
Report = Callable[..., dict[str, Any]]


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


@pytest.fixture
def report(call) -> Report:
    """The JSON that ``analyze`` prints with some arguments."""

    def invoke(*arguments: object) -> dict[str, Any]:
        outcome = call("analyze", *arguments, "--format", "json")
        assert (outcome.code, outcome.err) == (0, "")
        return json.loads(outcome.out)

    return invoke


def steps_of(document: dict[str, Any]) -> list[tuple[int, int]]:
    return [(row["rank"], row["step"]) for row in document["steps"]]


def test_small_run_has_the_times_it_was_made_with(run_folder: Path, report: Report) -> None:
    document = report(run_folder)
    assert steps_of(document) == [(rank, step) for rank in range(2) for step in range(STEPS)]
    first = document["steps"][0]["partition"]
    assert (first["compute_ns"], first["exposed_comm_ns"]) == (40_000, 20_000)


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize(
    "command", [(), ("analyze",), ("collectives",), ("stragglers",), ("kernels",), ("inspect",)]
)
def test_help(command: tuple[str, ...], flag: str, call) -> None:
    outcome = call(*command, flag)
    assert (outcome.code, outcome.err) == (0, "")
    assert "Usage: commscope" in outcome.out


def test_alone_prints_help(call) -> None:
    outcome = call()
    assert outcome == call("--help")
    assert all(
        name in outcome.out
        for name in ("analyze", "collectives", "stragglers", "kernels", "inspect")
    )


def test_version(call) -> None:
    assert __version__ in call("--version").out


@pytest.mark.parametrize("arguments", [("nope",), ("analyze",), ("analyze", "--nope"), ("--nope",)])
def test_wrong_usage_points_to_the_help(arguments: tuple[str, ...], refused: Refused) -> None:
    assert "--help" in refused(USAGE, *arguments)


BAD_VALUES = [
    ("--rank", "3"),
    ("--rank", "x=rank0.json"),
    ("--rank", "-1=rank0.json"),
    ("--rank", "1="),
    ("--rank", "99999999999=rank0.json"),
    ("--rank", f"{'9' * 5000}=rank0.json"),
    ("--rank", "1=gone.json"),
    ("--capture", "x"),
    ("--capture", "-1"),
    ("--capture", "5"),
    ("--capture", "9" * 5000),
    ("--steps", "x"),
    ("--steps", "3-1"),
    ("--steps", "77"),
    ("--skip-first", "-1"),
    ("--skip-first", "99"),
    ("--skip-first", "9" * 30),
    ("--step-marker", "("),
    ("--step-marker", "no annotation is called so"),
    ("--pattern", "gemm"),
    ("--pattern", "gemm=("),
    ("--pattern", "nope=x"),
    ("--unprofiled-step-ms", "0"),
    ("--unprofiled-step-ms", "x"),
    ("--unprofiled-step-ms", "inf"),
    ("--unprofiled-step-ms", "nan"),
    ("--parser", "nope"),
    ("--format", "xml"),
]


@pytest.mark.parametrize("command", ["analyze", "collectives", "stragglers", "kernels"])
@pytest.mark.parametrize(("option", "value"), BAD_VALUES)
def test_bad_value(
    option: str, value: str, command: str, run_folder: Path, refused: Refused
) -> None:
    assert option.strip("-").split("-")[-1] in refused(USAGE, command, run_folder, option, value)


def test_bad_config(run_folder: Path, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "bad.toml").write_text("[patterns]\ngemm = 3\n")
    assert "gone.toml" in refused(USAGE, "analyze", run_folder, "--config", "gone.toml")
    assert "bad.toml" in refused(USAGE, "analyze", run_folder, "--config", tmp_path / "bad.toml")


def test_rank_twice(run_folder: Path, refused: Refused) -> None:
    given = ("--rank", "0=rank0.json", "--rank", "0=rank1.json")
    assert "already" in refused(USAGE, "analyze", run_folder, *given)


def test_rank(tmp_path: Path, report: Report) -> None:
    for name in ("left.json", "right.json"):
        (tmp_path / name).write_bytes(trace(None))
    given = ("--rank", "5=left.json", "--rank", f"7={tmp_path / 'right.json'}")
    assert [row["rank"] for row in report(tmp_path, *given)["ranks"]] == [5, 7]


def two_captures(folder: Path) -> Path:
    for number, start in enumerate((1000.0, 9000.0)):
        capture = folder / f"iteration_{number}"
        capture.mkdir(parents=True)
        for rank in range(2):
            (capture / f"rank{rank}_trace.json").write_bytes(trace(rank, start=start))
    return folder


@pytest.mark.parametrize(("given", "files"), [(None, ["1"]), ("0", ["0"]), ("all", ["0", "1"])])
def test_capture(given: str | None, files: list[str], tmp_path: Path, report: Report) -> None:
    option = ("--capture", given) if given else ()
    document = report(two_captures(tmp_path / "run"), *option)
    shown = sorted({row["step"] for row in document["steps"]})
    assert shown[:STEPS] == list(range(STEPS))
    assert sum(row["kernels"] for row in document["ranks"]) == 2 * 2 * STEPS * len(files)


def test_steps(run_folder: Path, report: Report) -> None:
    assert steps_of(report(run_folder, "--steps", "0,2-9")) == [(0, 0), (0, 2), (1, 0), (1, 2)]


def test_skip_first(run_folder: Path, report: Report) -> None:
    assert steps_of(report(run_folder, "--skip-first", "2")) == [(0, 2), (1, 2)]


def test_step_marker(run_folder: Path, report: Report) -> None:
    document = report(run_folder, "--step-marker", "^forward$")
    assert document["summary"]["step_source"] == "marker"
    assert document["summary"]["steps"] == STEPS


@pytest.mark.parametrize("as_file", [False, True], ids=["--pattern", "--config"])
def test_pattern(as_file: bool, run_folder: Path, tmp_path: Path, report: Report) -> None:
    given = ("--pattern", "communication=^Cijk")
    if as_file:
        (tmp_path / "own.toml").write_text('[patterns]\ncommunication = ["^Cijk"]\n')
        given = ("--config", tmp_path / "own.toml")
    first = report(run_folder, *given)["steps"][0]["partition"]
    assert (first["compute_ns"], first["exposed_comm_ns"]) == (0, 60_000)


def test_config_of_the_working_directory(
    run_folder: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run_folder / "commscope.toml").write_text('[patterns]\ncommunication = ["^Cijk"]\n')
    monkeypatch.chdir(run_folder)
    assert report(run_folder)["steps"][0]["partition"]["compute_ns"] == 0


def test_unprofiled_step(run_folder: Path, call) -> None:
    known = call("analyze", run_folder, "--unprofiled-step-ms", "0.025").out
    assert "25.0 us" in known
    assert "25.0 us" not in call("analyze", run_folder).out


def test_parser(run_folder: Path, report: Report) -> None:
    assert report(run_folder, "--parser", "kineto")["inputs"][0]["format"] == "kineto"


def test_quiet_is_the_beginning_of_the_report(run_folder: Path, call) -> None:
    quiet, whole = (call("analyze", run_folder, *given).out for given in ((), ("-q",)))
    assert len(whole.splitlines()) == 2
    assert quiet.startswith(whole.split(":")[0])


def test_verbose_adds_the_checks(run_folder: Path, call) -> None:
    usual, more = (call("analyze", run_folder, *given).out for given in ((), ("-v",)))
    assert "pass" not in usual
    assert more.count("pass") > 3


def test_verbose_is_either_on_or_off(run_folder: Path, call) -> None:
    assert call("analyze", run_folder, "-v", "-v").out == call("analyze", run_folder, "-v").out


def test_kernels(run_folder: Path, call) -> None:
    lines = call("kernels", run_folder).out.splitlines()
    assert any(line.startswith(GEMM) for line in lines)
    assert any(line.startswith(ALL_REDUCE) for line in lines)


def test_kernels_top(run_folder: Path, call, refused: Refused) -> None:
    rows = json.loads(call("kernels", run_folder, "--top", "1", "--format", "json").out)
    assert [row["name"] for row in rows] == [GEMM]
    refused(USAGE, "kernels", run_folder, "--top", "0")
