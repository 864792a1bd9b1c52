"""The command that generates jobs: what it runs, says and packs."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

import commscope
from commscope.generator import engines
from commscope.generator.bundling import bundle_runs
from commscope.generator.catalog import GROUPS, SCENARIOS
from commscope.generator.grading import exit_code, grade
from commscope.generator.run_folder import read_plan, read_run, read_schedule, runs_in

_SMALL = ("--steps", "2", "--layers", "2")


def test_the_list_names_all_scenarios_and_groups(call: Any) -> None:
    lines = call("generate", "--list").out.splitlines()
    assert [line.split()[0] for line in lines] == [*SCENARIOS, *GROUPS]


def test_help_groups_the_options(call: Any) -> None:
    text = call("generate", "--help").out
    for heading in ("What is run:", "How it is run:", "Model:", "Communication:", "Host:"):
        assert heading in text.splitlines()
    assert "--last-bucket-bytes BYTES" in text
    assert "[default: 32M]" in text


def test_a_run_is_a_folder_that_tells_all_of_it(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    asked = ("--scenario", "ddp-tail", *_SMALL, "--straggler", "1:500:1:device", "-o", str(out))
    done = call("generate", *asked)
    assert done.out == f"wrote {out}: ddp-tail, to be found: O10\n"
    run, plan = read_run(out), read_plan(out)
    assert (run.scenario, run.engine, run.backend, run.world) == ("ddp-tail", "simulate", "amd", 2)
    assert run.files[1] == ["rank1/rccl.log", "rank1/trace.json.gz"]
    assert plan.knobs["stragglers"] == [
        {"rank": 1, "delay_ns": 500_000, "step": 1, "where": "device"}
    ]
    assert len(read_schedule(out).programs) == 2
    assert [cause["rule"] for cause in plan.causes] == ["O10"]


def test_a_suite_leaves_out_what_one_rank_cannot_show_and_says_so(
    call: Any, tmp_path: Path
) -> None:
    out = tmp_path / "runs"
    done = call("generate", "--scenario", "all", "--ranks", "1", "--dry-run", *_SMALL)
    lines = done.out.splitlines()
    assert "left out moe-a2a: needs 2 ranks, and is given 1" in lines
    assert not any(line.startswith("moe-a2a:") for line in lines)
    assert any(line.startswith("ddp-tail: 1 rank, 2 steps after 1 of warm-up") for line in lines)
    assert not out.exists()


def test_a_bundle_is_graded_as_its_folder_is(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    asked = ("--scenario", "straggler", *_SMALL, "--formats", "json", "--bundle", "-o", str(out))
    done = call("generate", *asked)
    archive = tmp_path / "runs.tar.gz"
    assert f"wrote {archive} (" in done.out.splitlines()[-1]
    assert "3 runs, redacted" in done.out
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "there", filter="data")
    folders = runs_in(tmp_path / "there" / "commscope-run")
    assert [folder.name for folder in folders] == sorted(GROUPS["straggler"])
    assert [exit_code(grade(folder)) for folder in folders] == [0, 0, 0]
    report = commscope.analyze(commscope.load(folders[0]))
    assert (report.findings[0].rule, report.findings[0].rank) == ("C1", 1)


def test_a_bundle_tells_no_paths(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    call("generate", "--scenario", "ddp-tail", *_SMALL, "-o", str(out))
    document = json.loads((out / "run.json").read_text())
    document["commands"] = [["/home/someone/bin/commscope-gen", "--out", "/data/secret/run"]]
    (out / "run.json").write_text(json.dumps(document))
    (out / "rank0" / "output.log").write_text("someone@cluster17 failed in /home/someone/x\n")
    (packed,) = bundle_runs([out], tmp_path / "a.tar.gz")
    assert (packed.name, packed.lacks) == ("runs", "")
    with tarfile.open(tmp_path / "a.tar.gz") as archive:
        archive.extractall(tmp_path / "there", filter="data")
    texts = [path.read_bytes() for path in (tmp_path / "there").rglob("*.*[nt]")]
    assert any(b" failed in " in text for text in texts)
    for secret in (b"someone", b"secret", b"cluster17"):
        assert not any(secret in text for text in texts)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ((), "--scenario: name what to run (--list names them), or give --suite"),
        (("--scenario", "nonsense"), "no scenario is called nonsense; there are ddp-overlap, "),
        (("--scenario", "ddp-tail"), "--out: name a new folder"),
        (
            ("--scenario", "pipeline", "--ranks", "1"),
            "--scenario pipeline: needs 2 ranks, and is given 1",
        ),
        (("--scenario", "ddp-tail", "--steps", "0"), "--steps 0: at least 1"),
        (("--scenario", "ddp-tail", "--straggler", "1"), "--straggler 1: write RANK:US"),
        (("--scenario", "ddp-tail", "--straggler", "7:1"), "--straggler: there is no rank 7"),
        (("--scenario", "ddp-tail", "--layer-bytes", "x"), "--layer-bytes x: bytes, such as"),
        (("--scenario", "ddp-tail", "--devices", "a"), "--devices a: numbers, such as 0,1,4-7"),
        (("--scenario", "ddp-tail", "--env", "A"), "--env A: write NAME=VALUE"),
        (("--compile-only",), "--compile-only: --engine simulate compiles nothing"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(call: Any, asked: tuple[str, ...], says: str) -> None:
    done = call("generate", *asked)
    assert done.code == 2
    assert done.err.startswith(f"commscope: {says}")
    assert done.err.count("\n") == 1


def test_a_folder_in_use_is_left_alone(call: Any, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    done = call("generate", "--scenario", "ddp-tail", "-o", str(tmp_path))
    assert done.code == 2
    assert "is not empty; name a new folder" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_commands_are_printed_for_each_rank(call: Any) -> None:
    asked = ("--scenario", "ddp-tail", "--engine", "host", "--print-command", "--env", "A=b c")
    lines = call("generate", *asked).out.splitlines()
    assert " -o " in lines[0]
    assert [line.split()[1] for line in lines[1:]] == ["RANK=0", "RANK=1"]
    assert all("'A=b c'" in line for line in lines[1:])
    assert call("generate", *asked[:2], "--print-command").out.startswith("# ddp-tail: sim")


def test_all_engines_can_be_asked_for(call: Any) -> None:
    text = call("generate", "--help").out
    assert f"[{'|'.join(engines.ENGINES)}]" in text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--formats", "xml"], "xml"),
        (["--profile-ranks", "7"], "--profile-ranks 7: the last rank is 1"),
        (["--straggler", "1:300:99"], "there is no step 99; steps are 0 to 4"),
        (["--bucket-bytes", "1"], "operations, more than 2,000,000"),
        (["--ranks", "100000"], "operations, more than 2,000,000"),
    ],
)
def test_what_cannot_run_leaves_no_folder(
    call: Any, options: list[str], says: str, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    result = call("generate", "--scenario", "ddp-tail", "-o", str(out), *options)
    assert result.code == 2
    assert says in result.err
    assert not out.exists()


def test_a_scenario_that_shows_nothing_there_is_refused(call: Any, tmp_path: Path) -> None:
    asked = ("generate", "--scenario", "contention", "--engine", "host", "-o", str(tmp_path / "r"))
    result = call(*asked)
    assert (result.code, result.err) == (
        2, "commscope: --scenario contention: shows nothing on host\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--devices", "0,1"], "--devices: --engine simulate uses none"),
        (["--engine", "host", "--devices", "0,1"], "--devices: --engine host uses none"),
        (["--engine", "host", "--formats", "csv"], "--engine host writes traces of Kineto alone"),
        (["--profiler", "none"], "--engine simulate writes traces and truth of what it knows"),
        (["--truth", "none"], "--engine simulate writes traces and truth of what it knows"),
    ],
)
def test_what_an_engine_would_not_heed_is_refused(
    call: Any, options: list[str], says: str, tmp_path: Path
) -> None:
    done = call("generate", "--scenario", "ddp-tail", "-o", str(tmp_path / "run"), *options)
    assert done.code == 2
    assert says in done.err
