"""Profiles of counters are told from traces, and traces from profiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from counter_samples import GEMM, database, dispatch, folder, table, written
from small_run import trace
from support import CASES, case

from commscope.errors import CorruptTrace
from commscope.parsers.base import Confidence
from commscope.parsers.omniperf import OmniperfParser
from commscope.parsers.opening import Source, read_head

PARSER = OmniperfParser()


def matched(path: Path) -> tuple[Confidence, str | None]:
    source = Source(path, label=path.name)
    found = PARSER.match(read_head(source), source)
    return found.confidence, found.unread


def test_every_file_of_the_real_profiles_is_told() -> None:
    others = {"pmc_perf_0.txt", "timestamps.txt"}
    for path in sorted(case("amd/omniperf").rglob("*")):
        if path.is_file():
            confidence, unread = matched(path)
            known = path.name not in others
            assert (confidence is Confidence.MARKER) == known, path
            assert (unread is not None) == known, path


def test_no_other_real_file_is_taken_for_one() -> None:
    case("amd")
    for path in sorted((CASES / "amd").rglob("*")):
        if path.is_file() and "omniperf" not in path.parts:
            assert matched(path) == (Confidence.NONE, None), path


#: The same columns come from rocprof itself.
RUN = [["Dispatch_ID", "GPU_ID", "Queue_ID", "PID", "Kernel_Name", "Start_Timestamp",
        "End_Timestamp", "SQ_WAVES"], [1, 2, 1, 7, GEMM, 10, 20, 5]]  # fmt: skip


@pytest.mark.parametrize(("name", "is_told"), [
    ("results.csv", False), ("timestamps.csv", True), ("SQ_LEVEL_WAVES.csv", True),
    ("pmc_perf_3.csv.gz", True),
])  # fmt: skip
@pytest.mark.parametrize("columns", [8, 7])
def test_where_rocprof_has_the_same_columns_the_name_tells(
    name: str, is_told: bool, columns: int, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(written([line[:columns] for line in RUN]))
    assert matched(tmp_path / name)[0] is (Confidence.MARKER if is_told else Confidence.NONE)


def test_more_counters_than_one_run_gives_tell_it_under_any_name(tmp_path: Path) -> None:
    more = {f"TCC_X_{chr(65 + n)}_sum": n for n in range(26)}
    (tmp_path / "renamed.csv").write_text(table([dispatch(**more)]))
    assert matched(tmp_path / "renamed.csv")[0] is Confidence.MARKER


def test_a_profile_is_never_read_as_a_trace(tmp_path: Path) -> None:
    for path in (folder(tmp_path / "p") / "pmc_perf.csv", database(tmp_path / "a.db")):
        source = Source(path, label=path.name)
        with pytest.raises(CorruptTrace, match="is a profile of counters, no trace; see commscope"):
            PARSER.read(source, lambda done, total: None)


def test_a_trace_is_none(tmp_path: Path) -> None:
    (tmp_path / "rank0.json").write_bytes(trace(0))
    assert matched(tmp_path / "rank0.json") == (Confidence.NONE, None)
