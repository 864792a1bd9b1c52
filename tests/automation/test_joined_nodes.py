"""Each node reads its own files, and the first one joins them into one report."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from collected_runs import add_node, end_node, job_log, reports, start_job
from log_rule_cases_errors import timeout

import commscope
from commscope.automation.__main__ import main
from commscope.automation.finish import finish_node
from commscope.automation.join import finish_run
from commscope.errors import UsageError
from commscope.report.model import Report


class Time:
    """A clock that only pauses move; what happens at a pause is called then."""

    def __init__(self, *happens: Callable[[], object], told_at: int | None = None) -> None:
        self.now, self.pauses, self._happens, self._told_at = 0.0, 0, list(happens), told_at

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> bool:
        assert seconds > 0
        self.now += seconds
        self.pauses += 1
        if self._happens:
            self._happens.pop(0)()
        return self.pauses == self._told_at


def finished(job: Path, node: str, time: Time, wait_s: float = 120.0) -> tuple[str, ...] | None:
    """The lines of the node's report, if it wrote one."""
    done = finish_run(job, wait_s, node, clock=time.clock, pause=time.pause)
    return None if done is None else done.lines


def document(job: Path) -> dict[str, Any]:
    return json.loads((job / "report.json").read_text())


def ranks_of(job: Path) -> list[int]:
    return [row["rank"] for row in document(job)["ranks"]]


def both(tmp_path: Path, **more: Any) -> tuple[Path, str, str]:
    job = start_job(tmp_path / "run")
    first, second = add_node(job, 0, [0, 1], **more), add_node(job, 1, [2, 3], **more)
    return job, first, second


def test_the_first_node_reports_on_all(tmp_path: Path) -> None:
    job, first, second = both(tmp_path)
    finish_node(job, first)
    time = Time(lambda: finish_node(job, second))
    lines = finished(job, first, time)
    assert lines is not None
    assert len(lines) == 2
    assert str(job / "report.html") in lines[-1]
    assert ranks_of(job) == [0, 1, 2, 3]
    assert reports(job) == ["report.html", "report.json", "report.md"]
    assert finished(job, second, Time()) is None


def test_another_node_leaves_it_to_the_first(tmp_path: Path) -> None:
    job, first, second = both(tmp_path)
    finish_node(job, second)
    time = Time(lambda: finish_node(job, first))
    assert finished(job, second, time) is None
    assert time.pauses == 1
    assert reports(job) == []


@pytest.mark.parametrize("name", ["run[1]*", "-", "a\nb", "caf\udce9"])
def test_hostile_names_of_runs(tmp_path: Path, name: str) -> None:
    job = start_job(tmp_path / name, nodes=1)
    node = add_node(job, 0, [0, 1], world=2)
    finish_node(job, node)
    assert finished(job, node, Time()) is not None
    assert ranks_of(job) == [0, 1]


