"""What was saved of a run is read as the run was, and gives the same report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import planted
import pytest
from cached_runs import assert_same
from saved_files import read_again, saved
from small_run import write_run
from support import case

import commscope
from commscope import api, sample_traces
from commscope._version import DEFINITIONS_VERSION
from commscope.classify import FoundNames
from commscope.columns import as_text
from commscope.engine.inspect import inspect_paths
from commscope.engine.load import trace_of
from commscope.engine.reading import silent
from commscope.engine.run import Run
from commscope.engine.saved_options import saved_options
from commscope.parsers.base import Reading
from commscope.parsers.saved.documents import READING_TABLES
from commscope.saved.files import run_files, with_quotes
from commscope.saved.pack import write_archive, write_folder

#: One of each format.
CASES = (
    "kineto/mi250_minitoy_train.json.gz",
    "amd/rocpd",
    "amd/rocprofv3_csv/docs_7x",
    "amd/rocprof_v1",
)
EXPRESSIONS: dict[str, Any] = {
    "step_marker": "^zebra_step",
    "patterns": ["norm=triton_poi_fused"],
    "roles": ["ep=^[^ ]* falcon_tp$"],
}


def _bare(reading: Reading) -> Reading:
    """The reading without the rows of its tables, which Arrow compares faster."""
    tables = {name: getattr(reading, name).slice(0, 0) for name in READING_TABLES}
    return replace(reading, **tables)


def assert_equal(found: Run, wanted: Run) -> None:
    assert_same([_bare(r) for r in found.readings], [_bare(r) for r in wanted.readings])
    for one, other in zip(found.readings, wanted.readings):
        for name in READING_TABLES:
            table, expected = getattr(one, name), getattr(other, name)
            assert table.schema.equals(expected.schema, check_metadata=True)
            assert as_text(table).equals(as_text(expected))
    assert found.notes == wanted.notes
    assert saved_options(found) == saved_options(wanted)
    assert found.unprofiled_step_ns == wanted.unprofiled_step_ns
    assert (found.logs is None) == (wanted.logs is None)
    if found.logs is not None and wanted.logs is not None:
        assert found.logs.files == wanted.logs.files
        assert found.logs.processes == wanted.logs.processes
        for name, table in wanted.logs.tables.items():
            assert as_text(found.logs.tables[name]).equals(as_text(table))


@pytest.mark.parametrize("path", CASES)
def test_real_cases_are_read_as_they_were(path: str, tmp_path: Path) -> None:
    run = api.read(case(path))
    assert_equal(read_again(run, tmp_path / "run"), run)


def test_the_report_is_the_same(tmp_path: Path) -> None:
    run = api.read(sample_traces.path("ddp_shm"))
    report = commscope.analyze(trace_of(run))
    archive = tmp_path / "run.tar.gz"
    write_archive(run_files(with_quotes(run, report.findings)), archive)
    found = commscope.analyze(commscope.load(archive))
    more = ("instances",)
    assert found.to_json(more=more) == report.to_json(more=more)


def test_logs_and_topology_are_the_same(tmp_path: Path) -> None:
    run = planted.read(tmp_path / "run")
    found = read_again(run, tmp_path / "saved")
    assert_equal(found, run)
    assert run.logs is not None
    assert run.topology is not None
    assert found.topology == run.topology


def test_options_are_kept_and_give_way(tmp_path: Path) -> None:
    run = api.read(
        write_run(tmp_path / "run"),
        steps="1-2",
        ranks={7: "rank1.json"},
        patterns=["copy=^Cijk"],
        roles=["mine=default"],
        unprofiled_step_ms=0.09,
    )
    folder = saved(run, tmp_path / "saved")
    found = api.read(folder)
    assert saved_options(found) == saved_options(run)
    assert found.unprofiled_step_ns == 90_000
    assert trace_of(found).ranks.column("rank").to_pylist() == [0, 7]
    assert set(trace_of(found).steps.column("step").to_pylist()) == {1, 2}
    anew = commscope.load(folder, steps="0", ranks={3: "rank1.json"})
    assert set(anew.steps.column("step").to_pylist()) == {0}
    assert anew.ranks.column("rank").to_pylist() == [0, 3]


def test_expressions_are_kept_as_the_names_that_they_fit(tmp_path: Path) -> None:
    run = api.read(planted.write(tmp_path / "run"), **EXPRESSIONS)
    report = commscope.analyze(trace_of(run))
    found = read_again(with_quotes(run, report.findings), tmp_path / "saved")
    assert isinstance(found.options.step_marker, FoundNames)
    assert found.options.step_marker.names == {f"zebra_step {n} of job 4711815" for n in range(3)}
    for one in (*found.options.patterns.families["norm"], found.roles["ep"]):
        assert isinstance(one, FoundNames)
    more = ("instances",)
    assert commscope.analyze(trace_of(found)).to_json(more=more) == report.to_json(more=more)
    assert report.summary.step_source == "marker"
    assert {row["role"] for row in report.to_dict()["communicators"]} == {"ep"}
    assert {"norm"} <= {row["family"] for row in report.to_dict()["kernels"]}


def test_an_expression_of_others_is_not_run(tmp_path: Path) -> None:
    run = api.read(planted.write(tmp_path / "run"), **EXPRESSIONS)
    files = dict(run_files(run))
    manifest = json.loads(files["run.json"])
    for one in (manifest["options"]["step_marker"], manifest["options"]["roles"]["ep"]):
        one["pattern"] = "(a|a)*$("
    write_folder({**files, "run.json": json.dumps(manifest).encode()}.items(), tmp_path / "saved")
    trace = commscope.load(tmp_path / "saved")
    assert trace.step_source.says == "--step-marker (a|a)*$("
    assert set(trace.steps.column("step").to_pylist()) == {0, 1, 2}


def test_what_was_saved_by_other_definitions_is_known_as_that(tmp_path: Path) -> None:
    files = dict(run_files(api.read(write_run(tmp_path / "run"))))
    old = files["run.json"].replace(b'"definitions": 1', b'"definitions": 0')
    write_archive({**files, "run.json": old}.items(), tmp_path / "old.tar.gz")
    run = api.read(tmp_path / "old.tar.gz")
    assert trace_of(run).definitions == 0
    assert json.loads(dict(run_files(run))["run.json"])["definitions"] == 0
    assert commscope.load(tmp_path / "run").definitions == DEFINITIONS_VERSION


def test_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        run = planted.read(tmp_path / name / "run")
        write_archive(run_files(run), tmp_path / f"{name}.tar.gz")
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()


def test_two_nodes_are_one_run(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    nodes.mkdir()
    for rank in range(2):
        folder = write_run(tmp_path / str(rank), rank + 1)
        (folder / f"rank{rank}.json").rename(folder / "trace.json")
        (folder / "nccl.log").write_text(f'n{rank}:{rank}:1 [0] NCCL WARN Missing "a"\n')
        run = api.read([folder / "trace.json"], logs=folder / "nccl.log")
        saved(run, nodes / f"node{rank}")
    trace = commscope.load(nodes)
    assert trace.ranks.column("file").to_pylist() == ["trace.json", "trace.json (2)"]
    assert trace.ranks.column("rank").to_pylist() == [0, 1]
    assert trace.logs is not None
    warnings = trace.logs.tables["WARNINGS"].select(["file", "host"]).to_pylist()
    assert warnings == [
        {"file": "nccl.log", "host": "n0"},
        {"file": "nccl.log (2)", "host": "n1"},
    ]


def test_what_lies_beside_is_no_log_and_no_trace(tmp_path: Path) -> None:
    folder = saved(planted.read(tmp_path / "run"), tmp_path / "saved")
    report = {"says": "NCCL WARN told in a report", "schema": "commscope.report/1"}
    (folder / "report.json").write_text(json.dumps(report))
    found = api.read(folder)
    assert found.logs is not None
    assert [file.file for file in found.logs.files] == ["nccl.falcon-gpu-17.log"]
    assert not [note for note in found.notes if "report.json" in note.says]


def test_each_file_is_inspected_with_the_rest_of_its_reading(tmp_path: Path) -> None:
    run = planted.read(tmp_path / "run")
    found = inspect_paths([saved(run, tmp_path / "saved")], None, silent)
    holds = {file.file: [one.events for one in file.holds] for file in found.files if file.holds}
    wanted = ("collectives.parquet", "events.parquet", "host.parquet", "reading.json")
    assert list(holds) == [f"{number:04d}.{part}" for number in range(2) for part in wanted]
    assert set(map(tuple, holds.values())) == {(9,)}
    assert not [file.error for file in found.files if file.error and "reading" in file.error]
