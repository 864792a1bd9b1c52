"""Why a tool differs: the effects add up to the difference, exactly, and bugs are named."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from peer_runs import read, says
from support import case

import commscope
from commscope import sample_traces
from commscope.columns import int64
from commscope.errors import UsageError
from commscope.peers import TOOLS, Answer, PeerAnswer, answer_as
from commscope.peers.activities import by_rank, partition
from commscope.peers.steps import step_marks, step_numbers

FILES = (
    *("kineto/mi300x_resnet_ddp8_rank0.json.gz", "kineto/a100_8gpu_rank3_a2a_allreduce.json.gz"),
    *("kineto/mi350x_rocprofsdk_small.json.gz", "kineto/a100_event_sync_multistream.json.gz"),
)


def _answer_of(path: str, tool: str, *, again: bool = True) -> PeerAnswer:
    return says(path, tool) if again else answer_as(read(path)[0], tool)


def _keys(answer: Answer, kind: str) -> list[str]:
    return [reason.key for reason in answer.reasons if reason.kind == kind]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("file", FILES)
def test_effects_add_up_exactly(file: str, tool: str) -> None:
    answers = _answer_of(file, tool).answers
    assert answers
    for answer in answers:
        for figure in answer.figures if answer.fails is None else ():
            effects = [reason.effects[figure.quantity.name] for reason in answer.reasons]
            total = sum((Fraction(effect) for effect in effects if effect is not None), Fraction())
            assert figure.difference is None or total == figure.difference


def test_dropped_last_step_is_named_as_a_bug() -> None:
    shipped, unrounded = _answer_of(FILES[1], "hta").answers
    assert _keys(shipped, "bug") == _keys(unrounded, "bug") == ["last_step"]
    (bug,) = (reason.says for reason in shipped.reasons if reason.kind == "bug")
    assert bug == "HTA drops the last step: what is launched from its begin on"


def test_kernels_without_launch_are_a_reason_with_its_size() -> None:
    shipped, _ = _answer_of(FILES[0], "hta").answers
    effects = {reason.key: reason.effects for reason in shipped.reasons}
    assert list(effects) == ["no_launch", "rounding", "printed"]
    assert effects["no_launch"]["compute_time(us)"] == -6_505_209
    assert effects["rounding"]["compute_time(us)"] == -2_216_094


def test_ours_is_the_partition_of_the_whole_trace() -> None:
    trace, _ = read(FILES[0])
    (rank,) = commscope.analyze(trace).to_dict()["ranks"]
    every, _ = answer_as(trace, "tracelens").answers
    ours = {figure.quantity.name: figure.ours for figure in every.figures}
    whole = rank["partition"]
    assert ours["computation_time"] == whole["compute_ns"]
    assert ours["exposed_comm_time"] == whole["exposed_comm_ns"]
    assert ours["exposed_memcpy_time"] == whole["exposed_copy_ns"]
    assert ours["idle_time"] == whole["idle_ns"]
    assert ours["total_time"] == whole["window_ns"]


@pytest.mark.parametrize("tool", TOOLS)
def test_without_the_file_the_answer_says_what_is_approximate(tool: str) -> None:
    answers = _answer_of(FILES[0], tool, again=False).answers
    assert any("the tables lack" in one for answer in answers for one in answer.approximate)


def test_other_formats_are_measured_and_said_not_to_be_readable() -> None:
    trace = commscope.load([case("amd/rocpd")])
    found = answer_as(trace, "tracelens")
    assert any("cannot read rocpd" in note for note in found.notes)
    (every, _) = found.answers[:2]
    of = next(by_rank(trace))
    assert of.rank == every.rank
    assert every.figures[5].ours == partition(of.all.where(of.counts))["window"]


def test_json_of_an_answer() -> None:
    found: dict[str, Any] = _answer_of(FILES[2], "hta").to_dict()
    assert found["schema"] == "commscope.as/1"
    assert found["tool"] == "hta"
    figures = {figure["name"]: figure for figure in found["answers"][0]["figures"]}
    assert figures["kernel_time(us)"]["shown"] == "408"
    assert figures["kernel_time(us)"]["theirs"] == 408_000
    assert figures["kernel_time(us)"]["unit"] == "ns"


def test_another_tool_is_refused() -> None:
    trace = commscope.load([sample_traces.path("ddp_straggler")])
    with pytest.raises(UsageError, match="as nsys: there are hta, tracelens, tb"):
        answer_as(trace, "nsys")


def test_ranks_are_taken_apart() -> None:
    trace = commscope.load([sample_traces.path("ddp_straggler")])
    found = list(by_rank(trace))
    assert [of.rank for of in found] == trace.ranks.column("rank").to_pylist()
    for of in found:
        for table in (of.host, of.steps):
            assert table.num_rows
            assert set(table.column("rank").to_pylist()) == {of.rank}
        mine = int64(trace.events, "rank") == of.rank
        assert of.all.start_ns.tolist() == int64(trace.events, "start_ns")[mine].tolist()
        assert step_marks(of.host, None).numbers == tuple(sorted(step_numbers(of.host), key=int))
