"""Real files of rocprofv3, held to figures that were computed without commscope."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from grouped_files import read_folder
from one_file import read_one, source_of
from support import case

import commscope
from commscope.classify import ActivityClass
from commscope.columns import int64, where_word
from commscope.engine.inspect import inspect_paths
from commscope.engine.reading import silent
from commscope.intervals import difference, union
from commscope.parsers.base import Reading
from commscope.parsers.detect import choose
from commscope.parsers.opening import read_head

_FOLDER = "amd/rocprofv3_csv"
_TRAINING = "amd/rocprofv3_json/mi350_train_908_results.json.gz"


@dataclass(frozen=True)
class Figures:
    """Activities or calls of a file: rows, sum of their lengths, first begin to last end."""

    rows: int
    sum_ns: int | None = None
    span_ns: int | None = None


_ACTIVITIES = {
    "llama_decode_gfx1151/decode_kernel_trace.csv": Figures(144, 1_857_381, 180_266_420),
    "docs_7x/kernel_trace.csv": Figures(9, 96_160, 144_400),
    "docs_7x/memory_copy_trace.csv": Figures(4, 329_162),
    "docs_6.2.4/kernel_trace.csv": Figures(7, 795_453, 301_795),
    "docs_6.2.0/kernel_trace.csv": Figures(1, 66_760),
    "docs_6.2.0/memory_copy_trace.csv": Figures(2),
}
_CALLS = {
    "llama_decode_gfx1151/decode_hip_api_trace.csv": 920,
    "docs_7x/rccl_trace.csv": 21,
    "docs_7x/rocpd-to-csv.csv": 13,
    "docs_7x/marker_api_trace.csv": 5,
}


@pytest.mark.parametrize(("name", "figures"), _ACTIVITIES.items(), ids=_ACTIVITIES)
def test_activities(name: str, figures: Figures) -> None:
    reading = read_one(case(f"{_FOLDER}/{name}"))
    start, length = (int64(reading.events, column) for column in ("start_ns", "dur_ns"))
    assert len(start) == reading.health.events_read == figures.rows
    assert figures.sum_ns in (None, int(length.sum()))
    assert figures.span_ns in (None, int((start + length).max() - start.min()))
    assert not reading.health.is_damaged


@pytest.mark.parametrize(("name", "rows"), _CALLS.items(), ids=_CALLS)
def test_calls(name: str, rows: int) -> None:
    reading = read_one(case(f"{_FOLDER}/{name}"))
    assert reading.health.events_read == rows
    assert not reading.health.is_damaged


def test_rccl_calls_are_those_of_the_library() -> None:
    host = read_one(case(f"{_FOLDER}/docs_7x/rccl_trace.csv")).host
    assert host.column("name").to_pylist().count("ncclAllReduce") == 5


def test_directions_have_one_name() -> None:
    for generation in ("docs_6.2.0", "docs_7x"):
        events = read_one(case(f"{_FOLDER}/{generation}/memory_copy_trace.csv")).events
        names = set(events.column("name").to_pylist())
        assert names == {"MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST"}


def test_markers_may_be_nested() -> None:
    host = read_one(case(f"{_FOLDER}/docs_7x/marker_api_trace.csv")).host
    assert set(host.column("kind").to_pylist()) == {"annotation"}
    assert "hipLaunchKernel range" in host.column("name").to_pylist()


def test_files_of_a_process_are_one_reading() -> None:
    [reading] = read_folder(case(f"{_FOLDER}/llama_decode_gfx1151"))
    assert reading.input.file == "decode_kernel_trace.csv"
    assert [one.input.file for one in reading.companions] == ["decode_hip_api_trace.csv"]
    assert (reading.events.num_rows, reading.facts.pid) == (144, 2684120)
    assert where_word(reading.host, "kind", "launch".__eq__).sum() > 100


def test_files_of_other_runs_are_not_mixed() -> None:
    """The samples of the documentation are of many runs and processes under one name."""
    readings = read_folder(case(f"{_FOLDER}/docs_7x"))
    [kernels] = [r for r in readings if r.events.num_rows]
    assert (kernels.events.num_rows, kernels.host.num_rows) == (9, 0)
    assert sum("of another run" in note for note in kernels.health.notes) == 7


@pytest.fixture(scope="module")
def training() -> Reading:
    return read_one(case(_TRAINING))


def test_training_of_an_mi350(training: Reading) -> None:
    events = training.events
    start = int64(events, "start_ns")
    end = start + int64(events, "dur_ns")
    assert (len(start), int((end - start).sum())) == (43_915, 4_441_741_378)
    assert (int(start.min()), int(end.max())) == (63_857_982_592_000, 63_873_104_615_494)
    assert union(start, end).total == 4_233_112_334
    is_rccl = where_word(events, "name", lambda name: name.startswith("ncclDevKernel"))
    rccl, compute = union(start[is_rccl], end[is_rccl]), union(start[~is_rccl], end[~is_rccl])
    assert (int(is_rccl.sum()), rccl.total) == (1_310, 4_158_756_678)
    assert int((end - start)[is_rccl].sum()) == 4_158_756_678
    assert compute.total == 281_681_933
    assert difference(rccl, compute).total == 3_951_430_401
    queues, counts = np.unique(int64(events, "queue")[is_rccl], return_counts=True)
    assert set(int64(events, "queue").tolist()) == set(range(16, 21))
    assert dict(zip(queues.tolist(), counts.tolist()))[20] == 1_309
    assert 500 < len(np.unique(int64(events, "stream"))) < 600


def test_facts_of_the_training(training: Reading) -> None:
    facts = training.facts
    assert (facts.pid, facts.rank, facts.host) == (908, None, "smci350-zts-gtu-c6-25")
    assert facts.gpus == {0: "AMD Instinct MI350X"}
    assert len(facts.gpu_names) == 8


def test_steps_of_the_training_are_inferred() -> None:
    trace = commscope.load([case(_TRAINING)])
    assert trace.step_source.kind == "inferred"
    assert trace.steps.num_rows == 50
    assert "inferred" in trace.step_source.says
    is_communication = trace.classes.of_event == ActivityClass.COMMUNICATION
    assert int(is_communication.sum()) == 1_310


_WHAT = {
    "counter_collection": "counters",
    "stats": "sums",
    "memory_allocation_trace": "allocations of memory",
    "scratch_memory_trace": "scratch",
}


def test_every_csv_file_is_named_rightly() -> None:
    for path in sorted(case(_FOLDER).rglob("*.csv")):
        source = source_of(path)
        opinion = choose(read_head(source), source, None)
        assert opinion.parser.name == "rocprofv3_csv", path
        unread = next((says for word, says in _WHAT.items() if word in path.name), None)
        assert (unread is None) == (opinion.match.unread is None), path
        assert unread is None or unread in str(opinion.match.unread), path


def test_no_other_file_is_taken_for_one() -> None:
    folder = case("amd")
    ours = {"rocprofv3_csv", "rocprofv3_json"}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.relative_to(folder).parts[0] not in ours:
            source = source_of(path)
            opinion = choose_or_none(path)
            assert opinion not in ours, source.label


def choose_or_none(path: Path) -> str | None:
    return inspect_paths([path], None, silent).files[0].parser
