"""Which rank a file is: told, guessed, given, or in conflict."""

from __future__ import annotations

from typing import Any

import pytest
from tables import Gpu, Host, comm, lost, reading, traces

from commscope.errors import RankConflict, UsageError
from commscope.normalize.ranks import rank_in_name, split_ranks
from commscope.parsers.base import Reading


def _ranks(files: list[str], **facts: Any) -> dict[str, tuple[int, str]]:
    parts, _ = split_ranks([reading(Gpu(5, 5), file=file, **facts) for file in files], {})
    return {part.file: (part.rank, part.rank_source) for part in parts}


def _notes(readings: list[Reading]) -> str:
    return "\n".join(note.says for note in split_ranks(readings, {})[1])


@pytest.mark.parametrize(
    ("file", "rank"),
    [
        ("rank3.json", 3),
        ("rank-34.1234.pt.trace.json.gz", 34),
        ("rank_0.json", 0),
        ("job.rank7.json", 7),
        ("Rank12_trace.json", 12),
        ("run/rank12/trace.json", 12),
        ("rank1/rank2.json", 2),
        ("node0/step5_rank_6.json", 6),
        ("crank3.json", None),
        ("frank1/trace.json", None),
        ("local_rank3.json", None),
        ("rank1234567.json", None),
        ("trace.json", None),
        ("worker0.json", None),
    ],
)
def test_rank_in_a_name(file: str, rank: int | None) -> None:
    assert rank_in_name(file) == rank


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"rank": 5, "records_rank": 6}, (5, "metadata")),
        ({"records_rank": 6}, (6, "records")),
        ({}, (4, "file")),
    ],
)
def test_best_source_wins(facts: dict[str, int], expected: tuple[int, str]) -> None:
    assert _ranks(["rank4.json"], **facts) == {"rank4.json": expected}


@pytest.mark.parametrize(
    ("files", "ranks"),
    [
        (["trace_0.json", "trace_1.json"], [(0, "file"), (1, "file")]),
        (["worker1.json", "worker0.json"], [(1, "file"), (0, "file")]),
        (["a/10.json", "a/11.json"], [(0, "assumed"), (1, "assumed")]),
        (["h_1001.1700000000.json", "h_1002.1700000000.json"], [(0, "assumed"), (1, "assumed")]),
        (["n0_w0.json", "n1_w1.json"], [(0, "assumed"), (1, "assumed")]),
        (["a.json", "b.json"], [(0, "assumed"), (1, "assumed")]),
        (["trace.json"], [(0, "assumed")]),
        (["w0.json", "w1.json", "rank0.json"], [(0, "file"), (1, "file"), (0, "file")]),
        (["a.json", "rank0.json", "w0.json", "w1.json"],
         [(2, "assumed"), (0, "file"), (0, "file"), (1, "file")]),
    ],
)  # fmt: skip
def test_numbers_that_vary_between_names(files: list[str], ranks: list[tuple[int, str]]) -> None:
    assert _ranks(files) == dict(zip(files, ranks))


def test_guesses_are_said_and_knowledge_is_not() -> None:
    assert _notes([reading(Gpu(5, 5), file="rank3.json")]) == "rank3.json: rank 3 from its name"
    assert "assumed" in _notes([reading(Gpu(5, 5))])
    assert "most of its collectives" in _notes([reading(Gpu(5, 5), records_rank=2)])
    assert not _notes([reading(Gpu(5, 5), rank=3)])


def test_given_ranks_win() -> None:
    readings = [reading(Gpu(5, 5), file=f"run/{name}.json", rank=0) for name in "ab"]
    parts, notes = split_ranks(readings, {7: "a.json", 8: "run/b.json"})
    assert [(part.rank, part.rank_source) for part in parts] == [(7, "given"), (8, "given")]
    assert not notes


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({1: "c.json"}, "0 of the files"),
        ({1: "trace.json"}, "2 of the files"),
        ({1: "x/trace.json", 2: "x/trace.json"}, "already given as rank 1"),
        ({1: "merged.json"}, "several ranks"),
    ],
)
def test_given_ranks_that_cannot_be(given: dict[int, str], says: str) -> None:
    readings = [reading(Gpu(5, 5), file=f"{folder}/trace.json") for folder in "xy"]
    readings.append(reading(Gpu(5, 5, rank=4), Gpu(5, 5, rank=5), file="merged.json"))
    with pytest.raises(UsageError, match=says):
        split_ranks(readings, given)


def test_two_files_of_one_rank_at_one_time() -> None:
    readings = [reading(Gpu(5, 50), file=name, rank=0) for name in ("a.json", "b.json")]
    with pytest.raises(RankConflict, match=r"rank 0 .*a\.json and b\.json"):
        traces(readings)


def test_merged_file_is_split_by_rank() -> None:
    rows = [Gpu(5, 5, rank=2, launched=3), comm(6, 5, rank=1), Host(4, 1, rank=2), Gpu(9, 1)]
    parts, notes = split_ranks([reading(*rows)], {})
    assert [(p.rank, p.rank_source, p.tables.events.num_rows) for p in parts] == [
        (1, "metadata", 1),
        (2, "metadata", 1),
    ]
    assert [part.tables.host.num_rows for part in parts] == [0, 2]
    assert [note.says for note in notes] == ["trace.json: 1 activity names no rank and is left out"]


def test_merged_file_with_one_rank_can_be_given_another() -> None:
    parts, _ = split_ranks([reading(Gpu(5, 5, rank=2))], {6: "trace.json"})
    assert [part.rank for part in parts] == [6]


class TestSeveralDevices:
    """One process that drives several devices is several ranks."""

    def test_the_busiest_keeps_the_rank(self) -> None:
        rows = [Gpu(5, 5, device=0), *(Gpu(10 * k, 5, device=3) for k in range(1, 4))]
        parts, notes = split_ranks([reading(*rows, rank=3, world_size=8)], {})
        assert {part.device: part.rank for part in parts} == {3: 3, 0: 8}
        assert "device 0 is rank 8, device 3 is rank 3" in notes[0].says

    def test_the_others_take_ranks_that_are_free(self) -> None:
        files = [
            reading(
                *(Gpu(10 * k, 5, device=d) for k in (1, 2) for d in (0, 1)), file=f"{name}.json"
            )
            for name in "ab"
        ]
        parts, _ = split_ranks(files, {})
        assert [(p.file, p.device, p.rank) for p in parts] == [
            ("a.json", 0, 0), ("a.json", 1, 2), ("b.json", 0, 1), ("b.json", 1, 3),
        ]  # fmt: skip

    def test_each_has_the_launches_of_its_own(self) -> None:
        rows = [Gpu(5, 5, device=0, launched=1), Gpu(7, 5, device=1, launched=2), lost(4)]
        parts, _ = split_ranks([reading(*rows)], {})
        launches = [sorted(part.tables.host.column("start_ns").to_pylist()) for part in parts]
        assert launches == [[1, 4], [2, 4]]
