"""What somebody who did not know the tool ran into: the words must not claim what is not known."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import commscope
from commscope import sample_traces
from commscope.errors import UsageError
from commscope.generator import Style, simulate, write_traces
from commscope.generator.clocks import Clock
from commscope.generator.pipelines import tp_dp_pp
from commscope.generator.programs import Job, Straggler

STRAGGLER = sample_traces.path("ddp_straggler")


def _documents(name: str = "ddp_straggler") -> list[dict[str, Any]]:
    files = sorted(sample_traces.path(name).glob("rank*.json.gz"))
    return [json.loads(gzip.decompress(file.read_bytes())) for file in files]


def _written(folder: Path, documents: list[dict[str, Any]]) -> Path:
    for rank, document in enumerate(documents):
        (folder / f"rank{rank}.json").write_text(json.dumps(document))
    return folder


def _analyzed(folder: Path) -> commscope.Report:
    return commscope.analyze(commscope.load(folder))


def test_without_launches_nothing_is_said_of_hosts(tmp_path: Path) -> None:
    documents = _documents()
    for document in documents:
        document["traceEvents"] = [
            event for event in document["traceEvents"]
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset", "user_annotation")
        ]  # fmt: skip
    report = _analyzed(_written(tmp_path, documents))
    (late,) = [finding for finding in report.findings if finding.rule == "C1"]
    assert late.rank == 1
    assert "has no launches" in late.says
    assert "launches nothing" not in late.says


@pytest.mark.parametrize("where", ["backend", "gpu"])
def test_text_of_metadata_may_be_broken(where: str, tmp_path: Path) -> None:
    document = _documents()[0]
    if where == "backend":
        document["distributedInfo"]["backend"] = "nc\udcdfl"
    else:
        document["deviceProperties"][0]["name"] = "X\udcdf"
    (tmp_path / "rank0.json").write_text(json.dumps(document))
    report = _analyzed(tmp_path)
    assert json.loads(report.to_json())["ranks"][0]["rank"] == 0


def test_a_rank_that_is_too_damaged_to_be_used_limits_trust(tmp_path: Path) -> None:
    for rank, keep in ((0, None), (1, 100_000)):
        data = (STRAGGLER / f"rank{rank}.json.gz").read_bytes()
        (tmp_path / f"rank{rank}.json.gz").write_bytes(data[:keep])
    report = _analyzed(tmp_path)
    assert report.summary.ranks == 1
    assert report.trust.verdict == "limited"
    assert "rank1.json.gz" in report.trust_line


def test_ranks_of_two_runs_are_not_taken_for_one(tmp_path: Path) -> None:
    one, other = _documents("ddp_default"), _documents()
    for event in other[1]["traceEvents"]:
        if "Process Group Name" in event.get("args", {}):
            event["args"]["Process Group Name"] = "of another run"
    report = _analyzed(_written(tmp_path, [one[0], other[1]]))
    assert len(report.instances) == 0
    assert "are these ranks of one run?" in report.trust_line


@pytest.mark.parametrize("milliseconds", [1e308, 1e-300, float("nan"), 0.0])
def test_an_impossible_step_time_is_refused(milliseconds: float) -> None:
    with pytest.raises(UsageError, match="unprofiled step"):
        commscope.load(STRAGGLER, unprofiled_step_ms=milliseconds)


def test_a_straggler_is_told_from_the_bubble_of_the_pipeline(tmp_path: Path) -> None:
    """Rank 3's host sleeps 15 ms a step: tensor, data and pipeline groups wait for it."""
    late = Straggler(3, 15_000_000)
    job = Job(ranks=8, steps=4, stragglers=(late,), jitter_ns=100_000, seed=3)
    write_traces(simulate(tp_dp_pp(job)), tmp_path, Style())
    first = next(f for f in _analyzed(tmp_path).findings if f.bound_ns)
    assert (first.rule, first.rank) == ("C1", 3)
    assert first.bound_ns == pytest.approx(15_000_000, rel=0.05)
    assert "GPU idles 15.0 ms" in first.says


def test_clocks_tell_how_far_they_are_ahead(tmp_path: Path) -> None:
    """One of four hosts is 3 s ahead and 20 ppm fast: found within 20 us at its first activity."""
    job = Job(ranks=8, steps=6, ranks_per_host=2, jitter_ns=100_000, seed=5)
    clocks = {"host1": Clock(3_000_000_000, 20_000)}
    write_traces(simulate(tp_dp_pp(job)), tmp_path, Style(with_host=True), clocks)
    ahead = [clock.offset_ns for clock in _analyzed(tmp_path).clock.ranks]
    assert ahead == pytest.approx([0, 0, 3_000_000_000, 3_000_000_000, 0, 0, 0, 0], abs=20_000)


def test_a_rank_that_only_waits_shows_for_whom(tmp_path: Path) -> None:
    from commscope.report.text import drawn_text
    from commscope.report.text_across import print_stragglers

    report = commscope.analyze(commscope.load(STRAGGLER), only_ranks=[0])
    text = drawn_text(lambda console: print_stragglers(report, console, 10), 120)
    assert "none of these ranks arrived last" in text
    assert "Who waited for whom" in text
