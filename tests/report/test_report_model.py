"""The report and its tables as Python objects."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import pyarrow as pa
import pytest

import commscope
from commscope import sample_traces
from commscope.report.model import ReportTable


@pytest.fixture(scope="module")
def trace() -> commscope.Trace:
    return commscope.load(sample_traces.path("ddp_straggler"))


@pytest.fixture(scope="module")
def report(trace: commscope.Trace) -> commscope.Report:
    return commscope.analyze(trace)


def test_a_name_in_a_shell_prints_one_line(
    trace: commscope.Trace, report: commscope.Report
) -> None:
    assert repr(trace).startswith("<Trace: 2 ranks, 3 steps, ")
    assert repr(report).startswith("<Report: 2 ranks, 3 steps, trust ok: Exposed")
    assert repr(report.ranks).startswith("<ReportTable: 2 rows: rank, ")
    assert repr(ReportTable(report.ranks.arrow, "Q4")).startswith("<ReportTable: withheld by Q4: ")
    assert all(len(repr(shown)) < 500 for shown in (trace, report, report.steps))


def test_what_a_report_holds_can_be_named_but_not_changed(report: commscope.Report) -> None:
    assert [file.rank for file in report.inputs] == [0, 1]
    assert [clock.rank for clock in report.clock.ranks] == [0, 1]
    assert report.environment.platform == "cuda"
    with pytest.raises(FrozenInstanceError):
        report.clock.method = "guessed"  # type: ignore[misc]


def test_a_report_can_be_sent_to_another_process(report: commscope.Report) -> None:
    assert pickle.loads(pickle.dumps(report)).to_json() == report.to_json()


def test_rows_come_in_order_and_no_more_than_asked_for() -> None:
    table = ReportTable(pa.table({"n": pa.array(range(5000), pa.int64())}))
    assert [row["n"] for row in table] == list(range(5000))
    assert table.head(2) == [{"n": 0}, {"n": 1}]
    assert len(table.head(9999)) == 5000
    assert table.head(0) == []


def test_first_rows_need_no_list_of_all() -> None:
    table = ReportTable(pa.table({"n": pa.array(range(10**6), pa.int64())}))
    rows = iter(table)
    assert not isinstance(rows, type(iter([])))
    assert next(rows) == {"n": 0}
