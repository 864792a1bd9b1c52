"""The JSON contract: stable bytes, no NaN, and null for what is withheld."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from builders import TraceBuilder
from small_run import report_of
from support import ROOT

import commscope
from commscope import sample_traces
from commscope.report.model import ReportTable
from commscope.report.text import drawn_text, print_kernels


@pytest.fixture(scope="module")
def straggler() -> commscope.Report:
    return commscope.analyze(commscope.load(sample_traces.path("ddp_straggler")))


def every_number(value):
    if isinstance(value, dict):
        for item in value.values():
            yield from every_number(item)
    elif isinstance(value, list):
        for item in value:
            yield from every_number(item)
    elif isinstance(value, (int, float)):
        yield value


def test_equal_input_gives_equal_bytes(straggler):
    again = commscope.analyze(commscope.load(sample_traces.path("ddp_straggler")))
    assert straggler.to_json() == again.to_json()


def test_keys_are_sorted_and_numbers_are_finite(straggler):
    document = json.loads(straggler.to_json())
    assert list(document) == sorted(document)
    assert all(math.isfinite(number) for number in every_number(document))


def test_times_of_the_document_fit_a_double(straggler):
    """Readers in JavaScript and jq hold numbers in 53 bits: only the origin may need more."""
    document = straggler.to_dict()
    origin = document["clock"].pop("origin_ns")
    assert max(every_number(document)) < 2**53 < origin


def test_golden(straggler, golden):
    document = straggler.to_dict()
    document["tool"]["version"] = "*"
    golden("ddp_straggler.json", json.dumps(document, indent=1, sort_keys=True) + "\n")


@pytest.mark.parametrize("name", sample_traces.names())
def test_findings_are_in_order_of_severity_then_of_what_can_be_won(name):
    findings = commscope.analyze(commscope.load(sample_traces.path(name))).to_dict()["findings"]
    severities = [("high", "medium", "low").index(one["severity"]) for one in findings]
    assert severities == sorted(severities)
    bounds = [
        (severity, -one["bound_ns"])
        for severity, one in zip(severities, findings)
        if one["bound_ns"] is not None
    ]
    assert bounds == sorted(bounds)


def test_a_check_that_only_informs_stands_behind_what_costs_time(straggler):
    rules = [one.rule for one in straggler.findings]
    assert straggler.findings[0].severity == "high"
    assert rules[-1].startswith("Q")


def test_the_unprofiled_step_is_found_next_to_the_traces(straggler):
    assert "1.35 times as long" in straggler.trust_line
    assert "27.4 ms" in straggler.trust_line


def test_missing_kernels_withhold_what_rests_on_them(tmp_path):
    builder = TraceBuilder()
    for i in range(1, 101):
        builder.launch(10 * i, 1)
        builder.kernel("gemm" if i < 100 else "ncclDevKernel_Generic", 10 * i + 5, 4)
        if i % 10 == 0 and i < 100:
            builder.events.pop()
    document = report_of(tmp_path, builder).to_dict()
    partition = document["ranks"][0]["partition"]
    assert partition["exposed_comm_ns"] is None
    assert partition["idle_ns"] is None
    assert partition["compute_ns"] == 90 * 4000
    coverage = document["trust"]["checks"][0]
    assert coverage["rule"] == "Q1"
    assert coverage["result"] == "fail"
    assert "overlap of rank 0 over the whole trace" in coverage["withheld"]
    assert document["trust"]["verdict"] == "unusable"
    assert document["summary"]["upper_bound"] is None


def test_rankings_that_are_withheld_are_null_and_said(tmp_path):
    builder = TraceBuilder().launch(1, 1).kernel("gemm", 10, 100)
    report = report_of(tmp_path, builder.launch(3, 1).kernel("gemm", 20, 5))
    document = report.to_dict()
    assert (document["kernels"], document["kernel_families"]) == (None, None)
    assert (report.kernels.withheld, report.families.withheld) == ("Q4", "Q4")
    assert len(report.kernels) == len(report.families) == 0
    assert "Kernel families: withheld (Q4)" in report.to_text()
    says = drawn_text(lambda console: print_kernels(report, console, 5), 120)
    assert "Kernels: withheld (Q4)" in says
    assert "ended after the begin of the next" in says


def test_no_kernels_is_an_empty_list_not_null(straggler):
    empty = replace(straggler, kernels=ReportTable(straggler.kernels.arrow.slice(0, 0)))
    assert empty.to_dict()["kernels"] == []


def test_no_communication_has_no_overlap_ratio(tmp_path):
    document = report_of(tmp_path, TraceBuilder().launch(0.5, 1).kernel("gemm", 1, 2)).to_dict()
    assert document["ranks"][0]["partition"]["overlap_ratio"] is None
    assert "No communication ran" in document["summary"]["verdict"]
    assert document["collectives"] == []


def test_files_are_never_absolute(straggler):
    assert str(ROOT) not in straggler.to_json()
    assert [one.file for one in straggler.inputs] == ["rank0.json.gz", "rank1.json.gz"]
