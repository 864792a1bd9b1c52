"""The environment in a rocpd database tells the rank, and nothing else of it is ever shown."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from format_writers.rocpd import SECRET, write_rocpd
from logical_trace import LogicalTrace, three_steps
from one_file import read_file, read_one

import commscope
from commscope.cli.main import run
from commscope.generator.rocprofv3.json_document import process_of
from commscope.parsers.rocpd.environment import read_places
from commscope.parsers.rocpd_layout import find_runs

TRACE = three_steps()
_TORCHRUN = {"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "8"}
_MPI = {
    "OMPI_COMM_WORLD_RANK": "5",
    "OMPI_COMM_WORLD_LOCAL_RANK": "2",
    "OMPI_COMM_WORLD_SIZE": "16",
}
_PMI = {"PMI_RANK": "4", "PMI_SIZE": "32"}
_SLURM = {"SLURM_PROCID": "7", "SLURM_LOCALID": "3", "SLURM_NTASKS": "64"}


def place_of(environment: str) -> tuple[int | None, int | None, int | None]:
    """The place in the job of a process with this text as its environment."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE rocpd_info_process (id INTEGER PRIMARY KEY, environment)")
        database.execute("INSERT INTO rocpd_info_process VALUES (7, ?)", (environment,))
        [run_of_it] = find_runs(database)
        place = read_places(database, run_of_it).get(7)
    return (place.rank, place.local_rank, place.world_size) if place else (None, None, None)


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        (_TORCHRUN, (3, 1, 8)),
        ({"RANK": "3"}, (3, None, None)),
        ({"RANK": 0, "WORLD_SIZE": 1}, (0, None, 1)),
        (_MPI, (5, 2, 16)),
        (_PMI, (4, None, 32)),
        (_SLURM, (7, 3, 64)),
        (_SLURM | _PMI | _MPI | _TORCHRUN, (3, 1, 8)),
        (_SLURM | _PMI | _MPI, (5, 2, 16)),
        (_SLURM | _PMI, (4, None, 32)),
        ({"WORLD_SIZE": "8", "LOCAL_RANK": "0"}, (None, None, None)),
        # A shell within an allocation is a job of one, which all that it starts inherits.
        (_SLURM | {"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, (None, None, None)),
        ({"SLURM_PROCID": "0"}, (None, None, None)),
        # What contradicts itself counts for nothing.
        (_SLURM | {"RANK": "8", "WORLD_SIZE": "8"}, (7, 3, 64)),
        (_TORCHRUN | {"LOCAL_RANK": "4"}, (3, None, 8)),
    ],
)
def test_the_innermost_launcher_tells_the_rank(environment, place):
    assert place_of(json.dumps({"PATH": "/bin", **environment})) == place


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        "-1",
        "+1",
        "1.0",
        "1e0",
        " 1",
        "1 ",
        "0x1",
        "4294967296",
        "9" * 400,
        "\u0661",
        "1\n",
    ],
)
def test_a_rank_that_is_no_number_is_none(value):
    assert place_of(json.dumps({"RANK": value})) == (None, None, None)


@pytest.mark.parametrize("value", [None, True, 1.5, -1, 2**40, [1], {"RANK": 1}, SECRET])
def test_values_of_other_types_are_none(value):
    assert place_of(json.dumps({"RANK": value})) == (None, None, None)


@pytest.mark.parametrize(
    "environment",
    ["", "{", '{"RANK": "3"', '["RANK", "3"]', '"RANK"', "3", "null", "[" * 5000, '{"RANK": 3}}'],
)
def test_an_environment_that_is_no_object_tells_nothing(environment):
    assert place_of(environment) == (None, None, None)


def test_each_process_has_its_own(tmp_path):
    other = replace(TRACE, pid=200)
    environment = {100: json.dumps(_TORCHRUN), 200: json.dumps(_TORCHRUN | {"RANK": "4"})}
    readings = read_file(write_rocpd(tmp_path / "a.db", TRACE, other, environment=environment))
    assert [reading.facts.rank for reading in readings] == [3, 4]
    assert [reading.facts.local_rank for reading in readings] == [1, 1]


def test_a_broken_one_does_not_hide_another(tmp_path):
    environment = {100: "{broken", 200: json.dumps(_TORCHRUN)}
    path = write_rocpd(tmp_path / "a.db", TRACE, replace(TRACE, pid=200), environment=environment)
    assert [reading.facts.rank for reading in read_file(path)] == [None, 3]


def test_the_rank_is_that_of_the_trace(tmp_path):
    path = write_rocpd(tmp_path / "rank7.db", TRACE, environment=json.dumps(_TORCHRUN))
    ranks = commscope.load([path]).ranks.to_pylist()
    assert [(r["rank"], r["source"], r["world_size"]) for r in ranks] == [(3, "metadata", 8)]


def test_a_process_without_activities_takes_the_rank_of_none(tmp_path):
    """Workers that load data inherit the environment of the process that trains."""
    idle = replace(TRACE, pid=200, dispatches=(), transfers=())
    for name, trace in (("a.db", TRACE), ("b.db", idle)):
        write_rocpd(tmp_path / name, trace, environment=json.dumps(_TORCHRUN))
    assert commscope.load([tmp_path]).ranks.column("rank").to_pylist() == [3]


def _database(path: Path) -> Path:
    secrets = {"TOKEN": SECRET, "RANK": "3", "LOCAL_RANK": SECRET, SECRET: "3"}
    return write_rocpd(path / "a.db", TRACE, environment=json.dumps(secrets))


def _document(path: Path) -> Path:
    process = process_of(TRACE)
    process["metadata"] |= {
        "command": ["train", "--key", SECRET],
        "config": {"environment": {"TOKEN": SECRET}, "output_path": SECRET},
        "environment": {"TOKEN": SECRET, "RANK": SECRET},
    }
    file = path / "100_results.json"
    file.write_text(json.dumps({"rocprofiler-sdk-tool": [process]}))
    return file


@pytest.mark.parametrize("written", [_database, _document])
@pytest.mark.parametrize(
    "command",
    [
        ("analyze",),
        ("analyze", "--format", "json"),
        ("inspect",),
        ("inspect", "--format", "json"),
        ("convert", "-o", "out.json"),
        ("convert", "-o", "out"),
    ],
    ids=" ".join,
)
def test_no_output_holds_a_secret(
    tmp_path: Path, monkeypatch: Any, capfd: Any, command: tuple[str, ...],
    written: Callable[[Path], Path],
) -> None:  # fmt: skip
    file = written(tmp_path)
    assert SECRET.encode() in file.read_bytes()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert run([*command, str(file)]) == 0
    out, err = capfd.readouterr()
    made = b"".join(f.read_bytes() for f in (tmp_path / "here").rglob("*") if f.is_file())
    assert out or made
    assert SECRET.encode() not in made + out.encode() + err.encode()


def test_no_reading_holds_a_secret(tmp_path):
    reading = read_one(_database(tmp_path))
    tables = [t.to_pydict() for t in (reading.events, reading.host, reading.collectives)]
    assert SECRET not in repr((reading, tables))


def test_a_secret_is_in_no_error(tmp_path):
    nothing = LogicalTrace((), (), (), ())
    path = write_rocpd(tmp_path / "a.db", nothing, environment=f'{{"RANK": "{SECRET}"')
    with pytest.raises(commscope.errors.FormatError) as caught:
        read_one(path)
    assert SECRET not in str(caught.value)
