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
    assert set(document) == {"stragglers", "waiting", "straggler_verdicts"}
    (late,), (pair,) = document["stragglers"], document["waiting"]
    assert (late["rank"], late["last_count"], late["instances"]) == (1, MATCHED, MATCHED)
    assert (pair["waiter"], pair["straggler"]) == (0, 1)
    assert late["waited_by_others_ns"] == pair["wait_ns"] >= pair["exposed_wait_ns"] > 0


def test_nobody_is_blamed_where_the_waiting_moves(call) -> None:
    document = _json(call, "stragglers", sample_traces.path("ddp_default"))
    (says,) = document["straggler_verdicts"]
    assert "moves between ranks" in says


def test_one_rank_alone_has_no_stragglers(call) -> None:
    outcome = call("stragglers", STRAGGLER / "rank0.json.gz")
    assert outcome.code == 0
    assert "nobody can be told late" in outcome.out


def test_roles_are_given_and_chosen(call) -> None:
    role = ("--role", "zero=default_pg")
    document = _json(call, "stragglers", STRAGGLER, *role, "--only-role", "zero")
    assert [row["role"] for row in document["stragglers"]] == ["zero"]
    assert [row["role"] for row in document["waiting"]] == ["zero"]
    other = _json(call, "stragglers", STRAGGLER, *role, "--only-role", "tp")
    assert (other["stragglers"], other["waiting"]) == ([], [])


@pytest.mark.parametrize("role", ["zero", "=x", "zero=", "zero=("])
def test_bad_role_is_refused(role: str, refused) -> None:
    assert f"role {role.removeprefix('zero=') if '(' in role else role}" in refused(
        UsageError.exit_code, "stragglers", STRAGGLER, "--role", role
    )


def test_collectives_show_transfer_and_bandwidth(call) -> None:
    outcome = call("collectives", sample_traces.path("fsdp"), "--top", "1")
    assert (outcome.code, outcome.err) == (0, "")
    title, head, *rows = outcome.out.strip().splitlines()
    assert title.startswith("Collectives")
    assert all(word in head for word in ("waiting", "transfer", "bus GB/s"))
    (row,) = rows
    assert row.startswith("all_gather")
    assert " of 286" in row


def test_collectives_as_json(call) -> None:
    rows = _json(call, "collectives", sample_traces.path("fsdp"), "--top", "2")
    assert [row["op"] for row in rows] == ["all_gather", "reduce_scatter"]
    for row in rows:
        assert row["matched"] == row["count"]
        assert 0 < row["transfer_ns"]["p50"] <= row["transfer_ns"]["p95"]
        assert row["busbw_gbps"] == pytest.approx(row["algbw_gbps"] / 2)
        assert 0 < row["busbw_gbps"] < row["expected_busbw_gbps"]
        assert row["bandwidth_note"] is None


def test_a_rank_alone_gives_lower_bounds(call) -> None:
    rows = _json(call, "collectives", sample_traces.path("fsdp") / "rank0.json.gz")
    assert {row["matched"] for row in rows} == {0}
    assert {row["wait_ns"] for row in rows} == {None}
    assert all("lower bound" in row["bandwidth_note"] for row in rows)


def test_instances_are_written_on_demand(call) -> None:
    assert "instances" not in _json(call, "analyze", STRAGGLER)
    instances = _json(call, "analyze", STRAGGLER, "--instances")["instances"]
    assert len(instances) == MATCHED
    assert {(row["straggler"], row["members"]) for row in instances} == {(1, 2)}
