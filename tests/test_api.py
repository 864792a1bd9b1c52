"""The library: what a notebook or a script uses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from small_run import STEPS, trace, write_run

import commscope


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def test_every_public_name_is_there() -> None:
    assert set(commscope.__all__) <= set(dir(commscope))
    assert all(getattr(commscope, name) is not None for name in commscope.__all__)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nope"):
        _ = commscope.nope  # type: ignore[attr-defined]


def test_import_is_light_and_the_rest_comes_when_it_is_used() -> None:
    code = (
        "import sys, commscope\n"
        "assert not {'numpy', 'pyarrow', 'pandas', 'rich', 'click'} & set(sys.modules)\n"
        "assert commscope.sample_traces.names()\n"
        "assert not {'numpy', 'pyarrow'} & set(sys.modules)\n"
        "assert commscope.load and commscope.Report\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_load_and_analyze(run_folder: Path) -> None:
    trace_ = commscope.load(run_folder)
    assert isinstance(trace_, commscope.Trace)
    report = commscope.analyze(trace_)
    assert isinstance(report, commscope.Report)
    assert str(report) == report.summary.verdict
    assert len(report.steps) == 2 * STEPS


@pytest.mark.parametrize("kind", [str, Path, lambda p: [p], lambda p: (str(p), p / "rank0.json")])
def test_paths_of_any_kind(kind, run_folder: Path) -> None:
    assert commscope.load(kind(run_folder)).ranks.num_rows == 2


def test_options_are_those_of_the_command_line(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(trace(None))
    loaded = commscope.load(
        tmp_path,
        ranks={3: "a.json", 4: "b.json"},
        patterns=["communication=^Cijk"],
        steps="1-2",
        skip_first=1,
        capture="all",
        unprofiled_step_ms=0.05,
        parser="kineto",
    )
    assert loaded.ranks.column("rank").to_pylist() == [3, 4]
    assert loaded.steps.column("step").to_pylist() == [1, 2, 1, 2]
    assert loaded.unprofiled_step_ns == 50_000
    assert commscope.analyze(loaded).steps.to_pandas()["compute_ns"].tolist() == [0] * 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"capture": "x"},
        {"capture": "\u0663"},
        {"capture": -1},
        {"capture": "1"},
        {"capture": 1.0},
        {"capture": True},
        {"skip_first": -1},
        {"skip_first": "1"},
        {"steps": 3},
        {"ranks": {"0": "rank0.json"}},
        {"ranks": {1.5: "rank0.json"}},
        {"unprofiled_step_ms": "3"},
        {"capture": 9},
        {"ranks": {-1: "rank0.json"}},
        {"ranks": {2**31: "rank0.json"}},
        {"ranks": {0: "gone.json"}},
        {"unprofiled_step_ms": 0.0},
        {"unprofiled_step_ms": float("nan")},
        {"unprofiled_step_ms": float("inf")},
        {"step_marker": "("},
        {"steps": "1-"},
        {"patterns": ["gemm=("]},
        {"parser": "nope"},
    ],
)
def test_wrong_options_are_usage_errors(wrong: dict[str, object], run_folder: Path) -> None:
    with pytest.raises(commscope.UsageError):
        commscope.load(run_folder, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong", [{"capture": -1}, {"ranks": {-1: "a"}}, {"skip_first": -1}, {"unprofiled_step_ms": -1}]
)
def test_errors_of_the_library_name_no_option(wrong: dict[str, object], run_folder: Path) -> None:
    with pytest.raises(commscope.UsageError, match=r"^[^-]*-1") as error:
        commscope.load(run_folder, **wrong)  # type: ignore[arg-type]
    assert "--" not in str(error.value)


def test_ranks_may_be_paths_and_patterns_have_a_name(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(trace(None))
    patterns = commscope.Patterns.parse(["communication=^Cijk"])
    files = {3: tmp_path / "a.json", 4: tmp_path / "b.json"}
    loaded = commscope.load(tmp_path, ranks=files, default_patterns=patterns)
    assert loaded.ranks.column("rank").to_pylist() == [3, 4]
    assert commscope.analyze(loaded).steps.to_pandas()["compute_ns"].eq(0).all()


@pytest.mark.parametrize("paths", [[], "", "gone.json", "\0"])
def test_wrong_paths_are_usage_errors(paths: str | list[str]) -> None:
    with pytest.raises(commscope.UsageError):
        commscope.load(paths)


def test_error_tree_has_one_code_a_branch() -> None:
    branches = (commscope.UsageError, commscope.FormatError, commscope.SchemaError)
    assert [e.exit_code for e in (commscope.CommscopeError, *branches)] == [1, 2, 3, 4]
    assert commscope.DataError.exit_code == commscope.RankConflict.exit_code == 5


def test_whole_numbers_stay_whole_in_pandas(run_folder: Path) -> None:
    frame = commscope.analyze(commscope.load(run_folder)).steps.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["start_ns"].dtype == "int64"


def test_html_escapes_hostile_names(tmp_path: Path) -> None:
    (tmp_path / "rank0.json").write_bytes(trace(0, name='<script>"\x1b[31m&'))
    kernels = commscope.analyze(commscope.load(tmp_path)).kernels
    page = kernels._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;&quot;\ufffd[31m&amp;" in page
    assert "\x1b" not in page
