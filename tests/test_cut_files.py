"""A cut file never gives wrong numbers: what is missing from it is withheld."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import commscope
from commscope import sample_traces


@pytest.mark.parametrize("name", ["ddp_straggler", "fsdp", "tp", "ddp_nosteps"])
@pytest.mark.parametrize("share", [0.6, 0.8, 0.95])
def test_cut_trace_withholds_overlap_and_idle(name: str, share: float, tmp_path: Path) -> None:
    text = gzip.decompress((sample_traces.path(name) / "rank0.json.gz").read_bytes())
    file = tmp_path / "rank0.json"
    file.write_bytes(text[: int(share * len(text))])
    try:
        report = commscope.analyze(commscope.load(file))
    except commscope.CorruptTrace:
        return
    assert report.trust.verdict == "unusable"
    assert "the file ends before the trace does" in report.trust_line
    for row in (*report.ranks, *report.steps):
        assert row["exposed_comm_ns"] is None
        assert row["idle_ns"] is None


def test_a_cut_rank_is_left_out_of_the_sentence(tmp_path: Path) -> None:
    source = sample_traces.path("ddp_straggler")
    text = gzip.decompress((source / "rank0.json.gz").read_bytes())
    (tmp_path / "rank0.json").write_bytes(text[: len(text) * 3 // 4])
    (tmp_path / "rank1.json.gz").write_bytes((source / "rank1.json.gz").read_bytes())
    report = commscope.analyze(commscope.load(tmp_path))
    assert report.trust.verdict == "limited"
    assert "all of rank 0: see Trust." in report.summary.verdict


def test_a_file_cut_behind_its_events_is_whole_enough(tmp_path: Path) -> None:
    text = gzip.decompress((sample_traces.path("ddp_straggler") / "rank0.json.gz").read_bytes())
    file = tmp_path / "rank0.json"
    file.write_bytes(text[: text.rindex(b'"traceName"')])
    report = commscope.analyze(commscope.load(file))
    assert report.trust.verdict == "ok"
    assert [row["exposed_comm_ns"] for row in report.ranks] == [84_391_134]
