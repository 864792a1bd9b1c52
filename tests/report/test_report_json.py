"""The JSON contract: stable bytes, no NaN, and null for what is withheld."""

from __future__ import annotations

import json
import math

import pytest
from events import kernel, launch, report_of
from support import ROOT

import commscope
from commscope import sample_traces


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


def test_known_answers(straggler):
    exposed = {
        (s["rank"], s["step"]): s["partition"]["exposed_comm_ns"]
        for s in straggler.to_dict()["steps"]
    }
    assert {k: round(v / 1e6, 1) for k, v in exposed.items() if k[0] == 0} == {
        (0, 1): 27.2, (0, 2): 24.2, (0, 3): 26.7,
    }  # fmt: skip
    assert [round(v / 1e6, 2) for k, v in sorted(exposed.items()) if k[0] == 1] == [
        0.55,
        0.56,
        0.54,
    ]


def test_the_unprofiled_step_is_found_next_to_the_traces(straggler):
    assert "1.35 times as long" in straggler.trust_line
    assert "27.4 ms" in straggler.trust_line


def test_missing_kernels_withhold_what_rests_on_them(tmp_path):
    events = [launch(10 * i, i) for i in range(1, 101)]
    events += [kernel("gemm", 10 * i + 5, 4, i) for i in range(1, 101) if i % 10]
    events += [kernel("ncclDevKernel_Generic", 1010, 50, 100)]
    document = report_of(tmp_path, events).to_dict()
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


def test_no_communication_has_no_overlap_ratio(tmp_path):
    events = [launch(0.5, 1), kernel("gemm", 1, 2, 1)]
    document = report_of(tmp_path, events).to_dict()
    assert document["ranks"][0]["partition"]["overlap_ratio"] is None
    assert "No communication ran" in document["summary"]["verdict"]
    assert document["collectives"] == []


def test_files_are_never_absolute(straggler):
    assert str(ROOT) not in straggler.to_json()
    assert [one["file"] for one in straggler.inputs] == ["rank0.json.gz", "rank1.json.gz"]
