"""What is said of the traces that a job has not left."""

from __future__ import annotations

from pathlib import Path

import pytest

from commscope.collect.nodes import Place
from commscope.collect.profiling.missing import missing_traces
from commscope.collect.profiling.options import ProfileOptions

ALONE = Place(0, 1)
ALL = ProfileOptions("kineto", (10, 12))
SOME = ProfileOptions("kineto", (10, 12), frozenset({1, 7}), "^step")


def told(
    folder: Path, notes: str, options: ProfileOptions, place: Place = ALONE, explained: bool = False
) -> list[str]:
    (folder / "told.notes").write_text(notes)
    return missing_traces(options, folder, folder / "told", place, explained=explained)


@pytest.mark.parametrize(
    ("notes", "options", "line"),
    [
        ("", ALL, ("no trace of steps 10-12: the profiler came into no Python process with torch"
         " (python -I, -E and -S leave the profiler out)")),
        ("torch 0\n", ALL, ("no trace of steps 10-12: no process made a step, told by an optimizer"
         " (--profile-marker REGEX names a record_function range that begins each step; python -I,"
         " -E and -S leave the profiler out)")),
        ("torch 0\nsteps 0\nrecords 0\nterminated 0\n", ALL,
         "rank 0 was ended by SIGTERM in the steps to record: no trace"),
        ("steps 0\nrecords 0\nsteps 2\nrecords 2\n", ALL,
         "ranks 0, 2 were ended in the steps to record, by os._exit or a signal: no trace"),
        ("steps 3\n", ALL, ("rank 3 was ended before the trace of steps 10-12 began (by a signal or"
         " os._exit): no trace")),
        ("steps 0\nsteps 1\nrecords 1\nended 1\n", SOME,
         "no process had rank 7 (ranks seen: 0, 1)"),
    ],
)  # fmt: skip
def test_what_is_said(tmp_path: Path, notes: str, options: ProfileOptions, line: str) -> None:
    assert told(tmp_path, notes, options) == [line]


def test_what_is_there_or_has_been_explained_is_not_missing(tmp_path: Path) -> None:
    assert told(tmp_path, "steps 0\nended 0\n", ALL, explained=True) == []
    assert told(tmp_path, "", ALL, explained=True) == []
    assert missing_traces(ProfileOptions(), tmp_path, None, ALONE, explained=False) == []
    (tmp_path / "rank0.pt.trace.json.gz").touch()
    assert told(tmp_path, "torch 0\nsteps 0\nrecords 0\n", ALL) == []


def test_ranks_of_other_nodes_are_the_matter_of_those(tmp_path: Path) -> None:
    assert told(tmp_path, "steps 4\n", SOME, Place(1, 2, 0, (4, 5), 8)) == []
    (line,) = told(tmp_path, "steps 6\n", SOME, Place(1, 2, 0, (6, 7), 8))
    assert line == "no process had rank 7 (ranks seen: 6)"


def test_of_many_ranks_some_are_named(tmp_path: Path) -> None:
    (line,) = told(tmp_path, "".join(f"steps {it}\n" for it in range(40)), ALL)
    assert "14, 15 and 24 more were ended" in line


def test_a_worker_that_rocprofv3_never_saw_is_told(tmp_path: Path) -> None:
    (line,) = told(tmp_path, "", ProfileOptions("rocprofv3"))
    assert "under rocprofv3" in line
    assert told(tmp_path, "", ProfileOptions("rocprofv3"), explained=True) == []
