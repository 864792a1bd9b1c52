"""What was tampered with, got lost or was mixed up: each fails with the words that tell it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from graded import (
    Line,
    change_trace,
    change_truth,
    failures,
    failures_of_truths,
    graded,
    lines_of,
    run_of,
    step_line,
    truth_of,
    write_lines,
)

from commscope.generator.grading import verdict

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of("straggler-host", tmp_path_factory.mktemp("graded") / "run")


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    """A copy to tamper with."""
    copy: Path = shutil.copytree(whole, tmp_path / "run")
    return copy


def _operations(lines: list[Line], op: str) -> list[Line]:
    return [line for line in lines if line.get("op") == op and (line["step"] or 0) >= 0]


def test_the_run_itself_passes(run: Path) -> None:
    assert graded(run).failures == []


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("compute_us", "compute"), ("comm_us", "communication"), ("overlap_us", "hidden comm"),
        ("exposed_comm_us", "exposed comm"), ("exposed_wait_us", "exposed wait"),
        ("exposed_copy_us", "exposed copy"), ("idle_us", "idle"), ("span_us", "window"),
    ],
)  # fmt: skip
def test_a_number_of_a_step_is_altered(name: str, what: str, run: Path, whole: Path) -> None:
    change_truth(run, 1, lambda lines: step_line(lines, 1).update({name: 77.001}))
    (row,) = failures_of_truths(run, whole)["truth adds up"]
    assert row.place == (1, 1, what)
    assert row.suspect == "truth"
    assert row.says.startswith("it is not what the operations add up to: the file was altered")


def test_the_verdict_names_what_failed_first(run: Path) -> None:
    change_truth(run, 1, lambda lines: step_line(lines, 1).update(idle_us=77.001))
    assert verdict(graded(run)).startswith("failed: 2 of ")
    assert "what the job says of itself: truth adds up (idle of rank 1, step 1): it is not" in (
        verdict(graded(run))
    )


@pytest.mark.parametrize("name", ["host_begin_ns", "host_end_ns"])
def test_a_time_on_the_host_is_altered(name: str, run: Path, whole: Path) -> None:
    change_truth(
        run,
        0,
        lambda lines: step_line(lines, 2).update({name: step_line(lines, 2)[name] + 1}),
    )
    (row,) = failures_of_truths(run, whole)["steps"]
    assert row.place == (0, 2, name.split("_")[1])
    assert row.numbers.deviation == -1


@pytest.mark.parametrize("op", ["compute", "collective"])
def test_an_operation_is_deleted(op: str, run: Path, whole: Path) -> None:
    change_truth(run, 0, lambda lines: lines.remove(_operations(lines, op)[1]))
    found = failures_of_truths(run, whole)
    assert {row.place.step for row in found["truth adds up"]} - {None} == {0}
    (row,) = found["compute kernels" if op == "compute" else "collectives"]
    assert row.suspect == "truth"
    assert "more than the truth knows of" in row.says


@pytest.mark.parametrize("name", ["begin_us", "wait_us"])
def test_an_operation_is_altered(name: str, run: Path, whole: Path) -> None:
    change_truth(
        run,
        0,
        lambda lines: [line.update({name: 0.5}) for line in _operations(lines, "collective")],
    )
    assert {row.place.rank for row in failures_of_truths(run, whole)["truth adds up"]} >= {0}


def test_the_size_of_a_collective_is_altered(run: Path, whole: Path) -> None:
    change_truth(run, 0, lambda lines: _operations(lines, "collective")[0].update(bytes=64))
    (row,) = failures_of_truths(run, whole)["sizes"]
    assert "of 1 has" in row.says
    assert row.says.endswith("the job moved 64 B")


def test_the_order_of_operations_is_altered(run: Path, whole: Path) -> None:
    change_truth(run, 0, lambda lines: _operations(lines, "compute")[0].update(name="csg_opt"))
    (row,) = failures_of_truths(run, whole)["order"]
    assert row.says == "number 0 is csg_fwd, the job launched csg_opt"


def test_a_trace_is_missing(run: Path) -> None:
    (run / "rank1/trace.json.gz").unlink()
    found = failures(run)
    (row,) = found["trace"]
    assert (row.place.rank, row.suspect) == (1, "profiler")
    assert row.says.startswith("rank 1 has a truth, but no trace")
    assert "the run wrote rank1/trace.json.gz, which is not there any more" in found["run"][0].says


def test_all_traces_are_missing(run: Path) -> None:
    for rank in (0, 1):
        (run / f"rank{rank}/trace.json.gz").unlink()
    (row,) = failures(run)["trace"]
    assert row.says.startswith("no trace can be used: no trace in ")


def test_a_trace_of_a_rank_that_has_no_truth(run: Path) -> None:
    truth_of(run, 1).unlink()
    found = failures(run)
    assert [row.says for row in found["truth file"]] == ["there is no truth_rank1.jsonl"]
    assert [row.says for row in found["trace"]] == [
        "there is a trace of rank 1, but no truth of it"
    ]


def test_a_trace_is_that_of_another_rank(run: Path) -> None:
    shutil.copy(run / "rank0/trace.json.gz", run / "rank1/trace.json.gz")
    assert any("rank" in row.says for row in failures(run)["trace"])


def test_a_trace_calls_itself_another_rank(run: Path) -> None:
    def exchange(document: Line) -> None:
        document["distributedInfo"]["rank"] = 1 - document["distributedInfo"]["rank"]

    for rank in (0, 1):
        change_trace(run, rank, exchange)
    found = failures(run)
    assert {row.place.rank for row in found["kernel times"]} | {
        row.place.rank for row in found["clock"]
    } == {0, 1}


@pytest.mark.parametrize("way", [1, -1])
def test_a_clock_is_shifted_by_a_second(way: int, run: Path) -> None:
    def shift(document: Line) -> None:
        document["baseTimeNanoseconds"] += way * 10**9

    change_trace(run, 1, shift)
    rows = failures(run)["clock"]
    assert {row.place.rank for row in rows} == {1}
    assert {row.numbers.deviation for row in rows} == {way * 10**9}
    says = f"the trace is 1.00 s {'ahead of' if way > 0 else 'behind'} the host's clock (realtime)"
    assert all(row.says.startswith(says) and row.suspect == "profiler" for row in rows)


def test_a_trace_is_on_another_clock_of_the_host(run: Path) -> None:
    clock = lines_of(truth_of(run, 0))[0]["clock"]

    def shift(document: Line) -> None:
        document["baseTimeNanoseconds"] += clock["boottime_ns"] - clock["realtime_ns"]

    change_trace(run, 0, shift)
    assert failures(run)["clock"][0].says.endswith("it is on the clock boottime")


def test_the_clock_of_a_device_drifts(run: Path) -> None:
    def stretch(document: Line) -> None:
        for event in document["traceEvents"]:
            if event["cat"] == "kernel":
                event["ts"] *= 1.001

    change_trace(run, 0, stretch)
    (row,) = failures(run)["drift"]
    assert row.place.rank == 0
    assert row.numbers.deviation == pytest.approx(1000, rel=0.01)


def test_two_truth_files_are_exchanged(run: Path) -> None:
    first, second = truth_of(run, 0), truth_of(run, 1)
    first.rename(run / "aside")
    second.rename(first)
    (run / "aside").rename(second)
    assert [row.says for row in failures(run)["truth file"]] == [
        "truth_rank0.jsonl: says that it is of rank 1; were files exchanged?",
        "truth_rank1.jsonl: says that it is of rank 0; were files exchanged?",
    ]


def test_the_truths_of_two_ranks_are_exchanged(run: Path) -> None:
    """With ranks that were altered, too."""
    texts = [truth_of(run, rank).read_text(encoding="utf-8") for rank in (0, 1)]
    for rank, text in enumerate(reversed(texts)):
        lines = text.replace(f'"rank":{1 - rank}', f'"rank":{rank}', 1)
        truth_of(run, rank).write_text(lines, encoding="utf-8")
    assert failures(run)


def test_a_truth_of_another_run(run: Path, whole: Path) -> None:
    change_truth(run, 1, lambda lines: lines[0]["plan"].update(layers=99))
    (row,) = failures_of_truths(run, whole)["truth file"]
    assert row.says == "its plan is not that of rank 0: not of the same run"


def test_run_json_of_another_run(run: Path) -> None:
    document = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (run / "run.json").write_text(json.dumps({**document, "steps": 9}), encoding="utf-8")
    says = [row.says for row in failures(run)["truth file"]]
    assert says == ["its steps is not that of run.json: not of the same run"] * 2


def test_a_truth_is_cut_within_a_line(run: Path) -> None:
    file = truth_of(run, 0)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    found = failures(run)
    assert found["truth file"][0].place.rank == 0
    assert "truncated" in found["truth file"][0].says
    assert found["trace"][0].says == "there is a trace of rank 0, but no truth of it"


def test_a_truth_is_cut_between_lines(run: Path, whole: Path) -> None:
    change_truth(run, 0, lambda lines: lines.__delitem__(slice(len(lines) // 2, None)))
    assert [row.says for row in failures_of_truths(run, whole)["truth file"]] == [
        "0 steps of 3 steps behind 1 of warm-up: was it cut?"
    ]


def test_the_last_step_is_cut_off(run: Path, whole: Path) -> None:
    change_truth(run, 0, lambda lines: lines.remove(step_line(lines, 2)))
    found = failures_of_truths(run, whole)
    assert [row.says for row in found["truth file"]] == [
        "3 steps of 3 steps behind 1 of warm-up: was it cut?"
    ]
    assert found["truth adds up"][0].says.startswith("it has operations, but no line of its own")


def test_a_trace_is_cut(run: Path) -> None:
    file = run / "rank0/trace.json.gz"
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 2 // 3])
    rows = failures(run)["trace"]
    assert {row.suspect for row in rows} == {"profiler"}
    assert any("trace.json.gz is damaged" in row.says for row in rows)


def test_kernels_are_lost(run: Path) -> None:
    def lose(document: Line) -> None:
        events = document["traceEvents"]
        events.remove(next(e for e in reversed(events) if e["name"] == "csg_bwd"))

    change_trace(run, 0, lose)
    (row,) = failures(run)["compute kernels"]
    assert row.suspect == "profiler"
    assert "; first in step 2, " in row.says
    assert row.says.endswith(": events were lost")


def test_kernels_are_longer_in_the_trace(run: Path) -> None:
    def stretch(document: Line) -> None:
        for event in document["traceEvents"]:
            if event["name"] == "csg_fwd":
                event["dur"] += 0.7

    change_trace(run, 0, stretch)
    rows = failures(run)["compute"]
    assert {row.suspect for row in rows} == {"profiler"}
    assert rows[0].says.startswith("the analysis agrees with the kernels of the trace, and these")


def test_a_planned_cause_is_not_the_one_that_is_found(run: Path, whole: Path) -> None:
    for rank in (0, 1):
        change_truth(run, rank, lambda lines: lines[-1].update(rule="O6", rank=None))
    (row,) = failures_of_truths(run, whole)["causes"]
    assert row.says.startswith("the job was made to show O6, and C1 of rank 1 is found first: ")


def test_a_healthy_job_in_which_something_is_found(run: Path, whole: Path) -> None:
    """What the numbers agree on, the machine did; else the analysis is to be looked at."""
    for rank in (0, 1):
        change_truth(run, rank, lambda lines: lines.pop())
    (row,) = failures_of_truths(run, whole)["causes"]
    assert (row.numbers.found, row.suspect) == ("C1", "fabric")
    assert row.says.endswith("the numbers are those of the job: the machine did that")
    change_truth(run, 0, lambda lines: step_line(lines, 1).update(idle_us=1))
    assert failures_of_truths(run, whole)["causes"][0].suspect == "commscope"


def test_a_process_that_hung(run: Path) -> None:
    document = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (run / "run.json").write_text(json.dumps({**document, "exit_codes": [0, 124]}))
    (row,) = failures(run)["run"]
    assert (row.place.rank, row.suspect) == (1, "fabric")
    assert row.says == "the process of the rank ended with 124: it hung: no operation made progress"


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b"\xff\xfe", b"null", b'{"op":"step"}'])
def test_a_file_of_nonsense_fails_in_words(line: bytes, run: Path) -> None:
    truth_of(run, 0).write_bytes(line)
    assert failures(run)["truth file"][0].place.rank == 0
    write_lines(truth_of(run, 0), lines_of(truth_of(run, 1)))
    assert failures(run)["truth file"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "x"}', "\x00"])
def test_a_broken_run_json_fails_in_words(text: str, run: Path) -> None:
    (run / "run.json").write_text(text, encoding="utf-8")
    (row,) = failures(run)["run"]
    assert row.suspect == "truth"
