"""The runs of the tutorial: what is bundled is what is simulated, and the page tells the truth."""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path

import pytest
from compared import comparison
from support import ROOT

import commscope
from commscope import sample_traces
from commscope.errors import UsageError
from commscope.generator.simulation import Simulation
from commscope.generator.truth import step_truths
from commscope.generator.tutorial import NAMES, tutorial_run, write_tutorial

_PARTS = ("window_ns", "compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns")
FIRST, SECOND, THIRD = (sample_traces.TUTORIAL / name for name in NAMES)


@cache
def simulated(name: str) -> Simulation:
    return tutorial_run(name)


@cache
def report(name: str) -> commscope.Report:
    return commscope.analyze(commscope.load(sample_traces.TUTORIAL / name))


def compute_share(name: str) -> float:
    closed = [truth for truth in step_truths(simulated(name)) if not truth.open]
    return sum(t.compute_ns for t in closed) / sum(t.window_ns for t in closed)


def test_what_is_bundled_is_what_is_simulated(tmp_path: Path) -> None:
    files = write_tutorial(tmp_path)
    there = [path.relative_to(tmp_path) for path in files]
    bundled = sorted(sample_traces.TUTORIAL.rglob("*.gz"))
    assert sorted(there) == [path.relative_to(sample_traces.TUTORIAL) for path in bundled]
    for name in there:
        new, old = ((f / name).read_bytes() for f in (tmp_path, sample_traces.TUTORIAL))
        assert gzip.decompress(new) == gzip.decompress(old)
    assert sum(path.stat().st_size for path in bundled) < 150_000


@pytest.mark.parametrize(("name", "share"), list(zip(NAMES, (0.65, 0.75, 0.85), strict=True)))
def test_the_job_computes_for_as_long_as_told(name: str, share: float) -> None:
    assert compute_share(name) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_the_report_is_the_truth(name: str) -> None:
    told = [(row["rank"], row["step"], *(row[p] for p in _PARTS)) for row in report(name).steps]
    truths = step_truths(simulated(name))
    assert told == [(t.rank, t.step, *(getattr(t, p) for p in _PARTS)) for t in truths]
    shares = report(name).summary.shares
    assert shares is not None
    assert shares.compute == pytest.approx(compute_share(name), abs=1e-12)


def test_findings_lead_from_one_run_to_the_next() -> None:
    first = [next(f.rule for f in report(name).findings if f.bound_ns) for name in NAMES]
    assert first == ["O7", "O9", "H8"]


def test_comparisons_confirm_each_change() -> None:
    fewer, hidden = comparison(FIRST, SECOND), comparison(SECOND, THIRD)
    assert fewer.is_significant
    assert hidden.is_significant
    assert fewer.verdict.count("15 to 5 collectives a step") == 1
    assert "at the same rate: more of it is hidden" in hidden.verdict
    assert "at the same rate: less of it is hidden" in comparison(THIRD, SECOND).verdict


def test_the_page_tells_these_numbers() -> None:
    page = ROOT / "docs/tutorial.md"
    if not page.is_file():
        pytest.skip("needs the checkout")
    rows = re.findall(r"^\| (\d_\w+) \| ([\d.]+) % \|", page.read_text("utf-8"), re.MULTILINE)
    assert rows == [(name, f"{100 * compute_share(name):.1f}") for name in NAMES]


def test_a_run_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="no run 4_faster; runs: 1_small_batch"):
        tutorial_run("4_faster")
