from __future__ import annotations

import ast
import json
import os
from importlib.resources import files
from pathlib import Path

import pytest

from commscope.collect.profiling.options import ProfileOptions, parse_ranks, parse_steps
from commscope.collect.profiling.prepare import Prepared, prepare

KINETO = ProfileOptions("kineto", (10, 12), frozenset({8, 0}), "^step")


def test_steps_and_ranks_are_read_as_they_are_written() -> None:
    assert parse_steps("10-12") == (10, 12)
    assert parse_steps("7") == (7, 7)
    assert parse_ranks("0,8-10") == {0, 8, 9, 10}


@pytest.mark.parametrize("text", ["", "a", "12-10", "1-", "-1", "1.5", "1-2-3", "٣"])
def test_steps_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"first"):
        parse_steps(text)


@pytest.mark.parametrize("text", ["", "0,", "0,x", "3-1", "0-99999999"])
def test_ranks_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"rank"):
        parse_ranks(text)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"kind": "perf"}, "none, kineto, rocprofv3"),
        ({"steps": (5, 4)}, "the first and the last"),
        ({"steps": (-1, 4)}, "the first and the last"),
        ({"steps": 5}, "the first and the last"),
        ({"steps": (1.5, 4)}, "the first and the last"),
        ({"ranks": frozenset({-1, 0})}, "rank -1"),
        ({"marker": "("}, "regular expression"),
        ({"warmup": -1}, "0 or more"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        ProfileOptions(**arguments)  # type: ignore[arg-type]


def test_without_a_profiler_nothing_is_prepared(tmp_path: Path) -> None:
    assert prepare(ProfileOptions(), tmp_path / "traces", tmp_path / "scratch") == Prepared()
    assert not list(tmp_path.iterdir())


def test_the_variables_carry_what_was_asked_for(tmp_path: Path) -> None:
    made = prepare(KINETO, tmp_path / "traces", tmp_path, {"PYTHONPATH": "/mine"})
    inject = tmp_path / "inject"
    assert made.variables["PYTHONPATH"] == os.pathsep.join((str(inject), "/mine"))
    assert made.variables["COMMSCOPE_TRACES_DIR"] == str(tmp_path / "traces")
    assert json.loads(made.variables["COMMSCOPE_PROFILE"]) == {
        "kind": "kineto",
        "first": 10,
        "last": 12,
        "warmup": 2,
        "ranks": [0, 8],
        "marker": "^step",
        "command": [],
    }
    assert (inject / "sitecustomize.py").is_file()
    assert (inject / "_commscope_job" / "recorder.py").is_file()
    assert (made.command_prefix, made.warnings) == ([], [])


def test_an_empty_path_of_imports_gains_no_empty_entry(tmp_path: Path) -> None:
    made = prepare(KINETO, tmp_path, tmp_path, {"PYTHONPATH": "", "KINETO_LOG_LEVEL": "0"})
    assert made.variables["PYTHONPATH"] == str(tmp_path / "inject")
    assert "KINETO_LOG_LEVEL" not in made.variables  # the user's own is left alone


def test_a_profiler_that_is_missing_is_a_warning(tmp_path: Path) -> None:
    made = prepare(ProfileOptions("rocprofv3"), tmp_path, tmp_path, {"PATH": str(tmp_path)})
    assert made.variables == {}
    assert made.warnings == ["rocprofv3 is not installed: the job runs without a profiler"]


def test_what_runs_in_a_job_needs_python_3_9_and_nothing_of_commscope() -> None:
    sources = [it for it in files("commscope.collect.profiling.inject").iterdir()
               if it.name.endswith(".py")]  # fmt: skip
    assert len(sources) > 10
    for source in sources:
        tree = ast.parse(source.read_text(encoding="utf-8"), source.name, feature_version=(3, 9))
        absolute = [node.module or "" for node in ast.walk(tree)
                    if isinstance(node, ast.ImportFrom) and node.level == 0]  # fmt: skip
        assert not [name for name in absolute if name.startswith("commscope")], source.name
