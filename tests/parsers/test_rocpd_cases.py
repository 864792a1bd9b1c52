"""The real rocpd databases: figures that were counted independently."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from one_file import read_one
from support import case

import commscope
from commscope.columns import int64

#: file, kernels, sum and span of kernels in ns, calls in all, process
_FACTS = {
    "trace_20251121_4ebf2d55103f_15_results.db.gz": (301, 11_029_243, 26_213_329, 623, 15),
    "bmm_20251223_e81697c6bc31_15_results.db.gz": (301, 3_810_437, 21_314_620, 624, 15),
    "ck_bmm_37ca13315e70_28_results.db.gz": (151, 2_604_546, 15_719_660, 629, 28),
}


@pytest.mark.parametrize("name", _FACTS)
def test_the_figures_are_those_that_were_verified(name):
    kernels, busy, span, calls, pid = _FACTS[name]
    reading = read_one(case(f"amd/rocpd/{name}"))
    start, length = int64(reading.events, "start_ns"), int64(reading.events, "dur_ns")
    assert reading.events.num_rows == kernels
    assert Counter(reading.events.column("kind").to_pylist()) == {"kernel": kernels}
    assert int(length.sum()) == busy
    assert int((start + length).max() - start.min()) == span
    assert reading.health.events_read == kernels + calls
    assert reading.facts.pid == pid
    assert reading.facts.versions == {"rocpd_schema": "3"}
    assert reading.facts.gpu_names == ("AMD Instinct MI300X",) * 8
    assert set(reading.events.column("device").to_pylist()) == {0}
    assert not reading.health.is_damaged


@pytest.mark.parametrize("name", _FACTS)
def test_every_kernel_finds_the_call_that_launched_it(name):
    trace = commscope.load([case(f"amd/rocpd/{name}")])
    assert trace.events.column("launch_ns").null_count == 0
    launch, start = int64(trace.events, "launch_ns"), int64(trace.events, "start_ns")
    assert (launch < start).all()
    assert set(trace.ranks.column("gpu").to_pylist()) == {"AMD Instinct MI300X"}


def test_the_names_are_those_of_the_kernels():
    reading = read_one(case("amd/rocpd/trace_20251121_4ebf2d55103f_15_results.db.gz"))
    names = Counter(reading.events.column("name").to_pylist())
    assert len(names) == 2
    assert names["__amd_rocclr_fillBufferAligned"] == 151
    reading = read_one(case("amd/rocpd/ck_bmm_37ca13315e70_28_results.db.gz"))
    assert max(map(len, set(reading.events.column("name").to_pylist()))) > 2000


def test_work_groups_are_whole_numbers_of_groups():
    reading = read_one(case("amd/rocpd/trace_20251121_4ebf2d55103f_15_results.db.gz"))
    groups = int64(reading.events, "workgroups")
    assert set(np.unique(groups).tolist()) == {304, 2048}


def test_nothing_of_the_environment_reaches_a_report():
    """The environment of this process names its tools' libraries."""
    path = case("amd/rocpd/trace_20251121_4ebf2d55103f_15_results.db.gz")
    report = commscope.analyze(commscope.load([path])).to_json()
    for word in ("LD_PRELOAD", "ROCP_TOOL", "HSA_TOOLS", "/opt/"):
        assert word not in report
