"""``commscope explain`` of a run: the numbers are those of the report; what is missing is said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import commscope
from commscope import Report, sample_traces
from commscope.report.explained import explain_metric
from commscope.report.metrics import METRICS, metric_named
from commscope.report.model import ReportTable

RUN = sample_traces.path("ddp_shm")


@pytest.fixture(scope="module")
def report() -> Report:
    return commscope.analyze(commscope.load(RUN))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_has_values_in_a_run(metric: Any, report: Report) -> None:
    values = list(metric.values(report))
    assert values
    assert all(value.where for value in values)
    assert any(value.value is not None for value in values)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_rules_of_trust_exist(metric: Any, report: Report) -> None:
    assert set(metric.rests_on) <= {check.rule for check in report.trust.checks}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("exposed_comm_ns", "exposed_comm_ns"),
        ("exposed_comm", "exposed_comm_ns"),
        ("summary.shares.exposed_comm", "shares.exposed_comm"),
        ("BUSBW", "busbw_gbps"),
        ("launch[].host_pause_ns", "host_pause_ns"),
        ("summary.step_ns.p50", "step_ns"),
        ("ranks[].partition.idle_ns", "idle_ns"),
        ("summary.upper_bound.exposed_hidden_ns", "upper_bound_ns"),
        ("exposed", None),
    ],
)
def test_names(name: str, wanted: str | None) -> None:
    found = metric_named(name)
    assert (found and found.name) == wanted


def test_metric_of_a_run(call: Any, report: Report) -> None:
    document = json.loads(call("explain", "exposed_comm", RUN, "--format", "json").out)
    values = {value["where"]: value["value"] for value in document["run"]["values"]}
    assert values == {"rank 0, whole trace": 8_849_832, "rank 1, whole trace": 4_782_708}
    assert [row["exposed_comm_ns"] for row in report.ranks] == list(values.values())
    text = call("explain", "exposed_comm", RUN).out
    assert "  rank 0, whole trace: 8.85 ms (8,849,832 ns)\n" in text
    assert "Q1 pass: 732 of 732 kernel launches found their kernel" in text
    assert "rank0.json.gz: " in text


def test_what_is_left_out_has_numbers(call: Any) -> None:
    text = call("explain", "step_ns", RUN).out
    assert "  2 of 6 steps of ranks in this run are open\n" in text
    assert "Left out in this run" not in call("explain", "busbw", RUN).out


def _left_out(name: str, report: Report) -> tuple[str, ...]:
    metric = metric_named(name)
    assert metric is not None
    return explain_metric(metric, report).leaves_out[len(metric.leaves_out) :]


def test_collectives_without_match_are_counted(report: Report) -> None:
    first, *rest = report.collectives
    rows = [{**first, "matched": first["matched"] - 2}, *rest]
    table = ReportTable(pa.Table.from_pylist(rows, schema=report.collectives.arrow.schema))
    found = replace(report, collectives=table)
    assert _left_out("skew_ns", found) == ("2 of 12 collectives of this run are not matched",)
    assert _left_out("compute_ns", found) == ()


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_open_steps_are_told_where_only_closed_ones_count(metric: Any, report: Report) -> None:
    of_closed = any("open steps" in words for words in metric.leaves_out)
    assert metric.of_closed_steps == of_closed
    assert _left_out(metric.name, report)[:1] == (
        ("2 of 6 steps of ranks in this run are open",) if of_closed else ()
    )


@pytest.mark.parametrize(
    ("skews", "middle", "longest"), [((1, 9, 3), 3, 9), ((1, 4, 9, 3), 3.5, 9), ((), None, None)]
)
def test_skew(
    report: Report, skews: tuple[int, ...], middle: float | None, longest: int | None
) -> None:
    metric = metric_named("skew")
    assert metric is not None
    table = ReportTable(pa.table({"skew_ns": pa.array(skews, pa.int64())}))
    values = [one.value for one in metric.values(replace(report, instances=table))]
    assert values == [middle, longest]


def test_rule_and_finding_of_a_run(call: Any, report: Report) -> None:
    text = call("explain", "C5", RUN).out
    assert "it found something" in text
    assert "busbw: 28.836 GB/s" in text
    assert "job.log:39: vm:2404:2404 [0] NCCL INFO NCCL_P2P_DISABLE set by environment" in text
    document = json.loads(call("explain", "c5", RUN, "--format", "json").out)
    [finding] = document["run"]["findings"]
    assert finding["measured"]["busbw"]["value"] == pytest.approx(28.8356, abs=1e-4)
    assert "it looked and found nothing" in call("explain", "H1", RUN).out


def test_check_of_trust_of_a_run(call: Any, refused: Any) -> None:
    assert "pass: 732 of 732 kernel launches" in call("explain", "Q1", RUN).out
    assert "no metric or rule Q1" in refused(2, "explain", "Q1")


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_metric_alone(call: Any, metric: Any) -> None:
    outcome = call("explain", metric.name)
    assert outcome.code == 0
    assert metric.definition.split()[0] in outcome.out
    assert json.loads(call("explain", metric.name, "--format", "json").out)["unit"] == metric.unit


def test_unknown_name_tells_what_there_is(refused: Any) -> None:
    says = refused(2, "explain", "nothing", RUN)
    assert "metrics are compute_ns, " in says
    assert "findings of this run: H3, C5, C1" in says
