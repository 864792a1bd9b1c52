"""Databases that are cut, damaged, locked or unfinished end in one clear line."""

from __future__ import annotations

import fcntl
import gzip
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from format_writers.rocpd import RUN, write_rocpd
from logical_trace import three_steps
from one_file import read_one, source_of, survives
from support import case

import commscope
from commscope.errors import CommscopeError, CorruptTrace, FormatError, UnknownFormat
from commscope.parsers.detect import choose_parser
from commscope.parsers.opening import read_head
from commscope.parsers.rocpd import RocpdParser
from commscope.schema import Flag

TRACE = three_steps()


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    return write_rocpd(tmp_path_factory.mktemp("whole") / "a.db", TRACE).read_bytes()


def _error_of(path: Path, data: bytes) -> CommscopeError:
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        list(RocpdParser().read(source_of(path), lambda done, total: None))
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path.name}: ")
    return caught.value


def test_cut_at_any_byte_it_is_an_error_of_one_line(tmp_path, whole):
    for size in sorted({0, 1, 15, 16, 17, 99, 100, 101, *range(0, len(whole), 4093)}):
        _error_of(tmp_path / "a_results.db", whole[:size])


def test_a_cut_database_says_how_much_of_it_is_there(tmp_path, whole):
    error = _error_of(tmp_path / "a.db", whole[:-1])
    assert f"{len(whole) - 1:,} of {len(whole):,} bytes" in str(error)


def test_a_cut_gzip_is_an_error_of_one_line(tmp_path, whole):
    packed = gzip.compress(whole)
    for size in range(200, len(packed), 997):
        _error_of(tmp_path / "a.db.gz", packed[:size])


@pytest.mark.parametrize("seed", range(40))
def test_damage_anywhere_gives_readings_or_one_line(tmp_path, whole, seed):
    dice = random.Random(seed)
    data = bytearray(whole)
    for _ in range(dice.choice([1, 20, 400])):
        at = dice.randrange(100, len(data))
        data[at : at + 8] = bytes(8) if dice.random() < 0.5 else dice.randbytes(8)
    path = tmp_path / "a_results.db"
    path.write_bytes(data)
    for reading in survives(path):
        assert reading.input.format == "rocpd"


def test_a_database_that_is_being_written_is_refused(tmp_path, whole):
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    refused = pytest.raises(CorruptTrace, match="another program is writing it; wait")
    with _locking_process(path), refused:
        read_one(path)
    assert read_one(path).events.num_rows == 12


@contextmanager
def _locking_process(path: Path) -> Iterator[None]:
    """Another process (locks do not hold within one) that writes until the context ends."""
    program = (
        "import sqlite3, sys\n"
        "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "database.execute('BEGIN EXCLUSIVE')\n"
        "print('locked', flush=True)\n"
        "sys.stdin.read()\n"
    )
    arguments = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        yield


def test_the_lock_that_is_looked_for_is_released_again(tmp_path, whole):
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    read_one(path)
    with path.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize(
    ("suffix", "begin"), [("-wal", b"\x37\x7f\x06\x82"), ("-journal", b"\xd9\xd5\x05\xf9")]
)
def test_changes_that_a_writer_left_are_told(tmp_path, whole, suffix, begin):
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    beside = tmp_path / f"a.db{suffix}"
    beside.write_bytes(begin + bytes(5000))
    with pytest.raises(CorruptTrace, match=f"changes are left in a.db{suffix}"):
        read_one(path)
    beside.write_bytes(b"")  # one that was applied
    assert read_one(path).events.num_rows == 12


def test_a_real_log_of_changes_is_told(tmp_path, whole):
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = wal")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("CREATE TABLE more (x)")
    writer.commit()
    with pytest.raises(CorruptTrace, match="its writer did not finish"):
        read_one(path)
    writer.close()


def test_nothing_is_written_beside_the_database(tmp_path, whole):
    path = tmp_path / "a.db"
    path.write_bytes(whole)
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        read_one(path)
        assert [file.name for file in tmp_path.iterdir()] == ["a.db"]
    finally:
        tmp_path.chmod(0o755)
    assert path.read_bytes() == whole


def test_a_database_without_rows_is_unfinished(tmp_path):
    path = write_rocpd(tmp_path / "a_results.db")
    with pytest.raises(CorruptTrace, match="holds no kernel, no copy and no call"):
        read_one(path)


def test_a_database_that_only_its_name_makes_one_says_so(tmp_path):
    path = tmp_path / "a_results.db"
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 7")
    database.execute("CREATE TABLE other (x)")
    database.close()
    with pytest.raises(CorruptTrace, match="has no table of rocpd: it is another program's"):
        read_one(path)


@pytest.mark.parametrize("name", ["a.rpd", "a_results.db"])
def test_the_older_rpd_is_told_from_rocpd(tmp_path, name):
    path = tmp_path / name
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, start, end)")
    database.execute("CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, start, end)")
    database.execute("CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT)")
    database.execute("CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT)")
    database.execute("INSERT INTO rocpd_metadata (tag, value) VALUES ('schema_version', '2')")
    database.commit()
    database.close()
    with pytest.raises(FormatError, match=r"rocmProfileData \(\.rpd\), which cannot be read"):
        read_one(path)


