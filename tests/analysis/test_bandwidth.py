"""Bandwidths from transfers, what links give, and the measured bandwidths of two real GPUs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from matched import match_case
from support import case

from commscope.analysis.bandwidth import Message, bandwidth_of, bus_factor
from commscope.analysis.hardware import PARTS, Part, expected_busbw_gbps, part_of
from commscope.columns import codes, int64

H200 = part_of("NVIDIA H200")
MI300X = part_of("AMD Instinct MI300X")


@pytest.mark.parametrize(
    ("op", "members", "factor"),
    [
        ("all_reduce", 2, 1), ("all_reduce", 8, 1.75), ("all_gather", 8, 0.875),
        ("reduce_scatter", 4, 0.75), ("all_to_all", 4, 0.75), ("broadcast", 8, 1), ("reduce", 8, 1),
        ("send", 2, 1), ("recv", 2, 1), ("barrier", 8, None), (None, 8, None),
        ("all_reduce", 1, None),
    ],
)  # fmt: skip
def test_bus_factors_are_those_of_nccl_tests(
    op: str | None, members: int, factor: float | None
) -> None:
    assert bus_factor(op, members) == factor


def test_bandwidth_in_closed_form() -> None:
    found = bandwidth_of(Message("all_reduce", 8_000_000, 8, 100_000, True, True), MI300X)
    assert (found.algbw_gbps, found.busbw_gbps, found.note) == (80.0, 140.0, None)
    # 14 MB on the bus at 7 links of 48 GB/s, and 15 us.
    assert found.expected_busbw_gbps == pytest.approx(14e6 / (15e-6 + 14e6 / 336e9) / 1e9)


@pytest.mark.parametrize(
    ("message", "missing"),
    [
        (Message("all_reduce", None, 8, 1_000, True, True), "size"),
        (Message("all_reduce", 8, None, 1_000, True, True), "group"),
        (Message("all_reduce", 8, 8, None, True, True), "time"),
        (Message(None, 8, 8, 1_000, True, True), "operation"),
        (Message("all_reduce", 8, 1, 1_000, True, True), "group of one"),
    ],
)
def test_a_bandwidth_that_lacks_a_number_is_withheld(message: Message, missing: str) -> None:
    found = bandwidth_of(message, H200)
    assert (found.algbw_gbps, found.busbw_gbps) == (None, None)
    assert found.note is not None
    assert missing in found.note


def test_no_bandwidth_above_the_links() -> None:
    just = bandwidth_of(Message("all_reduce", 540_000, 2, 1_000, True, True), H200)
    assert just.busbw_gbps == 540
    above = bandwidth_of(Message("all_reduce", 541_000, 2, 1_000, True, True), H200)
    assert above.busbw_gbps is None
    assert above.note is not None
    assert "more than the links carry" in above.note


def test_between_hosts_nothing_is_expected() -> None:
    found = bandwidth_of(Message("all_reduce", 10**9, 2, 1_000_000, True, False), H200)
    assert (found.busbw_gbps, found.expected_busbw_gbps) == (1000, None)


def test_the_time_of_one_rank_gives_a_lower_bound() -> None:
    found = bandwidth_of(Message("broadcast", 1_000_000, 8, 100_000, False, True), H200)
    assert found.busbw_gbps == 10
    assert found.note is not None
    assert "lower bound" in found.note


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_what_is_expected_grows_with_size_up_to_the_model(part: Part) -> None:
    sizes = [1 << power for power in range(10, 35)]
    found = [expected_busbw_gbps(part, 8, size, 1.75) for size in sizes]
    assert found == sorted(found)
    assert 0.95 * part.model(8) < found[-1] < part.model(8) < part.peak(8)


def test_a_mesh_has_a_link_to_each_peer_and_a_switch_has_all() -> None:
    assert MI300X is not None
    assert H200 is not None
    assert [MI300X.model(n) for n in (2, 4, 8, 16)] == [48, 144, 336, 336]
    assert H200.model(2) == H200.model(8) == pytest.approx(18 * 20.6)


@pytest.mark.parametrize(
    ("gpu", "name"),
    [
        ("AMD Instinct MI300X", "MI300X/MI325X"), ("AMD Instinct MI325X", "MI300X/MI325X"),
        ("AMD Instinct MI355X", "MI350X/MI355X"), ("AMD Instinct MI250X", "MI250"),
        ("NVIDIA H100 80GB HBM3", "H100/H200"), ("NVIDIA GB200", "B200"),
        ("NVIDIA A100-SXM4-80GB", "A100"), ("Tesla V100-SXM2-32GB", "V100"),
    ],
)  # fmt: skip
def test_parts_by_product_name(gpu: str, name: str) -> None:
    found = part_of(gpu)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "gpu",
    [
        None, "", "NVIDIA H100 PCIe", "NVIDIA H100 NVL", "NVIDIA A100-PCIE-40GB",
        "Tesla V100-PCIE-16GB", "AMD Instinct MI210", "AMD Instinct MI300A", "NVIDIA L40S",
    ],
)  # fmt: skip
def test_other_products_are_not_guessed(gpu: str | None) -> None:
    assert part_of(gpu) is None


def _measured() -> dict[tuple[str, int], tuple[int, float]]:
    """By operation and size: median transfer of the trace in ns, time between events in us."""
    found = match_case("h200/busbw")
    code, words = codes(found.analysis.collectives, "op")
    size = int64(found.analysis.collectives, "bytes")
    rows, transfer = found.matching.first_row, found.matching.transfer_of_ns
    times = json.loads(case("h200/busbw/event_times.json").read_text(encoding="utf-8"))
    result = {}
    for time in times:
        mine = (code[rows] == words.index(time["op"])) & (size[rows] == time["bytes"])
        assert mine.sum() == 3
        result[time["op"], time["bytes"]] = (int(np.median(transfer[mine])), time["us"])
    return result


def test_real_bandwidths_equal_the_measured_ones() -> None:
    measured = _measured()
    assert len(measured) == 25
    for (op, size), (transfer_ns, event_us) in measured.items():
        found = bandwidth_of(Message(op, size, 2, transfer_ns, True, True), H200)
        factor = bus_factor(op, 2)
        assert found.note is None
        assert found.busbw_gbps is not None
        assert found.expected_busbw_gbps is not None
        assert factor is not None
        assert transfer_ns <= event_us * 1000
        if size == 256 << 20:
            assert found.busbw_gbps == pytest.approx(factor * size / event_us / 1000, rel=0.06)
        if size >= 64_000_000:
            assert found.busbw_gbps > 0.6 * found.expected_busbw_gbps
