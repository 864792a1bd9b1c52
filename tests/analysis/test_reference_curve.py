"""The curve of measured bandwidths, against values worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import case

from commscope.analysis.bandwidth import Message, bandwidth_of
from commscope.analysis.hardware import part_of
from commscope.analysis.reference import Curve, Reference, reference_of
from commscope.engine.neighbors import load_reference
from commscope.neighbor_schema import BENCHMARKS
from commscope.schema import table_of


def measured(*rows: tuple[int, float], **changes: Any) -> pa.Table:
    """A table of all_reduce on 8 ranks: bytes and time in us."""
    shared = {"file": "runs/rccl.txt", "op": "all_reduce", "ranks": 8, "in_place": False, **changes}
    made = [{**shared, "bytes": size, "time_us": time} for size, time in rows]
    return table_of({n: [row.get(n) for row in made] for n in BENCHMARKS.names}, BENCHMARKS, "t")


def reference(*tables: pa.Table) -> Reference:
    found = reference_of(pa.concat_tables(tables))
    assert found is not None
    return found


def test_measured_sizes_give_what_was_measured() -> None:
    found = reference(measured((1_000_000, 50.0), (4_000_000, 80.0)))
    # 1 MB in 50 us is 20 GB/s, of which 7/4 go over the bus; 4 MB in 80 us is 50 GB/s.
    assert found.expected_busbw("all_reduce", 8, 1_000_000).busbw_gbps == pytest.approx(35.0)
    assert found.expected_busbw("all_reduce", 8, 4_000_000).busbw_gbps == pytest.approx(87.5)


def test_between_sizes_logarithms_are_on_a_line() -> None:
    found = reference(measured((1_000_000, 50.0), (4_000_000, 80.0)))
    # 2 MB is half way from 1 to 4 MB in logarithms: the root of 35 times 87.5.
    halfway = found.expected_busbw("all_reduce", 8, 2_000_000)
    assert halfway.busbw_gbps == pytest.approx(math.sqrt(35 * 87.5))
    assert halfway.source == "rccl.txt"


def test_outside_the_ends_stand_and_are_said() -> None:
    found = reference(measured((1_000_000, 50.0), (4_000_000, 80.0)))
    above = found.expected_busbw("all_reduce", 8, 10**9)
    assert above.busbw_gbps == pytest.approx(87.5)
    assert above.source == "rccl.txt of 4.000 MB, the largest size measured"
    below = found.expected_busbw("all_reduce", 8, 1_000)
    assert below.busbw_gbps == pytest.approx(35 / 1000), "it takes the 50 us of 1 MB"
    assert below.source == "rccl.txt of 1.000 MB, the smallest size measured"


def test_real_results() -> None:
    found = reference(load_reference(case("rccl_logs/rccl_tests_allreduce_8xmi300x.txt")))
    largest = found.expected_busbw("all_reduce", 8, 8 << 30)
    assert largest.busbw_gbps == pytest.approx(315.69, abs=0.01)
    assert largest.source == "rccl_tests_allreduce_8xmi300x.txt"
    # 3 MiB: 2 MiB took 36.68 us, 4 MiB 52.96 us.
    rates = [1.75 * (n << 20) / time / 1e3 for n, time in ((2, 36.68), (4, 52.96))]
    share = math.log2(1.5)
    expected = rates[0] ** (1 - share) * rates[1] ** share
    assert found.expected_busbw("all_reduce", 8, 3 << 20).busbw_gbps == pytest.approx(expected)


def test_small_messages_keep_the_digits_that_the_table_drops() -> None:
    found = reference(load_reference(case("rccl_logs/rccl_tests_allreduce_8xmi300x.txt")))
    assert found.expected_busbw("all_reduce", 8, 8).busbw_gbps == pytest.approx(
        1.75 * 8 / 19.28 / 1e3
    )


@pytest.mark.parametrize(
    ("op", "source"),
    [
        ("all_gather", "rccl.txt of all_reduce"), ("reduce", "rccl.txt of all_reduce"),
        ("all_to_all", None), ("send", None), ("barrier", None),
    ],
)  # fmt: skip
def test_other_operations_of_the_same_pattern_stand_in(op: str, source: str | None) -> None:
    found = reference(measured((1_000_000, 50.0)))
    assert found.expected_busbw(op, 8, 1_000_000).source == source


def test_each_operation_and_number_of_ranks_has_its_own_curve() -> None:
    found = reference(
        measured((1_000_000, 50.0)),
        measured((1_000_000, 100.0), ranks=4),
        measured((1_000_000, 25.0), op="all_gather"),
        measured((1_000_000, 20.0), op="send", ranks=2),
    )
    assert found.expected_busbw("all_reduce", 4, 1_000_000).busbw_gbps == pytest.approx(15.0)
    gather = found.expected_busbw("all_gather", 8, 1_000_000)
    assert gather.busbw_gbps == pytest.approx(35.0)
    assert gather.source == "rccl.txt"
    receive = found.expected_busbw("recv", 2, 1_000_000)
    assert receive.busbw_gbps == pytest.approx(50.0)
    assert receive.source == "rccl.txt"
    assert found.expected_busbw("all_reduce", 2, 1_000_000).busbw_gbps is None


def test_out_of_place_stands_before_in_place_and_the_median_of_several() -> None:
    rows = [measured((1_000_000, time)) for time in (50.0, 100.0, 25.0)]
    in_place = measured((1_000_000, 1.0), (2_000_000, 100.0), in_place=True)
    found = reference(*rows, in_place)
    assert found.expected_busbw("all_reduce", 8, 1_000_000).busbw_gbps == pytest.approx(35.0)
    assert found.expected_busbw("all_reduce", 8, 2_000_000).busbw_gbps == pytest.approx(35.0)


@pytest.mark.parametrize(
    "table",
    [
        measured(),
        measured((0, 5.0)),
        measured((8, 0.0)),
        measured((8, 5.0), op=None),
        measured((8, 5.0), ranks=1),
        measured((8, 5.0), ranks=None),
    ],
)
def test_rows_that_tell_nothing_give_no_reference(table: pa.Table) -> None:
    assert reference_of(table) is None


@given(st.integers(1, 2**50))
def test_expectations_never_leave_what_was_measured(size: int) -> None:
    curve = Curve(np.log(np.array([1e3, 1e6, 1e9])), np.log(np.array([1.0, 300.0, 200.0])))
    assert curve.at(size) <= 300 * (1 + 1e-9)
    assert (curve.beyond(size) is None) == (10**3 <= size <= 10**9)


def test_a_reference_goes_before_the_model_of_the_links() -> None:
    found = reference(measured((1_000_000, 50.0)))
    message = Message("all_reduce", 1_000_000, 8, 100_000, True, one_host=True)
    mi300x = part_of("AMD Instinct MI300X")
    assert bandwidth_of(message, mi300x, found).expected_from == "rccl.txt"
    modelled = bandwidth_of(message, mi300x)
    assert modelled.expected_from == "model of the links of MI300X/MI325X"
    other = Message("all_to_all", 1_000_000, 8, 100_000, True, one_host=True)
    assert bandwidth_of(other, mi300x, found).expected_from == modelled.expected_from


def test_a_reference_is_of_use_between_hosts_too() -> None:
    message = Message("all_reduce", 1_000_000, 8, 100_000, True, one_host=False)
    assert bandwidth_of(message, None).expected_from is None
    found = bandwidth_of(message, None, reference(measured((1_000_000, 50.0))))
    assert found.expected_busbw_gbps == pytest.approx(35.0)
