"""Expressions: what they mean, and what is said of those that mean nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from gate_runs import document, run
from hypothesis import given
from hypothesis import strategies as st

from commscope.errors import UsageError
from commscope.gate.judge import check_run
from commscope.gate.model import Judged
from commscope.gate.syntax import FromBaseline, parse

RANKS = [
    {"rank": 0, "host": None, "partition": {"idle_ns": 1_000, "window_ns": 10_000}},
    {"rank": 3, "host": "a", "partition": {"idle_ns": 5_000, "window_ns": 10_000}},
]
STEPS = [
    {"rank": 0, "step": 4, "open": False, "partition": {"window_ns": 100}},
    {"rank": 0, "step": 5, "open": False, "partition": {"window_ns": 300}},
    {"rank": 0, "step": 6, "open": True, "partition": {"window_ns": 9_000}},
]
COLLECTIVES = [
    {"op": "all_reduce", "bytes": 1 << 20, "communicator": "0", "busbw_gbps": 250.0, "count": 7},
    {"op": "all_reduce", "bytes": 1 << 10, "communicator": "0", "busbw_gbps": None, "count": 9},
    {"op": "barrier", "bytes": None, "communicator": "0", "busbw_gbps": None, "count": 1},
]
FINDINGS = [
    {"rule": "C1", "severity": "high", "bound_ns": 2_000_000, "measured": {}},
    {"rule": "O1", "severity": "low", "bound_ns": None, "measured": {}},
]
RULES = [
    {"rule": "C1", "result": "found", "says": ""},
    {"rule": "O6", "result": "nothing", "says": ""},
    {"rule": "C4", "result": "could_not_look", "says": "no size is known"},
]


def judged(text: str, **sections: Any) -> Judged:
    known = {
        "ranks": RANKS,
        "steps": STEPS,
        "collectives": COLLECTIVES,
        "findings": FINDINGS,
        "rules": RULES,
        "kernels": None,
        "gap_sums": [],
        "communicators": [],
    }
    subject = run(**{**known, **sections})
    (found,) = check_run(subject, [parse(text)]).gate
    return found


@pytest.mark.parametrize(
    ("text", "result", "actual"),
    [
        ("summary.step_ns.p50 > 9ms", "fail", 10e6),
        ("step_ns.p50 > 9.5 ms", "fail", 10e6),
        ("step_ns.p50>.011s", "pass", 10e6),
        ("step_ns.p50 >= 1e7", "fail", 10e6),
        ("step_ns.p50 < 10000us", "pass", 10e6),
        ("step_ns.p50 <= 10000us", "fail", 10e6),
        ("step_ns.p50 == 10ms", "fail", 10e6),
        ("step_ns.p50 != 10ms", "pass", 10e6),
        ("shares.exposed_comm > 9%", "fail", 0.1),
        ("shares.exposed_comm > 0.15", "pass", 0.1),
        ("shares.idle > 0.15", "cannot_judge", None),
        ("overlap_ratio < 50%", "cannot_judge", None),
        ("trust.verdict != ok", "pass", "ok"),
        ('trust.verdict == "ok"', "fail", "ok"),
        ("ranks[].partition.idle_ns > 2us", "fail", 5_000),
        ("ranks[].partition.idle_ns < 2us", "fail", 1_000),
        ("ranks[3].partition.idle_ns > 4us", "fail", 5_000),
        ("ranks[rank=0].partition.idle_ns > 4us", "pass", 1_000),
        ("ranks[7].partition.idle_ns > 4us", "cannot_judge", None),
        ("ranks.count != 2", "pass", 2),
        ("ranks[host=a].count > 0", "fail", 1),
        ("steps[].partition.window_ns > 300", "pass", 300),
        ("steps[4].partition.window_ns > 99", "fail", 100),
        ("collectives[op=all_reduce].busbw_gbps < 300GB/s", "fail", 250.0),
        ("collectives[op=all_reduce].busbw_gbps < 200", "cannot_judge", None),
        ("collectives[op=all_reduce,bytes=1048576].busbw_gbps < 200", "pass", 250.0),
        ("collectives[op=broadcast].busbw_gbps < 200", "cannot_judge", None),
        ("collectives[op=all_reduce].count > 8", "fail", 9),
        ("collectives.count > 3", "pass", 3),
        ("findings.count > 1", "fail", 2),
        ("findings[severity=high].count > 0", "fail", 1),
        ("findings[rule=C1].bound_ns > 1ms", "fail", 2_000_000),
        ("findings[rule=O1].bound_ns > 1ms", "cannot_judge", None),
        ("findings[rule=O6].bound_ns > 1ms", "pass", None),
        ("findings[rule=O6].count > 0", "pass", 0),
        ("findings[rule=C4].bound_ns > 1ms", "cannot_judge", None),
        ("findings[rule=C4].count > 0", "cannot_judge", None),
        ("findings[rule=Z9].bound_ns > 1ms", "cannot_judge", None),
        ("gap_sums[cause=host_late].total_ns > 1ms", "pass", None),
        ("kernels.count > 1", "cannot_judge", None),
        ("kernels[].total_ns > 1", "cannot_judge", None),
        ("per_step.window_ns > 1ms", "fail", 2.5e6),
        ("unprofiled.step_ns > 1ms", "cannot_judge", None),
        ("step_ns.p50 > baseline", "cannot_judge", None),
    ],
)
def test_results(text: str, result: str, actual: object) -> None:
    found = judged(text)
    assert (found.result, found.actual) == (result, actual), found.says


def test_a_breach_beside_an_unknown_value_is_a_breach() -> None:
    assert judged("collectives[].busbw_gbps < 300").result == "fail"
    assert judged("collectives[].busbw_gbps < 100").says == "2 of 3 values are not known"


def test_the_rule_that_withholds_a_number_is_named() -> None:
    check = {"rule": "Q1", "result": "fail", "withheld": ["idle on rank 0"]}
    found = judged("shares.idle > 0.1", trust={"verdict": "limited", "checks": [check]})
    assert "rule Q1 withholds" in found.says


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("", 1, "a name"),
        ("summary.shars.idle > 1", 9, "did you mean shares?"),
        ("sumary.step_ns.p50 > 1", 1, "did you mean summary?"),
        ("step_ns > 1", 1, "is a group: name one of max, p50, p95"),
        ("gaps > 1", 1, "gaps.count"),
        ("ranks.partition.idle_ns > 1", 7, "ranks[]"),
        ("summary[].ranks > 1", 1, "no list"),
        ("summary[0].ranks > 1", 1, "no number"),
        ("kernels[3].count > 1", 1, "no number"),
        ("ranks[rnk=1].kernels > 1", 1, "did you mean rank?"),
        ("ranks[1;2].kernels > 1", 1, "KEY=VALUE"),
        ("step_ns.p50.x > 1", 13, "nothing below it"),
        ("step_ns.p50 = 1", 13, "one of >"),
        ("step_ns.p50 >", 14, "a number"),
        ("step_ns.p50 > x", 15, "a number"),
        ("step_ns.p50 > 1 GB", 15, "no unit of summary.step_ns.p50: one of ns, us, ms, s"),
        ("ranks.count > 1ms", 15, "it counts"),
        ("step_ns.p50 > 1ms 2", 19, "nothing may follow"),
        ("shares.idle > 15", 15, "write 15%"),
        ("trust.verdict > ok", 15, "== or !="),
        ("trust.verdict == fine", 18, "one of ok, limited, unusable"),
        ("trust.verdict == ", 18, "the text"),
        ("trust.verdict == baseline + 1", 26, "of a number"),
        ("shars.idle > 1", 1, "did you mean shares?"),
        ("step_ns.p50 == baseline", 24, "for > >= < <="),
        ("step_ns.p50 > baseline - 5%", 24, "away from what is good"),
        ("ranks[].kernels > baseline", 27, "several values"),
        ("instances[].skew_ns > 1", 1, "the report has no instances"),
        ("__import__('os') > 1", 1, "the report has no __import__"),
    ],
)
def test_errors_say_where_and_why(text: str, at: int, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert f", character {at}: " in str(caught.value)
    assert says in str(caught.value)


def test_margins() -> None:
    assert parse("step_ns.p50 > baseline").limit == FromBaseline()
    assert parse("step_ns.p50 > baseline + 5%").limit == FromBaseline(ratio=0.05)
    assert parse("step_ns.p50 > baseline+2 ms").limit == FromBaseline(amount=2e6)
    assert parse("summary.overlap_ratio < baseline - 0.1").limit == FromBaseline(amount=0.1)


def test_too_long() -> None:
    with pytest.raises(UsageError, match="longer than 500"):
        parse("step_ns.p50 > " + "1" * 600)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(UsageError):
        assert parse(text).text == text.strip()


@given(st.floats(0, 1), st.sampled_from([">", ">=", "<", "<="]))
def test_limits_and_operators_mean_what_they_say(limit: float, operator: str) -> None:
    found = parse(f"shares.exposed_comm {operator} {limit:.6f}")
    assert found.limit == float(f"{limit:.6f}")
    (one,) = check_run(run(), [found]).gate
    side = (found.limit < 0.1) - (found.limit > 0.1)  # type: ignore[operator]
    holds = {">": side > 0, ">=": side >= 0, "<": side < 0, "<=": side <= 0}
    assert (one.result == "fail") is holds[operator]


def test_the_names_of_the_documents_are_known() -> None:
    for name in document()["per_step"]:
        assert parse(f"per_step.{name} > 1").name.kind == "time"