def test_a_schema_that_is_not_known_is_named(tmp_path):
    path = write_rocpd(
        tmp_path / "a.db", TRACE, version="9.1",
        drop=["kernels", "memory_copies", "regions", "kernel_dispatch", "memory_copy", "region"],
    )  # fmt: skip
    with pytest.raises(FormatError, match=r"schema version 9\.1, which cannot be read"):
        read_one(path)


def test_a_newer_schema_that_is_like_the_known_one_is_read_and_told(tmp_path):
    [note] = read_one(write_rocpd(tmp_path / "a.db", TRACE, version="99")).health.notes
    assert note.startswith("its schema version 99 is not known")


@pytest.mark.parametrize(
    ("table", "column", "says"),
    [
        ("kernel_dispatch", "start", "no table of kernels"),
        ("kernel_dispatch", "kernel_id", "no table of kernels"),
        ("region", "name_id", "no table of calls of the host"),
        ("memory_copy", "name_id", "no table of copies"),
        ("event", "stack_id", "launches are not known"),
        ("string", "string", "calls and copies have no names"),
    ],
)
def test_a_column_that_is_missing_is_told(tmp_path, table, column, says):
    path = write_rocpd(tmp_path / "a.db", TRACE, drop=["kernels", "memory_copies", "regions"])
    database = sqlite3.connect(path)
    database.execute(f"DROP VIEW rocpd_{table}")
    database.execute(f"ALTER TABLE rocpd_{table}_{RUN} RENAME COLUMN {column} TO other")
    database.commit()
    database.close()
    assert any(says in note for note in read_one(path).health.notes)


@pytest.mark.parametrize("number", ["'x' || id", "NULL"])
def test_rows_without_a_number_are_an_error_of_one_line(tmp_path, number):
    path = tmp_path / "a.db"
    database = sqlite3.connect(path)
    database.execute(
        "CREATE TABLE rocpd_kernel_dispatch "
        "(id, nid, pid, agent_id, kernel_id, start INTEGER, end INTEGER)"
    )
    database.execute("INSERT INTO rocpd_kernel_dispatch VALUES (1, 1, 1, 1, 1, 10, 20)")
    database.execute(f"UPDATE rocpd_kernel_dispatch SET id = {number}")
    database.commit()
    database.close()
    with pytest.raises(CorruptTrace, match="rows of a table have no number"):
        read_one(path)


def test_numbers_at_the_ends_of_64_bits_are_read(tmp_path):
    path = write_rocpd(tmp_path / "a.db", TRACE)
    database = sqlite3.connect(path)
    table = f"rocpd_kernel_dispatch_{RUN}"
    database.execute(f"UPDATE {table} SET id = {2**63 - 1} WHERE id = 3")
    database.execute(f"UPDATE {table} SET id = {1 - 2**63} WHERE id = 4")
    database.commit()
    database.close()
    assert read_one(path).events.num_rows == 12


def test_other_databases_are_not_taken_for_one(tmp_path):
    path = tmp_path / "places.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE places (x)")
    database.close()
    with pytest.raises(UnknownFormat, match="SQLite database"):
        read_one(path)


@pytest.mark.parametrize(
    "name", ["omniperf/mi350_rocprof_compute_350.db.gz", "rocprof_v1/vecadd/results.db"]
)
def test_databases_of_amds_other_tools_are_not_taken_for_one(name):
    source = source_of(case(f"amd/{name}"))
    head = read_head(source)
    assert RocpdParser().match(head, source).confidence == 0


def test_text_in_numbers_and_broken_text_are_survived(tmp_path):
    path = write_rocpd(tmp_path / "a.db", TRACE)
    database = sqlite3.connect(path)
    [table] = database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_kernel_disp%'"
    ).fetchone()
    database.execute(f"UPDATE {table} SET start = 'soon', stream_id = 1e300 WHERE id = 1")
    database.execute(f"UPDATE {table} SET grid_size_x = 0, workgroup_size_x = 0 WHERE id = 2")
    database.execute(f'UPDATE {table} SET "end" = NULL WHERE id = 3')
    strings = table.replace("kernel_dispatch", "info_kernel_symbol")
    database.execute(f"UPDATE {strings} SET display_name = CAST(x'ff00fe' AS TEXT) WHERE id = 1")
    database.commit()
    database.close()
    events = read_one(path).events
    assert events.num_rows == 12
    assert sum(flags == Flag.BROKEN for flags in events.column("flags").to_pylist()) == 1
    assert commscope.load([path]).repairs[0].broken == 2
    assert None in events.column("workgroups").to_pylist()


def test_the_parser_is_chosen_by_what_the_file_holds(tmp_path, whole):
    path = tmp_path / "renamed.bin"
    path.write_bytes(whole)
    source = source_of(path)
    assert choose_parser(read_head(source), source, None).name == "rocpd"
