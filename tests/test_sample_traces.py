"""The sample traces that come with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

import commscope
from commscope import sample_traces
from commscope.errors import UsageError


def test_there_are_six_or_more() -> None:
    names = sample_traces.names()
    assert "ddp_straggler" in names
    assert len(names) >= 6
    assert names == tuple(sorted(names))


def test_reachable_as_an_attribute() -> None:
    assert commscope.sample_traces is sample_traces


@pytest.mark.parametrize("name", sample_traces.names())
def test_each_is_a_run_of_two_ranks_that_can_be_read(name: str) -> None:
    folder = sample_traces.path(name)
    assert isinstance(folder, Path)
    trace = commscope.load(folder)
    assert trace.ranks.column("rank").to_pylist() == [0, 1]
    assert all(file.cut is None for file in trace.files)


@pytest.mark.parametrize("name", sample_traces.names())
def test_each_is_small(name: str) -> None:
    files = list(sample_traces.path(name).iterdir())
    assert sum(file.stat().st_size for file in files) < 2_000_000


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no sample trace nope; there are .*ddp_straggler"):
        sample_traces.path("nope")


@pytest.mark.parametrize("name", ["", ".", "..", "../sample_traces"])
def test_no_way_out_of_the_folder(name: str) -> None:
    with pytest.raises(UsageError):
        sample_traces.path(name)
