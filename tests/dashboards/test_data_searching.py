"""What a search finds: names, collectives by what they are, steps and ranks by their numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import TraceBuilder
from run_views import Shown, shown, straggler

from commscope.columns import int64
from commscope.units import size


def found(run: Shown, text: str) -> dict[str, int]:
    """How many events are found, by the kind of lane."""
    counts: dict[str, int] = {}
    for lane, count in run.view.matches(text).lanes:
        kind = run.view.lane(lane).kind
        counts[kind] = counts.get(kind, 0) + count
    return counts


@pytest.mark.parametrize("text", ["step 3", "Step 3", "ProfilerStep#3"])
def test_a_step_is_found_by_either_name(text: str) -> None:
    assert found(straggler(), text) == {"steps": 2, "thread": 2}


def test_a_number_is_not_found_as_part_of_a_longer_one(tmp_path: Path) -> None:
    builder = TraceBuilder(rank=0)
    for step in (1, 10, 11):
        builder.step(step, 100 * step, 90)
        builder.launch(100 * step + 5).kernel("gemm", 100 * step + 10, 40)
    (tmp_path / "rank0.json").write_text(json.dumps(builder.document()))
    assert found(shown(tmp_path), "step 1") == {"steps": 1, "thread": 1}
    assert found(shown(tmp_path), "step") == {"steps": 3, "thread": 3}


def test_a_rank_is_found_by_what_waits_for_it() -> None:
    run = straggler()
    part = run.view.lane(next(of.id for of in run.view.lanes if of.kind == "exposed"))
    waits = [name for name in part.events.name if run.view.book.shown(name) == "waiting for rank 1"]
    assert found(run, "rank 1") == {"exposed": len(waits)}
    assert found(run, "rank 10") == {}


def test_collectives_are_found_by_operation_size_and_communicator() -> None:
    run = straggler()
    calls = run.analysis.across.calls
    sizes = int64(calls, "bytes")
    largest = int(sizes.max())
    words = size(largest)
    same = sum(size(of) == words for of in sizes[sizes >= 0].tolist())
    assert found(run, words)["communication"] == same
    assert found(run, f"all_reduce {words.lower()}") == {"communication": same}
    assert found(run, "default_pg") == {"communication": calls.num_rows}
    assert found(run, "all_reduce")["communication"] == calls.num_rows


def test_what_is_found_is_marked_where_it_is_drawn() -> None:
    view = straggler().view
    whole = view.layout.t0, view.layout.t1
    lanes = [of for of in view.lanes if of.rank == 0 and of.kind == "communication"]
    lanes += [of for of in view.lanes if of.parent == lanes[0].id]
    for lane in lanes:
        (seen,) = view.query(*whole, 16_000, [lane.id], "default_pg")
        assert seen.hit is not None
        assert seen.hits is not None
        assert int(seen.hit.sum()) + int(seen.hits.sum()) == len(lane)
