"""Records of profiler plug-ins: Inspector's JSON and Prometheus text, and accl-profiler's JSON."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import case

from commscope.engine.neighbors import Neighbors, load_neighbors
from commscope.neighbor_schema import RECORDS
from commscope.parsers.inspector import read_records
from commscope.parsers.row_builder import RowBuilder

_ACCL = {
    "header": {"rank": 3, "n_ranks": 8},
    "coll_perf": {
        "coll": "AllGather", "coll_sn": 10, "coll_msg_size_bytes": 1_000_000,
        "coll_algo": "Ring", "coll_proto": "Simple", "coll_n_channels": 4,
        "coll_exec_time_us": 100.0, "coll_algobw_gbs": 0.01, "coll_busbw_gbs": 0.00875,
        "coll_timing_source": "gpu_globaltimer",
        "decomposition": {
            "enqueue_to_kernel_us": 5.2, "gpu_kernel_max_us": 45.4, "proxy_gpu_wait_us": 12.8,
            "proxy_network_us": 1.2, "proxy_peer_wait_us": 38.7, "proxy_flush_us": 42.3,
        },
    },
}  # fmt: skip
_LABELS = 'version="v5.1",node="n1",gpu="GPU0",comm_name="unknown",n_nodes="2",nranks="16"'


def read(path: Path, *lines: str) -> Neighbors:
    path.write_text("\n".join(lines), encoding="utf-8")
    found = load_neighbors([path])
    assert found is not None
    return found


def rows_of(found: Neighbors) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = found.tables["RECORDS"].to_pylist()
    return rows


def said(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def test_facts_of_the_documented_records() -> None:
    found = load_neighbors([case("rccl_logs/nccl_inspector_records.jsonl")])
    assert found is not None
    one, two = rows_of(found)
    assert said(one, "op", "rank", "nranks", "nnodes", "seq", "bytes", "exec_time_us") == (
        "all_reduce", 2, 8, 1, 1407, 16 << 30, 61974
    )  # fmt: skip
    assert one["busbw_gbps"] / one["algbw_gbps"] == pytest.approx(1.75)
    assert said(two, "op", "message_bytes", "bytes", "timing_source", "channels", "kernel_us") == (
        "reduce_scatter", 2 << 30, 16 << 30, "kernel_gpu", 1, 40630
    )  # fmt: skip
    assert two["bytes"] / two["exec_time_us"] / 1e3 == pytest.approx(two["algbw_gbps"])
    assert two["busbw_gbps"] == pytest.approx(two["algbw_gbps"] * 7 / 8)


def test_accl_counts_the_bytes_of_all_ranks_whatever_it_prints(tmp_path: Path) -> None:
    path = tmp_path / "accl_profiler_rank3_node7_pid77_0xabc.jsonl"
    (row,) = rows_of(read(path, json.dumps(_ACCL)))
    assert said(row, "source", "host", "pid", "comm_id", "bytes", "algbw_gbps", "busbw_gbps") == (
        "accl", "node7", 77, "0xabc", 8_000_000, 80.0, pytest.approx(70.0)
    )  # fmt: skip
    assert said(row, "algorithm", "protocol", "channels", "kernel_us", "network_us") == (
        "ring", "simple", 4, 45.4, 1.2
    )  # fmt: skip


def test_what_accl_lost_is_told(tmp_path: Path) -> None:
    lost = {"summary": {"dropped_collectives": 2, "leaked_collectives": 1, "complete": False}}
    found = read(tmp_path / "x.jsonl", json.dumps(_ACCL), json.dumps(lost))
    assert found.files[0].says is not None
    assert "lost 3 collectives" in found.files[0].says
    whole = {"summary": {"dropped_collectives": 0, "complete": True}}
    assert read(tmp_path / "y.jsonl", json.dumps(_ACCL), json.dumps(whole)).files[0].says is None


def test_sends_and_receives(tmp_path: Path) -> None:
    perf = {
        "p2p": "Send",
        "p2p_sn": 4,
        "p2p_peer": 1,
        "p2p_msg_size_bytes": 99,
        "p2p_exec_time_us": 2,
    }
    record = {"header": {"id": "0x1", "comm_name": "PP", "rank": 0, "n_ranks": 2}, "p2p_perf": perf}
    (row,) = rows_of(read(tmp_path / "x.jsonl", json.dumps(record)))
    assert said(row, "op", "peer", "seq", "bytes", "comm_name") == ("send", 1, 4, 99, "PP")


def test_samples_of_equal_labels_are_one_row(tmp_path: Path) -> None:
    coll = f'{{{_LABELS},collective="AllReduce",message_size="1-2MB",algo_proto="TREE_LL128"}}'
    p2p = f'{{{_LABELS},p2p_operation="Recv",message_size="8-9MB"}}'
    rows = rows_of(
        read(
            tmp_path / "nccl_inspector_metrics.prom",
            "# TYPE nccl_bus_bandwidth_gbs gauge",
            f"nccl_bus_bandwidth_gbs{coll} 34.25",
            f"nccl_p2p_bus_bandwidth_gbs{p2p} 3",
            f"nccl_collective_exec_time_microseconds{coll} 58.5",
        )
    )
    names = (
        "op",
        "nranks",
        "size_range",
        "algorithm",
        "protocol",
        "busbw_gbps",
        "exec_time_us",
        "line",
    )
    assert said(rows[0], *names) == ("all_reduce", 16, "1-2MB", "tree", "ll128", 34.25, 58.5, 2)
    assert said(rows[1], *names) == ("recv", 16, "8-9MB", None, None, 3, None, 3)
    assert said(rows[0], "host", "comm_name", "nnodes") == ("n1", None, 2)


_LINE = json.dumps(_ACCL).encode()


@given(st.integers(0, len(_LINE) - 1))
def test_a_torn_record_is_counted(end: int) -> None:
    table = RowBuilder(RECORDS, "RECORDS")
    found = read_records(enumerate([_LINE, _LINE[:end], _LINE], 1), "x", table)
    assert (found.rows, found.lost) == (2, int(end > 0))


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b'{"coll_perf": 5}',
        b'{"coll_perf": {}}',
        b"{" * 100_000,
        b'{"header": {"rank": "x"}}',
    ],
)
def test_other_objects_are_counted_as_lost(line: bytes) -> None:
    table = RowBuilder(RECORDS, "RECORDS")
    assert read_records([(1, line)], "x", table).lost == 1


def test_numbers_that_no_column_holds_become_null(tmp_path: Path) -> None:
    strange = {**_ACCL, "header": {"rank": 2**40, "n_ranks": 8}}
    strange["coll_perf"] = {"coll": "AllReduce", "coll_sn": 2**63, "coll_msg_size_bytes": 1}
    (row,) = rows_of(read(tmp_path / "x.jsonl", json.dumps(strange)))
    assert said(row, "rank", "seq", "bytes") == (None, None, 1)


@pytest.mark.parametrize("digits", [19, 20, 30, 400])
@pytest.mark.parametrize(
    "name", ["coll_msg_size_bytes", "coll_sn", "coll_exec_time_us", "coll_algobw_gbs",
             "coll_busbw_gbs", "coll_n_channels", "n_ranks", "rank"]
)  # fmt: skip
def test_numbers_that_no_column_holds_are_null(digits: int, name: str, tmp_path: Path) -> None:
    text = re.sub(rf'("{name}": )[\d.]+', rf"\g<1>{'9' * digits}", json.dumps(_ACCL))
    (row,) = rows_of(read(tmp_path / "a.jsonl", text))
    assert row["op"] == "all_gather"
    assert all(abs(value) < 2**63 for value in row.values() if isinstance(value, int))
    assert all(math.isfinite(value) for value in row.values() if isinstance(value, float))
    if name == "coll_msg_size_bytes":
        assert said(row, "message_bytes", "bytes") == (None, None)
