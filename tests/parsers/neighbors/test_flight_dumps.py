"""From dumps of the Flight Recorder to FLIGHT and FLIGHT_GROUPS."""

from __future__ import annotations

import gzip
import json
import pickle
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from flight_dumps import dump, entry, waiting
from hypothesis import given
from hypothesis import strategies as st

from commscope.engine.neighbors import load_neighbors
from commscope.errors import CorruptTrace, FormatError
from commscope.logs.hangs import find_hangs
from commscope.neighbor_schema import FLIGHT, FLIGHT_GROUPS
from commscope.parsers.flight_recorder import read_dump
from commscope.parsers.flight_recorder.dump import rank_of
from commscope.parsers.opening import Source
from commscope.parsers.row_builder import RowBuilder


def tables_of(*files: Path) -> dict[str, pa.Table]:
    found = load_neighbors(files)
    assert found is not None
    return found.tables


def rows_of(*files: Path, table: str = "FLIGHT") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tables_of(*files)[table].to_pylist()
    return rows


def written(path: Path, value: Any, protocol: int = 2) -> Path:
    path.write_bytes(pickle.dumps(value, protocol))
    return path


def test_an_entry_keeps_all_that_it_says(tmp_path: Path) -> None:
    (row,) = rows_of(written(tmp_path / "nccl_trace_rank_3", dump(3, [waiting(7, 3)])))
    assert row == {
        "file": "nccl_trace_rank_3", "rank": 3, "record": 6, "group": "0",
        "description": "default_pg", "group_id": 0, "seq": 7, "p2p_seq": 0, "op_id": 7,
        "is_p2p": False, "op": "all_reduce", "input_sizes": "32x32", "input_dtypes": "Float",
        "output_sizes": "32x32", "output_dtypes": "Float", "elements_in": 1024,
        "elements_out": 1024, "state": "started", "created_ns": 1_700_000_000_007_000_003,
        "started_ns": None, "completed_ns": None, "duration_ms": None, "timeout_ms": 600_000,
        "retired": False, "frame": "step (/job/train.py:42)",
    }  # fmt: skip


def test_groups_tell_members_and_progress(tmp_path: Path) -> None:
    path = written(tmp_path / "nccl_trace_rank_3", dump(3, [entry(6), waiting(7, 3)], ranks=4))
    (row,) = rows_of(path, table="FLIGHT_GROUPS")
    assert row["ranks"] == [0, 1, 2, 3]
    assert (row["last_enqueued"], row["last_started"], row["last_completed"]) == (7, None, 6)


def test_progress_of_a_group_is_found_by_its_number(tmp_path: Path) -> None:
    it = dump(0, [entry(5, pg_id=9, process_group=["tp", "tensor"])])
    it["pg_config"]["tp"] = {"name": "tp", "desc": "tensor", "ranks": [0, 1]}
    it["pg_status"] = {"9": {"last_enqueued_collective": "5", "last_completed_collective": "5"}}
    rows = {r["group"]: r for r in rows_of(written(tmp_path / "d_0", it), table="FLIGHT_GROUPS")}
    assert rows["tp"]["last_enqueued"] == 5
    assert rows["tp"]["ranks"] == [0, 1]
    assert rows["0"]["last_enqueued"] is None


def test_json_and_packed_dumps_say_the_same(tmp_path: Path) -> None:
    it = dump(3, [entry(1), waiting(2, 3)])
    plain = written(tmp_path / "a_rank_3", it)
    text = tmp_path / "b_rank_3.json"
    text.write_text(json.dumps(it), encoding="utf-8")
    packed = tmp_path / "c_rank_3.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    newest = written(tmp_path / "d_rank_3.pkl", it, 5)
    found = [
        tables_of(path)["FLIGHT"].drop_columns(["file"]) for path in (plain, text, packed, newest)
    ]
    assert all(table.equals(found[0]) for table in found)


@pytest.mark.parametrize(
    ("label", "rank"),
    [
        ("nccl_trace_rank_12", 12), ("run/my_prefix17", 17), ("trace_rank_3.2024.pkl", 3),
        ("x_5.json.gz", 5), ("rank7/dump.pkl", 7), ("dump", None), ("Rank-04_late", 4),
        ("a99999999999", None),
    ],
)  # fmt: skip
def test_the_name_tells_the_rank(label: str, rank: int | None) -> None:
    assert rank_of(label) == rank


def test_what_is_out_of_place_becomes_null(tmp_path: Path) -> None:
    strange = entry(
        1, input_sizes=[[2**62, 4]], output_sizes="x", input_dtypes=[1], state=5, pg_id=2**70,
        frames=[{"line": "x"}], time_created_ns=1.5, duration_ms=float("nan"), retired=1,
        process_group=5, profiling_name=["x"],
    )  # fmt: skip
    (row,) = rows_of(written(tmp_path / "d_0", dump(0, [strange])))
    null = set(row) - {name for name, value in row.items() if value is not None}
    assert null >= {
        "elements_in", "output_sizes", "input_dtypes", "state", "group_id", "created_ns",
        "duration_ms", "retired", "group", "op",
    }  # fmt: skip