def test_the_report_is_that_of_the_files(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run")
    nodes = [add_node(job, n, [2 * n, 2 * n + 1], log=job_log(2 * n, world=4)) for n in (0, 1)]
    for node in nodes:
        tools = job / "nodes" / node / "environment"
        tools.mkdir()
        told = {"schema": "commscope.collected/1", "host": node[5:], "system": {"kernel": "6.1"}}
        (tools / "collected.json").write_text(json.dumps({**told, "environment": {}, "tools": []}))
        (job / "nodes" / node / "unprofiled.log").write_text('{"unprofiled_step_ms": 0.09}\n')
        finish_node(job, node)
    trace = commscope.load(job)
    report = commscope.analyze(trace)
    done = finish_run(job, 0.0)
    assert done is not None
    assert document(job) == json.loads(report.to_json())
    assert isinstance(done.made.report, Report)
    assert trace.unprofiled_step_ns == 90_000
    assert not any("left out" in note for note in report.notes)


def test_a_missing_node_is_waited_for_and_named(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run")
    first = add_node(job, 0, [0, 1])
    finish_node(job, first)
    time = Time()
    lines = finished(job, first, time)
    assert lines is not None
    assert lines[0] == "missing: node 1 never wrote into run (ranks 2-3)"
    assert time.now == pytest.approx(120.0)
    assert ranks_of(job) == [0, 1]
    assert lines[0] in document(job)["notes"]
    assert "never wrote into run" in (job / "report.md").read_text()


def test_without_the_first_node_the_next_reports(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run", nodes=3)
    add_node(job, 0, [0, 1], status=None, world=6)
    names = [add_node(job, number, [2 * number, 2 * number + 1], world=6) for number in (1, 2)]
    for name in names:
        finish_node(job, name)
    assert finished(job, names[1], Time()) is None
    lines = finished(job, names[0], Time())
    assert lines is not None
    assert lines[0] == "missing: node 0 (host0) has not ended (ranks 0-1)"
    assert ranks_of(job) == [2, 3, 4, 5]


def test_a_late_node_is_added(tmp_path: Path) -> None:
    job, first, second = both(tmp_path)
    finish_node(job, second)
    assert finished(job, second, Time()) is not None
    assert ranks_of(job) == [2, 3]
    finish_node(job, first)
    assert finished(job, first, Time()) is not None
    assert ranks_of(job) == [0, 1, 2, 3]
    assert len(list(job.glob(".commscope-report-*"))) == 1


def test_told_to_end_nobody_is_waited_for(tmp_path: Path) -> None:
    job, first, _ = both(tmp_path)
    finish_node(job, first)
    time = Time(told_at=1)
    assert finished(job, first, time) is not None
    assert time.now < 1
    assert ranks_of(job) == [0, 1]


@pytest.mark.parametrize(
    ("status", "says"),
    [
        ({"exit_code": 3}, "the job failed with exit code 3 on node 1 (host1)"),
        ({"exit_code": 137, "signal": "SIGKILL"}, "the job was ended by SIGKILL on node 1 (host1)"),
        ({"exit_code": 1, "hung": True}, "the job hung and was ended on node 1 (host1)"),
    ],
)
def test_how_the_job_ended_is_said(tmp_path: Path, status: dict[str, Any], says: str) -> None:
    job, first, second = both(tmp_path)
    end_node(job, second, **status, problems=["no space for traces"])
    finish_node(job, first)
    finish_node(job, second)
    lines = finished(job, first, Time())
    assert lines is not None
    assert lines[0] == says
    assert says in document(job)["notes"]
    assert "node 1 (host1): no space for traces" in document(job)["notes"]
    assert f"The job:</b> T{says[1:]}." in (job / "report.html").read_text()


def test_without_traces_the_logs_are_reported_on(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    node = add_node(job, 0, [0, 1], traced=False, log=job_log(0, 1), world=2)
    finish_node(job, node)
    lines = finished(job, node, Time())
    assert lines is not None
    assert lines[0].startswith("No activity of a GPU was recorded")
    assert document(job)["schema"] == "commscope.log/1"
    assert document(job)["communicators"][0]["nranks"] == 2
    for name in ("report.html", "report.md"):
        assert "No activity of a GPU was recorded" in (job / name).read_text()


def test_where_a_job_hung_is_said(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    hung = {"exit_code": 1, "hung": True}
    node = add_node(job, 0, [0, 1], traced=False, log=f"{timeout(0)}\n", status=hung)
    finish_node(job, node)
    lines = finished(job, node, Time())
    assert lines is not None
    assert lines[0] == "the job hung and was ended"
    assert "Hang: the watchdog gave up" in lines[1]


def test_a_job_that_left_nothing_has_a_report(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    node = add_node(job, 0, [0], traced=False, status={"exit_code": 1})
    finish_node(job, node)
    lines = finished(job, node, Time())
    assert lines is not None
    assert lines[:2] == (
        "the job failed with exit code 1",
        "No activity of a GPU was recorded, and no record of RCCL or NCCL.",
    )
    assert "no trace of a GPU was recorded" in (job / "report.md").read_text()
    assert "exit code 1" in (job / "report.html").read_text()


def test_a_damaged_trace_is_left_out_and_said(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    node = add_node(job, 0, [0, 1], world=2)
    trace = job / "nodes" / node / "traces" / "rank1.pt.trace.json.gz"
    trace.write_bytes(trace.read_bytes()[:60])
    finish_node(job, node)
    assert finished(job, node, Time()) is not None
    assert ranks_of(job) == [0]
    assert any("rank1.pt.trace.json.gz" in note for note in document(job)["notes"])


def test_reading_a_run_again_reads_no_report(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    log = job_log(0, 1) + "host0:100:100 [0] NCCL WARN Cuda failure 'out of memory'\n"
    node = add_node(job, 0, [0, 1], log=log, world=2)
    before = commscope.analyze(commscope.load(job)).to_json()
    finish_node(job, node)
    finish_node(job, node)
    assert finished(job, node, Time()) is not None
    assert "out of memory" in (job / "report.md").read_text()
    after = commscope.analyze(commscope.load(job))
    assert after.to_json() == before
    assert not any("report." in note or "status.json" in note for note in after.notes)


def test_labels_name_node_and_rank(tmp_path: Path) -> None:
    job, first, second = both(tmp_path)
    finish_node(job, first)
    finish_node(job, second)
    done = finish_run(job, 0.0)
    assert done is not None
    assert isinstance(done.made.report, Report)
    assert [(it.file, it.rank) for it in done.made.report.inputs] == [
        (f"nodes/{node}/traces/rank{rank}.pt.trace.json.gz", rank)
        for node, ranks in ((first, (0, 1)), (second, (2, 3)))
        for rank in ranks
    ]


def test_it_is_said_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder of commscope run"):
        finish_run(tmp_path, 0.0)
    with pytest.raises(UsageError, match="there is no such node"):
        finish_node(start_job(tmp_path / "run"), "0007-x")


def test_hostile_documents_are_as_if_not_there(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    node = add_node(job, 0, [0])
    for text in ('{"node": "x\\u001b[31m"}', "[" * 100_000, "null", '{"world_size": 1e400}'):
        (job / "nodes" / node / "node.json").write_text(text)
        finish_node(job, node)
        finish_run(job, 0.0, node)
        assert ranks_of(job) == [0]
    run = job / "run.json"
    run.write_text(run.read_text().replace('"nodes": 1', '"nodes": 1000000000000'))
    assert finish_run(job, 0.0, node) is not None


def test_a_library_that_is_broken_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0)
    monkeypatch.setitem(sys.modules, "commscope.automation.finish", None)
    assert main([str(start_job(tmp_path / "run"))]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("commscope: no report, what makes it cannot be imported: ")


def test_the_program_reads_and_joins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0)
    job = start_job(tmp_path / "run", nodes=1)
    node = add_node(job, 0, [0, 1], world=2)
    assert main([str(job), "--node", node]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("commscope: ") for line in lines)
    assert main([str(tmp_path / "nowhere"), "--node", node]) == 2
    assert "there is no such node" in capsys.readouterr().err
