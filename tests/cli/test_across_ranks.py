"""``collectives``, ``stragglers`` and the options on what several ranks tell together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from commscope import sample_traces
from commscope.errors import UsageError

STRAGGLER = sample_traces.path("ddp_straggler")
MATCHED = 18  #: collectives of rank 1, all of which rank 0 took part in


def _json(call, *arguments: object) -> Any:
    outcome = call(*arguments, "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    return json.loads(outcome.out)


def test_stragglers_blame_the_rank_that_sleeps(call) -> None:
    outcome = call("stragglers", STRAGGLER)
    assert (outcome.code, outcome.err) == (0, "")
    assert "Who arrived last" in outcome.out
    assert f"{MATCHED} of {MATCHED}" in outcome.out
    assert "rank 1 arrives last and causes 100% of the waiting" in outcome.out


def test_stragglers_as_json(call) -> None:
    document = _json(call, "stragglers", STRAGGLER)
    sections = {"stragglers", "waiting", "straggler_verdicts", "imbalance", "pipeline"}
    assert set(document) == sections
    (late,), (pair,) = document["stragglers"], document["waiting"]
    assert (late["rank"], late["last_count"], late["instances"]) == (1, MATCHED, MATCHED)
    assert (pair["waiter"], pair["straggler"]) == (0, 1)
    assert late["waited_by_others_ns"] == pair["wait_ns"] >= pair["exposed_wait_ns"] > 0


def test_nobody_is_blamed_where_the_waiting_moves(call) -> None:
    document = _json(call, "stragglers", sample_traces.path("ddp_default"))
    (says,) = document["straggler_verdicts"]
    assert "no rank causes 80% of the waiting: rank 1 77%" in says


def test_one_rank_alone_has_no_stragglers(call) -> None:
    outcome = call("stragglers", STRAGGLER / "rank0.json.gz")
    assert outcome.code == 0
    assert "nobody can be told late" in outcome.out


def test_roles_are_given_and_chosen(call) -> None:
    role = ("--role", "zero=default_pg")
    document = _json(call, "stragglers", STRAGGLER, *role, "--role", "zero")
    assert [row["role"] for row in document["stragglers"]] == ["zero"]
    assert [row["role"] for row in document["waiting"]] == ["zero"]
    assert len(document["straggler_verdicts"]) == 1


def test_a_rank_is_chosen_after_all_were_matched(call) -> None:
    late, early = (_json(call, "stragglers", STRAGGLER, "--rank", rank) for rank in "10")
    assert [row["rank"] for row in late["stragglers"]] == [1]
    assert early["stragglers"] == []
    assert late["waiting"] == early["waiting"] != []
    of_all, of_one = (
        _json(call, "collectives", STRAGGLER, *option)["collectives"]
        for option in ((), ("--rank", "1"))
    )
    assert sum(row["count"] for row in of_one) == MATCHED
    assert sum(row["count"] for row in of_all) == 2 * MATCHED + 5
    assert {row["wait_ns"] for row in of_one} == {0}


def test_a_step_is_chosen(call) -> None:
    whole, one = (_json(call, "stragglers", STRAGGLER, *option) for option in ((), ("--step", "2")))
    assert 0 < one["waiting"][0]["wait_ns"] < whole["waiting"][0]["wait_ns"]
    assert one["stragglers"][0]["instances"] < MATCHED
    kinds = _json(call, "collectives", STRAGGLER, "--step", "2")["collectives"]
    assert sum(row["wait_ns"] for row in kinds) == one["waiting"][0]["wait_ns"]


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (("--rank", "7"), "no rank 7: the trace has 0, 1"),
        (("--rank", "x"), "--rank x: write a rank to show"),
        (("--role", "tp"), "no role tp: the trace has none"),
    ],
)
def test_what_is_not_there_cannot_be_shown(option: tuple[str, str], says: str, refused) -> None:
    for command in ("stragglers", "collectives"):
        assert says in refused(UsageError.exit_code, command, STRAGGLER, *option)


@pytest.mark.parametrize("role", ["=x", "zero=", "zero=("])
def test_bad_role_is_refused(role: str, refused) -> None:
    assert f"role {role.removeprefix('zero=') if '(' in role else role}" in refused(
        UsageError.exit_code, "stragglers", STRAGGLER, "--role", role
    )


def test_bandwidth_by_size(call) -> None:
    rows = _json(call, "collectives", STRAGGLER)["bandwidth"]
    assert [(row["op"], row["group_size"], row["min_bytes"]) for row in rows] == [
        ("all_reduce", 2, 4096), ("all_reduce", 2, 27_287_552), ("all_reduce", 2, 33_587_200),
    ]  # fmt: skip
    large = rows[-1]
    assert large["busbw_gbps"] == large["algbw_gbps"]  # 2 (n - 1) / n is 1 for two ranks
    assert large["share_of_expected"] == large["busbw_gbps"] / large["expected_busbw_gbps"]
    text = call("collectives", STRAGGLER).out
    assert "Bandwidth by size" in text
    assert "27.29 MB to 31.49 MB" in text


def test_collectives_show_transfer_and_bandwidth(call) -> None:
    outcome = call("collectives", sample_traces.path("fsdp"), "--top", "1")
    assert (outcome.code, outcome.err) == (0, "")
    title, head, *rows = outcome.out.strip().split("\n\n")[0].splitlines()
    assert title.startswith("Collectives")
    assert all(word in head for word in ("waiting", "transfer", "bus GB/s"))
    (row,) = rows
    assert row.startswith("all_gather")
    assert " of 286" in row


def test_collectives_as_json(call) -> None:
    rows = _json(call, "collectives", sample_traces.path("fsdp"), "--top", "2")["collectives"]
    assert [row["op"] for row in rows] == ["all_gather", "reduce_scatter"]
    for row in rows:
        assert row["matched"] == row["count"]
        assert 0 < row["transfer_ns"]["p50"] <= row["transfer_ns"]["p95"]
        assert row["busbw_gbps"] == pytest.approx(row["algbw_gbps"] / 2)
        assert 0 < row["busbw_gbps"] < row["expected_busbw_gbps"]
        assert row["bandwidth_note"] is None


def test_a_rank_alone_gives_lower_bounds(call) -> None:
    rows = _json(call, "collectives", sample_traces.path("fsdp") / "rank0.json.gz")["collectives"]
    assert {row["matched"] for row in rows} == {0}
    assert {row["wait_ns"] for row in rows} == {None}
    assert all("lower bound" in row["bandwidth_note"] for row in rows)


def test_instances_are_written_on_demand(call) -> None:
    assert "instances" not in _json(call, "analyze", STRAGGLER)
    instances = _json(call, "analyze", STRAGGLER, "--instances")["instances"]
    assert len(instances) == MATCHED
    assert {(row["straggler"], row["members"]) for row in instances} == {(1, 2)}
