"""``--reference``: the bandwidths to expect are those measured on the machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import commscope
from commscope import sample_traces
from commscope.cli.main import cli
from commscope.errors import UnknownFormat

_RESULTS = """\
# Collective test starting: all_reduce_perf
#  Rank  0 Group  0 Pid 1 on host device  0 [0000:05:00] GPU
#  Rank  1 Group  0 Pid 2 on host device  1 [0000:25:00] GPU
#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong
1000000 250000 float sum -1 10 100.0 100.0 0 10 100.0 100.0 0
100000000 25000000 float sum -1 1000 100.0 100.0 0 1000 100.0 100.0 0
"""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "rccl_tests.txt"
    path.write_text(_RESULTS, encoding="utf-8")
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def trace() -> str:
    return str(sample_traces.path("ddp_straggler"))


def test_the_rows_say_what_is_expected_and_where_it_is_from(results: Path) -> None:
    done = run("collectives", trace(), "--reference", str(results), "--format", "json")
    rows = json.loads(done.stdout)["bandwidth"]
    large = [row for row in rows if row["min_bytes"] > 10**6]
    assert large
    for row in large:
        assert row["expected_busbw_gbps"] == pytest.approx(100.0)
        assert row["expected_from"] == "rccl_tests.txt"
        assert row["share_of_expected"] == pytest.approx(row["busbw_gbps"] / 100)
    small = next(row for row in rows if row["max_bytes"] < 10**6)
    assert small["expected_from"] == "rccl_tests.txt of 1.000 MB, the smallest size measured"


def test_the_text_says_it_too(results: Path) -> None:
    assert (
        "expected: rccl_tests.txt"
        in run("collectives", trace(), "--reference", str(results)).stdout
    )
    assert "rccl_tests.txt" in run("analyze", trace(), "--reference", str(results)).stdout


def test_without_one_it_is_the_model_of_the_links() -> None:
    rows = json.loads(run("collectives", trace(), "--format", "json").stdout)["bandwidth"]
    assert {row["expected_from"] for row in rows} == {"model of the links of H100/H200"}


def test_a_file_without_results_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.txt"
    path.write_text("no results\n", encoding="utf-8")
    with pytest.raises(UnknownFormat, match=r"other.txt: holds no result of rccl-tests"):
        commscope.load(sample_traces.path("ddp_straggler"), reference=path)
