"""Logs of a job: none is lost, none fills the disk, and gathering them ends in time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commscope.collect import logs
from commscope.collect.variables import log_variables, users_log_files


def never() -> bool:
    return False


def test_a_log_that_grows_is_emptied_and_its_begin_kept(tmp_path: Path) -> None:
    folder, target = tmp_path / "logs", tmp_path / "run" / "logs"
    folder.mkdir()
    path = folder / "nccl.a.1.log"
    with path.open("wb") as log:
        log.write(b"begin\n" + b"x" * 100_000)
        log.flush()
        logs.shorten(folder, most_bytes=50_000, begin_bytes=6)
        log.write(b"y" * 100_000)
        log.flush()
        logs.shorten(folder, most_bytes=50_000, begin_bytes=6)
        log.write(b"end\n")
    assert path.stat().st_blocks * 512 <= 50_000
    logs.gather(folder, target, never)
    assert list(folder.iterdir()) == []
    text = (target / path.name).read_bytes()
    assert text.startswith(b"begin\n\n")
    assert text.endswith(b"end\n")
    assert b"y" not in text


def test_a_log_of_usual_length_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"x" * 1000)
    logs.shorten(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.log"]
    assert (tmp_path / "a.log").stat().st_size == 1000


def test_without_time_logs_stay_where_they_are(tmp_path: Path) -> None:
    folder, target = tmp_path / "logs", tmp_path / "run"
    folder.mkdir()
    (folder / "a.log").write_bytes(b"text")
    with pytest.raises(OSError, match="no time was left"):
        logs.gather(folder, target, lambda: True)
    assert (folder / "a.log").read_bytes() == b"text"
    assert list(target.iterdir()) == []
    assert logs.has_files(folder)


def test_links_and_hidden_files_are_no_logs(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "link.log").symlink_to("/etc/passwd")
    (folder / ".hidden").write_bytes(b"")
    logs.gather(folder, tmp_path / "run", never)
    assert not (tmp_path / "run").exists()
    assert not logs.has_files(tmp_path / "no-such-folder")


def test_a_sign_in_the_name_of_a_folder_is_no_sign_of_the_library(tmp_path: Path) -> None:
    set_here = log_variables("start", Path("/tmp/100%h"), {"HOME": str(tmp_path)}).variables
    assert set_here["NCCL_DEBUG_FILE"] == "/tmp/100%%h/nccl.%h.%p.log"


@pytest.mark.parametrize(
    ("name", "folder", "fits", "differs"),
    [
        ("/logs/%h/x.%p", "/logs/%h", "x.12", "x.y"),
        ("/logs/a+%h.%p.log", "/logs", "a+node1.12.log", "a+node2.12.log"),
        ("/all", "/", "all", "al"),
        ("/a/50%%", "/a", "50%", "50%%"),
        ("here.%p.log", ".", "here.12.log", "here.log"),
        ("logs/x.%p", "logs", "x.12", "x.y"),
    ],
)
def test_names_of_the_users_logs(name: str, folder: str, fits: str, differs: str) -> None:
    given = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": name}
    found = users_log_files(given, "node1.cluster")
    assert found is not None
    assert found[0] == Path(folder)
    assert found[1].fullmatch(fits)
    assert not found[1].fullmatch(differs)


@pytest.mark.parametrize("name", ["", "stderr", "stdout", "/dev/stderr"])
def test_output_of_the_job_is_no_log_file(name: str) -> None:
    assert users_log_files({"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": name}, "a") is None


def test_only_new_logs_of_the_users_are_copied(tmp_path: Path) -> None:
    path = tmp_path / "a.1.log"
    path.write_bytes(b"old")
    pattern, now = re.compile(r"a\..*"), path.stat().st_mtime_ns
    logs.gather_users(tmp_path, pattern, now + 1, tmp_path / "run", never)
    assert not (tmp_path / "run").exists()
    logs.gather_users(tmp_path, pattern, now, tmp_path / "run", never)
    assert (tmp_path / "run" / "a.1.log").read_bytes() == b"old"
    assert path.exists()
