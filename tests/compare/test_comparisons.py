"""What comparisons of real and simulated runs say."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest
from builders import TraceBuilder
from compared import cause, comparison, run_of, write_ddp
from small_run import GEMM, add_step, trace, write_run
from support import case

from commscope import sample_traces
from commscope.compare.build import compare_runs
from commscope.compare.model import Comparison
from commscope.errors import UsageError

PAIRS = [("ddp_default", "ddp_straggler"), ("tp", "a2a")]


def of(base: str, new: str) -> Comparison:
    return comparison(sample_traces.path(base), sample_traces.path(new))


@pytest.mark.parametrize(("base", "new"), PAIRS)
def test_causes_add_up_to_the_change(base: str, new: str) -> None:
    found = of(base, new)
    assert found.step_time is not None
    assert sum(c.change_ns for c in found.causes or ()) == found.step_time.change_ns
    assert sum(c.base_ns for c in found.causes or ()) == found.step_time.base_ns
    for one in found.causes or ():
        assert sum(part.change_ns for part in one.parts) == one.change_ns
        assert all(
            part.by_count_ns + (part.by_each_ns or 0) == part.change_ns
            for part in one.parts
            if part.by_count_ns is not None
        )


def test_the_straggler_is_named() -> None:
    found = of("ddp_default", "ddp_straggler")
    assert found.step_time is not None
    assert 10e6 < found.step_time.change_ns < 12e6
    top = (found.causes or ())[0]
    assert (top.name, top.rank) == ("late_rank", 1)
    assert 15e6 < (top.new_pause_ns or 0) < 16e6
    assert "rank 1 is later: its host pauses" in found.verdict
    assert "12.0 ms and 27.4 ms (+15.4 ms)" in found.verdict
    assert "Cannot judge" in found.verdict
    assert not found.is_significant


def test_ranks_are_means_over_their_own_steps_and_over_runs(tmp_path: Path) -> None:
    runs = [write_ddp(tmp_path / f"run{seed}", seed=seed, steps=6) for seed in (1, 2, 3)]
    found = comparison(runs[:2], runs[2:])
    assert [pair.rank for pair in found.ranks] == [0, 1]
    for pair in found.ranks:
        for sides, told in ((runs[:2], pair.base_ns), (runs[2:], pair.new_ns)):
            assert told is not None
            assert told["compute_ns"] == round(
                fmean(_mean_compute(run, pair.rank) for run in sides)
            )


def _mean_compute(run: Path, rank: int) -> float:
    rows = run_of(run).report.steps
    return fmean(row["compute_ns"] for row in rows if row["rank"] == rank and not row["open"])


def test_mended_it_is_less_late() -> None:
    found = of("ddp_straggler", "ddp_default")
    assert "shrank" in found.verdict
    assert "rank 1 is less late" in found.verdict


def test_small_buckets_are_counted() -> None:
    found = comparison(sample_traces.path("ddp_default"), case("h200/ddp_small_buckets"))
    part = cause(found, "transfer").parts[0]
    assert (part.base_count, part.new_count) == (6, 26)
    assert "6 to 26 collectives a step" in found.verdict
    assert "latency, not bandwidth" in found.verdict
    # The profiler slows the base more: its steps shrink, where those without it grow.
    assert "the opposite" in found.verdict


@pytest.mark.parametrize("name", sample_traces.names())
def test_a_run_is_equal_to_itself(name: str) -> None:
    found = of(name, name)
    document = json.loads(found.to_json())
    assert all(part["change_ns"] in (0, None) for part in document["parts"])
    assert all(c.change_ns == 0 for c in found.causes or ())
    assert not found.environment
    assert not any(p.judgement and p.judgement.is_significant for p in found.parts)
    assert found.not_compared[0] == f"{name}: is on both sides"
    assert len(found.not_compared) == 1 or found.step_time is None


def test_one_file_cannot_tell_waiting() -> None:
    whole = sample_traces.path("ddp_straggler")
    found = comparison(sample_traces.path("ddp_default") / "rank0.json.gz", whole)
    assert found.base[0].ranks == found.new[0].ranks == (0,)
    assert {c.name for c in found.causes or ()} == {"compute", "communication", "copies", "idle"}
    assert found.step_time is not None
    assert sum(c.change_ns for c in found.causes or ()) == found.step_time.change_ns
    assert any("rank 1 left out" in note for note in found.not_compared)
    assert any("tell them apart" in note for note in found.not_compared)


def test_no_steps_no_step_times(tmp_path: Path) -> None:
    builder = TraceBuilder(rank=0)
    add_step(builder, 0, 1000, GEMM)
    (tmp_path / "short.json").write_text(json.dumps(builder.document()))
    found = comparison(tmp_path / "short.json", write_run(tmp_path / "run", ranks=1))
    assert (found.step_time, found.causes, found.unit) == (None, None, "trace")
    assert "cannot be compared" in found.verdict
    assert found.families


def test_five_percent_are_significant_end_to_end(tmp_path: Path) -> None:
    runs = [
        write_ddp(tmp_path / str(seed), seed=seed, percent=percent)
        for seed, percent in ((1, 100), (2, 105), (3, 100))
    ]
    grown, same = comparison(runs[0], runs[1]), comparison(runs[0], runs[2])
    assert grown.is_significant
    assert cause(grown, "compute").share == pytest.approx(1, abs=0.05)
    assert not same.is_significant
    assert "Significant" in grown.verdict


def test_other_numbers_of_ranks_are_told(tmp_path: Path) -> None:
    two = write_ddp(tmp_path / "two", seed=1, steps=4)
    three = write_ddp(tmp_path / "three", seed=1, steps=4, ranks=3)
    found = comparison(two, three)
    assert (found.base[0].ranks, found.new[0].ranks) == ((0, 1), (0, 1, 2))
    assert found.ranks == ()
    assert any("no rank corresponds" in note for note in found.not_compared)
    assert "ranks of the job" in {fact.name for fact in found.environment}


def test_several_runs_a_side_are_the_units(tmp_path: Path) -> None:
    runs = [write_ddp(tmp_path / str(seed), seed=seed, steps=4) for seed in range(3)]
    found = comparison(runs[:2], [runs[2]])
    assert found.units is not None
    assert (found.units.kind, found.units.base, found.units.new) == ("runs", 2, 1)
    assert "runs" in found.judged_by


def test_each_side_needs_a_run() -> None:
    with pytest.raises(UsageError, match="each side"):
        compare_runs([], [])


def test_equal_input_gives_equal_bytes() -> None:
    one, other = (of("ddp_default", "tp") for _ in range(2))
    assert one.to_json() == other.to_json()
    assert one.to_markdown() == other.to_markdown()


@pytest.mark.parametrize(
    "name", ["<img src=x onerror=alert(1)>", "a|b`c", "\x1b[31mred", "x\u202ey", "a\nb", "k" * 5000]
)
def test_hostile_names_are_inert(name: str, tmp_path: Path) -> None:
    for folder in ("base", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rank0.json").write_bytes(trace(0, name=name))
    found = comparison(tmp_path / "base", tmp_path / "new")
    texts = (found.to_text(), found.to_json(), found.to_markdown())
    assert all(line.isprintable() for text in texts for line in text.split("\n"))
    markdown = texts[2].replace("<!-- commscope:compare -->", "")
    assert len(markdown) < 65_536
    rows = [line for line in markdown.split("\n") if line.startswith("| ")]
    assert all("<img" not in row.replace("`<img src=x onerror=alert(1)>`", "") for row in rows)
    assert max(map(len, texts[0].split("\n"))) < 140


def test_copies_of_a_run_are_no_more_runs() -> None:
    base, new = (sample_traces.path(name) for name in ("ddp_default", "ddp_straggler"))
    found = comparison([base] * 5, [new] * 5)
    assert (len(found.base), len(found.new)) == (1, 1)
    assert "cannot judge" in found.verdict.lower()
    again = "ddp_default: holds the files of ddp_default, and counts once"
    assert found.not_compared.count(again) == 4
    assert "ddp_default: is on both sides" in comparison(base, base).not_compared
