"""Results of nccl-tests and rccl-tests: real ones, and all shapes that versions and jobs give."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import case

from commscope.engine.neighbors import Neighbors, load_neighbors
from commscope.errors import CorruptTrace
from commscope.neighbor_schema import BENCHMARK_DEVICES, BENCHMARKS
from commscope.parsers.perf_tests import Benchmarks, read_document, read_table
from commscope.parsers.row_builder import RowBuilder

_SECRET = "do-not-copy-this-into-a-report"
_TIMED = " time   algbw   busbw #wrong"
_HEAD = f"#       size         count      type   redop    root    {_TIMED}    {_TIMED}"
_ROW = (
    "     1048576        262144     float     sum      -1    28.39   36.94   64.64      0"
    "    28.04   37.40   65.45      0"
)
_DEVICES = [
    f"#  Rank  {n} Group  0 Pid   70{n} on node device  {n} [0000:{n}5:00] Some GPU"
    for n in range(8)
]


def table_of(*lines: str) -> Benchmarks:
    return read_table(enumerate((line.encode() for line in lines), 1))


def rows_of(found: Benchmarks, label: str = "x.txt") -> list[dict[str, Any]]:
    benchmarks = RowBuilder(BENCHMARKS, "BENCHMARKS")
    devices = RowBuilder(BENCHMARK_DEVICES, "BENCHMARK_DEVICES")
    found.add_to(benchmarks, devices, label)
    rows: list[dict[str, Any]] = benchmarks.table().to_pylist()
    return rows


def real(name: str) -> tuple[Neighbors, list[dict[str, Any]]]:
    found = load_neighbors([case(f"rccl_logs/{name}")])
    assert found is not None
    return found, found.tables["BENCHMARKS"].to_pylist()


@pytest.mark.parametrize(
    ("name", "ranks", "hosts", "sizes", "factor", "last", "average"),
    [
        ("rccl_tests_allreduce_8xmi300x.txt", 8, 1, 31, 1.75, (8 << 30, 47617, 315.69), 110.464),
        ("rccl_tests_allreduce_16xmi300x_2node.txt", 16, 2, 32, 1.875, (16 << 30, 90115, 357.46),
         92.3318),
        ("nccl_tests_schema3.json", 8, 1, 3, 1.75, (8 << 30, 47617, 315.693671), 126.947674),
    ],
)  # fmt: skip
def test_facts_of_real_results(  # noqa: PLR0917 - facts of one file
    name: str,
    ranks: int,
    hosts: int,
    sizes: int,
    factor: float,
    last: tuple[int, float, float],
    average: float,
) -> None:
    found, rows = real(name)
    devices = found.tables["BENCHMARK_DEVICES"].to_pylist()
    assert [row["rank"] for row in devices] == list(range(ranks))
    assert len({row["host"] for row in devices}) == hosts
    assert {row["name"] for row in devices} == {"AMD Instinct MI300X"}
    shared = [("op", "all_reduce"), ("ranks", ranks), ("dtype", "float"), ("reduction", "sum")]
    assert all(row[column] == value for row in rows for column, value in (*shared, ("root", None)))
    assert len(rows) == 2 * sizes
    row = next(row for row in rows if row["bytes"] == last[0] and not row["in_place"])
    assert (row["bytes"], row["time_us"], row["busbw_gbps"]) == last
    assert row["wrong"] == 0
    assert row["busbw_gbps"] / row["algbw_gbps"] == pytest.approx(factor, rel=1e-4)
    assert mean(row["busbw_gbps"] for row in rows) == pytest.approx(average, abs=1e-3)
    assert found.files[0].lost == 0


def test_a_number_that_shifts_the_columns_is_read() -> None:
    _, rows = real("rccl_tests_allreduce_16xmi300x_2node.txt")
    row = next(row for row in rows if row["bytes"] == 128 << 20 and not row["in_place"])
    assert (row["time_us"], row["algbw_gbps"], row["busbw_gbps"]) == (1448.8, 92.64, 173.70)


def test_the_secret_of_the_environment_appears_nowhere(tmp_path: Path) -> None:
    found, _ = real("nccl_tests_schema3.json")
    said = [repr(found), *(repr(table.to_pylist()) for table in found.tables.values())]
    text = case("rccl_logs/nccl_tests_schema3.json").read_bytes()
    assert _SECRET.encode() in text
    for end in range(1, len(text)):
        with pytest.raises(CorruptTrace) as refused:
            read_document(text[:end], "x.json")
        said.append(repr(refused.value) + repr(refused.value.__cause__))
        assert refused.value.__suppress_context__
    assert not any(_SECRET in it or "SECRET_TOKEN" in it for it in said)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_json_of_all_schemas(version: int) -> None:
    time = "time" if version > 1 else "cpu_time"
    half = {time: "12.5", "alg_bw": "nan", "bus_bw": 3, "nwrong": "N/A"}
    device = {"rank": 0, "group": 0, "pid": 1, "hostname": "h", "device": 0}
    result = {"size": 8, "count": 2, "type": "half", "redop": "none", "root": "   2",
              "out_of_place": half, "in_place": None}  # fmt: skip
    config = {"devices": [device, {**device, "rank": 1}]}
    document = {"version": version, "start_time": "", "args": ["./broadcast_perf"], "env": [],
                "config": config, "results": [result]}  # fmt: skip
    (row,) = rows_of(read_document(json.dumps(document).encode(), "x.json"))
    assert (row["op"], row["ranks"], row["root"], row["reduction"]) == ("broadcast", 2, 2, None)
    assert (row["time_us"], row["algbw_gbps"], row["busbw_gbps"], row["wrong"]) == (
        12.5,
        None,
        3,
        None,
    )


@pytest.mark.parametrize("version", [0, 4, "x", None])
def test_json_of_an_unknown_schema_is_refused(version: object) -> None:
    text = json.dumps({"version": version, "results": []}).encode()
    with pytest.raises(CorruptTrace, match="of a schema that is not known"):
        read_document(text, "x.json")


@pytest.mark.parametrize(
    "prefix", ["", "[1,0]<stdout>:", "node01: ", "2026-01-02 03:04:05 ", "[rank0]: ", "\x1b[0m"]
)
def test_rows_behind_whatever_a_launcher_writes(prefix: str, tmp_path: Path) -> None:
    path = tmp_path / "all_reduce.log"
    lines = [*_DEVICES, _HEAD, _ROW, "node:1:1 [0] NCCL INFO Channel 00/02 : 0 1", _ROW]
    path.write_text("\n".join(prefix + line for line in lines), encoding="utf-8")
    found = load_neighbors([path])
    assert found is not None
    rows = found.tables["BENCHMARKS"].to_pylist()
    assert [(row["bytes"], row["time_us"], row["in_place"], row["ranks"]) for row in rows] == [
        (1 << 20, 28.39, False, 8), (1 << 20, 28.04, True, 8)
    ] * 2  # fmt: skip


@pytest.mark.parametrize(
    ("head", "row", "expected"),
    [
        ("# size count type redop time algbw busbw error time algbw busbw error",
         "64 16 float sum 10 1.00 1.75 0e+00 11 1.00 1.75 N/A",
         [(10, 1.75, 0), (11, 1.75, None)]),
        ("# size count type redop root time algbw busbw #wrong",
         "64 16 float sum -1 10 1.00 1.75 2", [(10, 1.75, 2)]),
        ("# size count type redop root time algbw busbw #wrong time algbw busbw #wrong",
         "64 16 float none -1 10 1.00 0.88 N/A N/A N/A N/A N/A", [(10, 0.88, None)]),
        ("# size count type redop root time algbw busbw min max #wrong algo proto nchannels",
         "64 16 float sum -1 10 1.00 1.75 9 11 0 RING LL128 56", [(10, 1.75, 0)]),
    ],
)  # fmt: skip
def test_columns_are_those_of_the_head(head: str, row: str, expected: list[Any]) -> None:
    rows = rows_of(table_of(*_DEVICES, head, row))
    assert [(r["time_us"], r["busbw_gbps"], r["wrong"]) for r in rows] == expected
    if "algo" in head:
        assert (rows[0]["algorithm"], rows[0]["protocol"], rows[0]["channels"]) == (
            "ring",
            "ll128",
            56,
        )


def test_torn_rows_are_counted_and_left_out() -> None:
    found = table_of(_HEAD, _ROW[:80], _ROW, _ROW + " 1", "8 2 float sum -1 x y z 0 x y z 0")
    assert (found.rows, found.torn) == (2, 3)


@pytest.mark.parametrize("size", ["9" * 19, "9" * 20])
def test_a_size_that_no_column_holds_is_torn(size: str) -> None:
    found = table_of(_HEAD, _ROW.replace("1048576", size), _ROW)
    assert (found.torn, len(rows_of(found))) == (1, 2)


@pytest.mark.parametrize("size", [10**19, 10**25, "9" * 30, "many", None])
def test_a_size_of_json_that_no_column_holds_is_torn(size: object) -> None:
    half = {"time": 1.0, "alg_bw": 2.0, "bus_bw": 3.0}
    results = [{"size": it, "out_of_place": half} for it in (size, 8)]
    devices = [{"rank": rank} for rank in (0, 10**12)]
    document = {"version": 2, "results": results, "devices": devices}
    found = read_document(json.dumps(document).encode(), "x.json")
    assert [row["bytes"] for row in rows_of(found)] == [8]
    assert (found.torn, len(found.runs[0].devices)) == (1, 1)


def test_several_runs_in_one_text_keep_apart() -> None:
    found = table_of(
        "# Collective test starting: all_gather_perf", *_DEVICES, _HEAD, _ROW,
        "# Collective test starting: reduce_scatter_perf", "# Using devices", *_DEVICES[:4], _HEAD,
        _ROW,
    )  # fmt: skip
    rows = rows_of(found)
    assert [(row["op"], row["ranks"]) for row in rows] == [("all_gather", 8)] * 2 + [
        ("reduce_scatter", 4)
    ] * 2


def test_programs_that_do_not_know_of_each_other_are_of_one_rank() -> None:
    assert {row["ranks"] for row in rows_of(table_of(*[_DEVICES[0]] * 8, _HEAD, _ROW))} == {1}


def test_each_half_of_a_split_run_is_a_communicator() -> None:
    devices = [line.replace("Group  0", f"Group  {n % 2}") for n, line in enumerate(_DEVICES)]
    assert {row["ranks"] for row in rows_of(table_of(*devices, _HEAD, _ROW))} == {4}


@pytest.mark.parametrize(
    ("reduction", "root", "busbw", "op"),
    [
        ("sum", "-1", "64.64", "all_reduce"), ("sum", "-1", "32.32", "reduce_scatter"),
        ("none", "-1", "32.32", None), ("none", "0", "36.94", "broadcast"),
        ("sum", "0", "36.94", "reduce"), ("sum", "-1", "50.00", None),
    ],
)  # fmt: skip
def test_the_ratio_tells_the_operation_where_nothing_else_does(
    reduction: str, root: str, busbw: str, op: str | None
) -> None:
    row = f"1048576 262144 float {reduction} {root} 28.39 36.94 {busbw} 0 28.39 36.94 {busbw} 0"
    assert {it["op"] for it in rows_of(table_of(*_DEVICES, _HEAD, row))} == {op}


def test_the_name_of_the_file_tells_the_operation() -> None:
    assert rows_of(table_of(_HEAD, _ROW), "runs/AllToAll-8.txt")[0]["op"] == "all_to_all"


@given(st.text(st.characters(blacklist_categories=("Cs",)), max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    rows_of(table_of(*_DEVICES, _HEAD, *text.split("\n"), _ROW))


@given(st.integers(0, len(_ROW)), st.integers(0, 255))
def test_a_changed_byte_leaves_a_row_or_none(place: int, byte: int) -> None:
    changed = _ROW[:place] + chr(byte) + _ROW[place + 1 :]
    for row in rows_of(table_of(_HEAD, changed)):
        assert row["bytes"] >= 0


def test_zero_bytes_and_a_missing_end_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes("\n".join([*_DEVICES, _HEAD, _ROW]).replace("float", "fl\0oat").encode())
    found = load_neighbors([path])
    assert found is not None
    assert found.tables["BENCHMARKS"].num_rows == 2


def test_a_cut_archive_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.txt.gz"
    text = "\n".join([*_DEVICES, _HEAD, *[f"{n} {_ROW.split(maxsplit=1)[1]}" for n in range(999)]])
    path.write_bytes(gzip.compress(text.encode())[:-400])
    found = load_neighbors([path])
    assert found is not None
    assert 0 < found.tables["BENCHMARKS"].num_rows < 2 * 999
    assert found.notes[0].startswith("x.txt.gz: ")
