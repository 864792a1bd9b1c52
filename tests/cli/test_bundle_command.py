"""``commscope bundle``: one file that reads as the run did, with or without its names."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import planted
import pytest
from saved_files import legible, members
from small_run import write_run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_archive_reads_as_the_run(here: Path, call: Any) -> None:
    outcome = call("bundle", write_run(here / "run"), "-o", "run.tar.gz")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("wrote run.tar.gz (")
    assert outcome.out.endswith("): 2 traces\n")
    wanted = call("analyze", "run", "--format", "json").out
    assert call("analyze", "run.tar.gz", "--format", "json").out == wanted
    assert members(here / "run.tar.gz")["report.json"].decode() == wanted
    assert json.loads(call("inspect", "run.tar.gz", "--format", "json").out)["files"]


def test_members_tell_no_user_and_no_time(here: Path, call: Any) -> None:
    for name in ("one.tar.gz", "two.tgz"):
        assert call("bundle", write_run(here / "run"), "-o", name).code == 0
    assert (here / "one.tar.gz").read_bytes() == (here / "two.tgz").read_bytes()
    with tarfile.open(here / "one.tar.gz") as archive:
        found = archive.getmembers()
    names = [member.name for member in found]
    assert names == sorted(names)
    assert all(name.startswith("commscope-run/") and ".." not in name for name in names)
    assert {(m.uid, m.gid, m.uname, m.gname, m.mtime) for m in found} == {(0, 0, "", "", 0)}
    assert all(member.isreg() for member in found)


def test_redact(here: Path, call: Any) -> None:
    run = planted.write(here / "run")
    outcome = call("bundle", run, "--redact", "-o", "run.tar.gz")
    assert (outcome.code, outcome.err) == (0, "")
    told = outcome.out.splitlines()
    assert told[1].startswith("renamed 4 files, ")
    assert "1 host," in told[1]
    assert told[2].startswith("Look through")
    text = legible(members(here / "run.tar.gz")).lower()
    assert [secret for secret in planted.SECRETS if secret.lower() in text] == []
    assert json.loads(members(here / "run.tar.gz")["run.json"])["redacted"] is True
    for command in ("analyze", "log", "env", "inspect"):
        found = call(command, "run.tar.gz")
        assert (found.code, found.err) == (0, "")
        assert not [secret for secret in planted.SECRETS if secret.lower() in found.out.lower()]


def test_what_is_refused(here: Path, refused: Any) -> None:
    run = write_run(here / "run")
    assert "name it .tar.gz" in refused(2, "bundle", run, "-o", "run.zip")
    assert "lies where traces are read from" in refused(2, "bundle", run, "-o", run / "x.tar.gz")
    assert "no folder" in refused(2, "bundle", run, "-o", "gone/x.tar.gz")
    assert "--reference" in refused(2, "bundle", run, "-o", "x.tar.gz", "--reference", "r.txt")
    assert not (here / "x.tar.gz").exists()
