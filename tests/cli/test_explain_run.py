"""``commscope explain`` of a run: the numbers are those of the report; what is missing is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

import commscope
from commscope import Report, sample_traces
from commscope.report.metrics import METRICS, metric_named

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
    assert "  2 open steps of 6 in this run\n" in text
    assert (
        "  0 of 12 collectives of this run are not matched\n" in call("explain", "busbw", RUN).out
    )


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
