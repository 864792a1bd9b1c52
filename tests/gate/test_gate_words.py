"""A check in every output."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import jsonschema
import pytest
from gate_runs import STEADY, run, runs

from commscope.gate.judge import check_run
from commscope.gate.model import Check
from commscope.gate.syntax import parse
from commscope.gate.words import (
    MARKER,
    check_annotations,
    check_junit,
    check_markdown,
    check_text,
)
from commscope.report.github import MOST_OF_A_KIND

HOSTILE = "<img src=x onerror=alert(1)>|`\x1b[31m\u202e@me"


@pytest.fixture
def slow() -> Check:
    texts = ("shares.exposed_comm > 50%", "shares.idle > 1%", "step_ns.p50 > baseline + 5%")
    return check_run(
        run(step_ns=12e6, unprofiled_ns=11e6), [parse(text) for text in texts], runs(*STEADY)
    )


def test_verdicts(slow: Check) -> None:
    assert slow.verdict == "fail: step_ns.p50 > baseline + 5%: 12.0 ms, the limit is 10.5 ms"
    unknown = check_run(run(), [parse("shares.idle > 1%")])
    assert unknown.verdict == "cannot judge: shares.idle > 1%: it is not known"
    assert check_run(run(), [parse("step_ns.p50 > 1s")]).verdict == "pass: 1 limit kept"


def test_text(slow: Check) -> None:
    text = check_text(slow)
    assert text.startswith(slow.verdict)
    assert "FAIL          step_ns.p50 > baseline + 5%  12.0 ms  10.5 ms  +19.9% of the" in text
    assert "cannot judge  shares.idle > 1%" in text
    assert "\ncannot judge: it is not known\n" in text
    assert "profiling makes the step 1.09 times as long" in text
    assert max(map(len, check_text(slow, 60).splitlines())) <= 60


def test_json(slow: Check) -> None:
    document = json.loads(slow.to_json())
    assert document["schema"] == "commscope.check/1"
    assert [one["result"] for one in document["gate"]] == ["pass", "cannot_judge", "fail"]
    assert document["gate"][2]["baseline"]["runs"] == 6
    assert document["gate"][0]["baseline"] is None
    assert slow.to_json() == slow.to_json()
    number = {"type": ["number", "null"]}
    entry = {"type": "object", "required": ["expression", "actual", "limit", "result", "says"]}
    entry |= {"properties": {"actual": number, "limit": number}}
    jsonschema.validate(document["gate"], {"type": "array", "items": entry})


def test_junit(slow: Check) -> None:
    root = ElementTree.fromstring(check_junit(slow))
    (suite,) = root
    assert suite.attrib == {"name": "commscope.gate", "tests": "3", "failures": "2"} | {
        "skipped": "0",
        "errors": "0",
    }
    messages = [one.attrib["message"] for one in suite.iter("failure")]
    assert messages[0] == "cannot judge: it is not known"
    assert messages[1].startswith("12.0 ms, the limit is 10.5 ms: +19.9%")


def test_markdown(slow: Check) -> None:
    text = check_markdown(slow)
    assert text.startswith(f"{MARKER}\n**fail: ")
    assert text.count("| `FAIL` |") == 1


def test_annotations(slow: Check) -> None:
    lines = check_annotations(slow).splitlines()
    assert [line.partition("::")[2].partition("::")[0] for line in lines] == [
        "error title=commscope",
        "error title=shares.idle > 1%25",
        "error title=step_ns.p50 > baseline + 5%25",
    ]
    many = check_run(run(), [parse(f"step_ns.p50 > {n}") for n in range(30)])
    assert len(check_annotations(many).splitlines()) == MOST_OF_A_KIND


def test_names_from_outside_are_inert() -> None:
    kernels = [{"name": HOSTILE, "family": "f", "total_ns": 5, "count": 1}]
    expression = parse("kernels[].total_ns > 1")
    found = check_run(run(HOSTILE, kernels=kernels), [expression], [run(HOSTILE + "2")])
    for text in (check_text(found), check_markdown(found), check_junit(found)):
        assert not any(character in text for character in "\x1b\u202e")
    assert "\x1b" not in check_annotations(found)
    assert "<img" not in check_junit(found)
    cells = [line for line in check_markdown(found).splitlines() if line.startswith("| ")]
    assert all(line.replace("\\|", "").count("|") == 6 for line in cells)