def test_entries_that_are_none_are_counted(tmp_path: Path) -> None:
    found = load_neighbors(
        [written(tmp_path / "d_0", {**dump(0, [entry(1)]), "entries": [1, entry(1)]})]
    )
    assert found is not None
    assert (found.files[0].rows, found.files[0].lost) == (1, 1)


def test_a_list_that_all_entries_share_is_looked_at_once(tmp_path: Path) -> None:
    """Entries times sizes would be 4e8 numbers."""
    sizes = [[1]] * 20_000
    one = entry(1, input_sizes=sizes, input_dtypes=["Float"] * 20_000)
    rows = rows_of(written(tmp_path / "d_0", dump(0, [one] * 20_000)))
    assert len(rows) == 20_000
    assert rows[0]["elements_in"] == 20_000
    assert rows[0]["input_sizes"] == "1, 1, 1, 1, 1, 1, 1, 1 and 19,992 more"


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
_WHOLE = dump(0, [entry(1)])


@given(st.sampled_from(sorted(_WHOLE)), st.sampled_from(sorted(entry(1))), _ANYTHING)
def test_any_value_in_any_place_gives_rows_or_one_clear_error(
    key: str, name: str, value: Any
) -> None:
    read_value({**_WHOLE, key: value})
    read_value(with_value(name, value))
    read_value({**_WHOLE, "pg_config": {"0": value}, "pg_status": {"0": value}})


def with_value(name: str, value: Any) -> Any:
    """A dump whose first entry has this value in this place."""
    it = dump(0, [entry(1), entry(2)])
    it["entries"][0][name] = value
    return it


def read_value(value: Any) -> None:
    flight, groups = RowBuilder(FLIGHT, "FLIGHT"), RowBuilder(FLIGHT_GROUPS, "FLIGHT_GROUPS")
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder) / "d_0", value)
        try:
            read_dump(Source(path, label="d_0"), flight, groups)
        except FormatError as error:
            assert str(error).startswith("d_0: ")  # noqa: PT017 - both outcomes are right
    assert find_hangs(neighbors={"FLIGHT": flight.table(), "FLIGHT_GROUPS": groups.table()}) == ()


@pytest.mark.parametrize("name", sorted(entry(1)))
def test_values_that_double_or_hold_themselves_are_not_walked(name: str) -> None:
    doubled: Any = ()
    for _ in range(200):
        doubled = (doubled, doubled)
    ring: list[Any] = []
    ring.append(ring)
    for value in (doubled, ring):
        read_value(with_value(name, value))


def test_a_dump_whose_name_tells_no_rank_is_noted(tmp_path: Path) -> None:
    found = load_neighbors([written(tmp_path / "dump", dump(0, [entry(1)]))])
    assert found is not None
    assert "a dump whose name tells no rank" in found.notes[0]
    assert found.tables["FLIGHT"].column("rank").to_pylist() == [None]


def test_another_pickle_is_no_dump(tmp_path: Path) -> None:
    with pytest.raises(CorruptTrace, match="is no dump of the Flight Recorder"):
        load_neighbors([written(tmp_path / "d_0", {"pg_config": {}})])
    with pytest.raises(CorruptTrace, match="has no entries"):
        load_neighbors([written(tmp_path / "d_1", {"weights": [1]})])


def test_pickles_in_a_folder_that_are_no_dumps_are_passed_over(tmp_path: Path) -> None:
    written(tmp_path / "model.pkl", {"weights": [1]})
    assert load_neighbors([tmp_path]) is None


def test_json_that_is_cut_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "d_0.json"
    path.write_text(json.dumps(dump(0, [entry(1)]))[:-1], encoding="utf-8")
    with pytest.raises(CorruptTrace, match=r"^d_0.json: the JSON of this dump is cut or damaged"):
        load_neighbors([path])


def test_json_that_nests_deep_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "d_0.json"
    path.write_text('{"pg_config": ' + "[" * 100_000, encoding="utf-8")
    with pytest.raises(FormatError, match=r"^d_0.json: "):
        load_neighbors([path])


def test_one_damaged_dump_does_not_hide_the_others(tmp_path: Path) -> None:
    good = written(tmp_path / "d_0", dump(0, [entry(1)]))
    bad = tmp_path / "d_1"
    bad.write_bytes(good.read_bytes()[:-20])
    found = load_neighbors([good, bad])
    assert found is not None
    assert found.tables["FLIGHT"].num_rows == 1
    assert "d_1: the pickle is cut after" in found.notes[0]


def test_an_entry_that_is_repeated_without_end_is_read_so_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commscope.parsers.flight_recorder.dump._MOST_ENTRIES", 100)
    path = written(tmp_path / "nccl_trace_rank_3", dump(3, [waiting(7, 3)] * 1000))
    found = load_neighbors([path])
    assert found is not None
    assert (found.files[0].rows, found.files[0].lost) == (100, 900)
    assert found.tables["FLIGHT"].num_rows == 100
