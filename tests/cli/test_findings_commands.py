"""``commscope gaps``, ``rules`` and ``explain``, and thresholds on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from commscope import sample_traces
from commscope.findings.log_rules import BUILT_IN_LOG
from commscope.findings.rules import BUILT_IN

Refused = Callable[..., str]
EVERY = (*BUILT_IN, *BUILT_IN_LOG)
STRAGGLER = sample_traces.path("ddp_straggler")


def test_rules_lists_all_with_their_thresholds(call) -> None:
    outcome = call("rules")
    assert outcome.code == 0
    for rule in EVERY:
        assert f"{rule.id:>3} {rule.title}  ({rule.family})\n    {rule.asks}\n" in outcome.out
    assert "    C1.min_share = 0.8 of all waiting, caused by the one rank\n" in outcome.out


def test_rules_as_json(call) -> None:
    rules = json.loads(call("rules", "--format", "json").out)
    assert [rule["id"] for rule in rules] == [rule.id for rule in EVERY]
    least = {"value": 0.8, "unit": "ratio", "says": "of all waiting, caused by the one rank"}
    assert rules[0]["thresholds"]["min_share"] == least
    assert rules[0]["advice"][0]["source"].startswith("https://")


@pytest.mark.parametrize("given", ["C1", "c1", " C1 "])
def test_explain_says_all_of_a_rule(call, given: str) -> None:
    outcome = call("explain", given)
    assert outcome.code == 0
    assert outcome.out.startswith("C1 Straggler  (collectives)\nDoes one rank cause most of the")
    for word in (
        "C1.min_share = 0.8 ratio: of all",
        "\nAdvice: Look at",
        "\nWhy: A ",
        "\nSource: ",
    ):
        assert word in outcome.out


@pytest.mark.parametrize("rule", [rule.id for rule in EVERY])
def test_every_rule_can_be_explained(call, rule: str) -> None:
    assert json.loads(call("explain", rule, "--format", "json").out)["id"] == rule


def test_explain_of_an_unknown_rule_lists_the_known_ones(refused: Refused) -> None:
    says = refused(2, "explain", "X1")
    assert says.startswith("commscope: no metric or rule X1: metrics are compute_ns, ")
    assert all(rule.id in says for rule in EVERY)


def test_explain_without_a_rule(refused: Refused) -> None:
    assert "Missing argument 'METRIC|RULE|FINDING'" in refused(2, "explain")


def test_gaps_as_text(call) -> None:
    outcome = call("gaps", STRAGGLER, "--top", "5")
    assert outcome.code == 0
    assert "Exposed communication by cause (whole trace, all ranks together)" in outcome.out
    assert "waiting for a late rank" in outcome.out
    assert "Gaps, the 5 longest of " in outcome.out
    assert outcome.out.count("waiting for rank 1") == 5


def test_gaps_as_json_add_up_to_the_exposed_communication(call) -> None:
    gaps = json.loads(call("gaps", STRAGGLER, "--format", "json", "--top", "100000").out)
    steps = json.loads(call("analyze", STRAGGLER, "--format", "json").out)["steps"]
    assert len(steps) > 2
    for step in steps:
        mine, sums = (
            [row for row in gaps[of] if (row["rank"], row["step"]) == (step["rank"], step["step"])]
            for of in ("gaps", "gap_sums")
        )
        exposed = step["partition"]["exposed_comm_ns"]
        assert sum(gap["dur_ns"] for gap in mine) == exposed
        assert sum(row["total_ns"] for row in sums) == exposed
        assert sum(row["gaps"] for row in sums) == len(mine)


def test_gaps_shows_the_longest(call) -> None:
    gaps = json.loads(call("gaps", STRAGGLER, "--format", "json", "--top", "7").out)["gaps"]
    lengths = [gap["dur_ns"] for gap in gaps]
    assert len(lengths) == 7
    assert lengths == sorted(lengths, reverse=True)
    assert gaps[0]["cause"] == "straggler_wait"
    assert (gaps[0]["straggler"], gaps[0]["rank"]) == (1, 0)


def test_gaps_of_one_file_say_that_it_may_be_waiting(call) -> None:
    outcome = call("gaps", sorted(STRAGGLER.glob("*.json.gz"))[0])
    says = "Where a rank's collectives are not matched, any of it may be waiting for others."
    assert says in outcome.out
    assert says not in call("gaps", STRAGGLER).out


def _rules(call, *options: object) -> dict[str, dict[str, str]]:
    report = json.loads(call("analyze", STRAGGLER, "--format", "json", *options).out)
    return {rule["rule"]: rule for rule in report["rules"]}


def test_a_threshold_changes_what_is_found(call, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _rules(call)["C1"]["result"] == "found"
    assert _rules(call, "--threshold", "C1.min_errors=1e9")["C1"]["result"] == "nothing"
    Path("commscope.toml").write_text("[thresholds.C1]\nmin_errors = 1e9\n")
    assert _rules(call)["C1"]["result"] == "nothing"
    # The option goes before the file.
    assert _rules(call, "--threshold", "C1.min_errors=3")["C1"]["result"] == "found"


@pytest.mark.parametrize("command", ["analyze", "gaps"])
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("C1", "threshold C1: write a rule, a name and a number, such as C1.min_share=0.7"),
        ("C1.share=1", "no threshold C1.share: there are C1.min_errors, C1.min_share, C1."),
        ("C1.min_share=-1", "threshold C1.min_share=-1.0: a number from 0"),
    ],
)
def test_a_bad_threshold_is_refused(refused: Refused, command: str, given: str, says: str) -> None:
    assert says in refused(2, command, STRAGGLER, "--threshold", given)


def test_findings_come_with_bound_and_advice(call) -> None:
    text = call("analyze", STRAGGLER).out
    assert (
        " C1 Straggler: rank 1 is late: before it arrives its GPU idles 16.2 ms a step longer"
        in text
    )
    assert "At most 16.2 ms a step to win." in " ".join(text.split())
    assert "Look at what the late rank does before it arrives" in text
