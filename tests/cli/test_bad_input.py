"""Whatever is given instead of a trace: one line that says what, where and what to do."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_run import CUT_EARLY, STEPS, trace, write_run

from commscope.errors import DataError, FormatError, UsageError
from commscope.parsers import opening

USAGE, FORMAT, DATA = (e.exit_code for e in (UsageError, FormatError, DataError))
Refused = Callable[..., str]
ROCPROF = {"rocprofiler-sdk-tool": [{"metadata": {}, "kernel_dispatch": []}]}

WRONG = {
    "nothing": (b"", "is empty"),
    "blank.json": (b"\n\n  ", "is empty"),
    "random.bin": (bytes(range(256)) * 20, "binary data"),
    "plot.png": (b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG image"),
    "table.csv": (b"a,b\n1,2\n", "CSV"),
    "table.parquet": (b"PAR1" + bytes(50) + b"PAR1", "Parquet"),
    "config.json": (b'{"lr": 0.1}', "JSON without trace events"),
    "list.json": (b"[1, 2, 3]", "JSON without trace events"),
    "text.json": (b'"trace"', "JSON without trace events"),
    "one_byte.json": (b"{", "JSON without trace events"),
    "results.json": (json.dumps(ROCPROF).encode(), "before its first activity"),
    "train.log": (b"epoch 1 loss 3.2\n" * 50, "text"),
    "page.html": (b"<!doctype html><html></html>", "HTML"),
    "cut.gz": (gzip.compress(trace())[:9], "cut or damaged"),
    "garbage.gz": (b"\x1f\x8b\x08" + b"\xff" * 50, "cut or damaged"),
    "header.json": (CUT_EARLY[:20], "cut"),
    "first.json": (CUT_EARLY, "before its first event"),
    "name.pt.trace.json": (b"hello", "is not a trace"),
}


@pytest.mark.parametrize("command", ["analyze", "collectives", "stragglers", "kernels"])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_file(name: str, command: str, tmp_path: Path, refused: Refused) -> None:
    data, says = WRONG[name]
    (tmp_path / name).write_bytes(data)
    line = refused(FORMAT, command, tmp_path / name)
    assert says in line
    assert name in line


def test_json_is_asked_for_and_the_error_is_still_one_line(
    tmp_path: Path, refused: Refused
) -> None:
    (tmp_path / "x.json").write_bytes(b"")
    refused(FORMAT, "analyze", tmp_path / "x.json", "--format", "json")


def test_missing_file_suggests_a_near_name(tmp_path: Path, refused: Refused) -> None:
    write_run(tmp_path)
    assert "did you mean rank0.json" in refused(USAGE, "analyze", tmp_path / "rank0.jsn")


@pytest.mark.parametrize("name", ["gone/x.json", "*.nope", "new\nline", ""])
def test_nothing_there(
    name: str, tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(USAGE, "analyze", name)


def test_empty_folder(tmp_path: Path, refused: Refused) -> None:
    assert "holds no file" in refused(USAGE, "analyze", tmp_path)


def test_folder_without_traces_says_what_is_in_it(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "a.log").write_bytes(b"hello")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert "a.log (text), b.png (a PNG image)" in refused(FORMAT, "analyze", tmp_path)


def document(*events: dict[str, object]) -> bytes:
    return json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()


OPERATOR = {
    "ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2.0,
}  # fmt: skip


@pytest.mark.parametrize("data", [document(), document(OPERATOR)], ids=["no events", "CPU only"])
def test_no_gpu_activity(data: bytes, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "x.json").write_bytes(data)
    assert "no GPU activity" in refused(DATA, "analyze", tmp_path / "x.json")


def test_truncated_anywhere_gives_a_result_or_says_so(tmp_path: Path, call) -> None:
    whole = trace()
    codes = set()
    for size in range(40, len(whole), 97):
        (tmp_path / "x.json").write_bytes(whole[:size])
        outcome = call("analyze", tmp_path / "x.json")
        codes.add(outcome.code)
        assert outcome.code in (0, FORMAT), outcome.err
        assert bool(outcome.out) == (outcome.code == 0)
        assert outcome.err.count("\n") == (outcome.code != 0)
    assert codes == {0, FORMAT}


def test_cut_before_gpu_activity_blames_the_cut(tmp_path: Path, refused: Refused) -> None:
    whole = trace()
    at = whole.index(b'"kernel"')
    (tmp_path / "x.json").write_bytes(whole[: at - 100])
    line = refused(FORMAT, "analyze", tmp_path / "x.json")
    assert "no GPU activity in what could be read" in line


def test_damaged_gzip(tmp_path: Path, refused: Refused) -> None:
    packed = bytearray(gzip.compress(trace(), mtime=0))
    packed[60:80] = b"\xff" * 20
    (tmp_path / "x.json.gz").write_bytes(packed)
    refused(FORMAT, "analyze", tmp_path / "x.json.gz")


def test_file_that_the_system_refuses(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_to_open(monkeypatch, write_run(tmp_path) / "rank0.json")
    assert "Permission denied" in refused(USAGE, "analyze", tmp_path / "rank0.json")


def refuse_to_open(monkeypatch: pytest.MonkeyPatch, *files: Path) -> None:
    """The permission bits do not stop the superuser, so opening itself fails."""

    def refusing(path: object, *rest: Any, **more: Any) -> int:
        if path in files:
            raise PermissionError(13, "Permission denied", str(path))
        return os_open(path, *rest, **more)

    os_open = os.open
    monkeypatch.setattr(opening.os, "open", refusing)


def test_unreadable_file_in_a_folder_is_left_out_and_said(
    tmp_path: Path, call, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_to_open(monkeypatch, write_run(tmp_path) / "rank1.json")
    outcome = call("analyze", tmp_path)
    assert outcome.code == 0
    assert "1 unreadable file was skipped: rank1.json" in outcome.out


def test_folder_of_unreadable_files(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path)
    refuse_to_open(monkeypatch, run / "rank0.json", run / "rank1.json")
    assert "2 unreadable files" in refused(USAGE, "analyze", tmp_path)


def test_damaged_file_in_a_folder_is_left_out_and_said(tmp_path: Path, call) -> None:
    (write_run(tmp_path) / "rank1.json").write_bytes(CUT_EARLY)
    outcome = call("analyze", tmp_path)
    assert outcome.code == 0
    assert "left out: rank1.json" in outcome.out


def test_folder_of_damaged_files(tmp_path: Path, refused: Refused) -> None:
    for name in ("rank0.json", "rank1.json"):
        (tmp_path / name).write_bytes(CUT_EARLY)
    refused(FORMAT, "analyze", tmp_path)


@pytest.mark.parametrize("names", [("a/rank0.json", "b/rank0.json"), ("rank0.json", "copy.json")])
def test_one_rank_twice_names_both_files(
    names: tuple[str, str], tmp_path: Path, refused: Refused
) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(trace())
    line = refused(DATA, "analyze", tmp_path)
    assert all(name in line for name in names)


def test_links_in_circles_are_followed_once(tmp_path: Path, call) -> None:
    run = write_run(tmp_path / "run")
    (run / "up").symlink_to("..")
    (run / "self").symlink_to(".")
    (run / "gone.json").symlink_to("nowhere")
    outcome = call("analyze", run / "self")
    assert outcome.code == 0
    assert "1 broken symbolic link was skipped: gone.json" in outcome.out


@pytest.mark.parametrize("target", ["link.json", "nowhere"])
def test_link_to_nothing(target: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "link.json").symlink_to(target)
    assert "broken symbolic link" in refused(USAGE, "analyze", tmp_path / "link.json")


def test_device_file(refused: Refused) -> None:
    refused(USAGE, "analyze", "/dev/zero")


def test_archives(tmp_path: Path, call) -> None:
    run = write_run(tmp_path / "run")
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        for rank in range(2):
            archive.write(run / f"rank{rank}.json", f"rank{rank}.json")
    with tarfile.open(tmp_path / "run.tar.gz", "w:gz") as archive:
        archive.add(run, "run")
    whole, *packed = (
        call("analyze", tmp_path / f"run{end}").out for end in ("", ".zip", ".tar.gz")
    )
    assert "Exposed communication takes 20.0 %" in whole
    assert packed == [whole, whole]


def test_archive_that_holds_only_an_archive(tmp_path: Path, refused: Refused) -> None:
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr("rank0.json", trace())
    with zipfile.ZipFile(tmp_path / "out.zip", "w") as archive:
        archive.write(tmp_path / "in.zip", "in.zip")
    assert "archive inside an archive" in refused(USAGE, "analyze", tmp_path / "out.zip")


def test_encrypted_archive(tmp_path: Path, refused: Refused) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("rank0.json", trace())
    data = bytearray(buffer.getvalue())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "x.zip").write_bytes(data)
    assert "encrypted" in refused(FORMAT, "analyze", tmp_path / "x.zip")


def test_pipe_given_by_name(tmp_path: Path, call) -> None:
    os.mkfifo(tmp_path / "pipe")
    data = gzip.compress(trace())
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,), daemon=True)
    writer.start()
    assert call("analyze", tmp_path / "pipe", "-q").code == 0
    writer.join()


class Stdin:
    """Standard input without a file behind it."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.mark.parametrize("data", [trace(), gzip.compress(trace())], ids=["plain", "gzip"])
@pytest.mark.parametrize("arguments", [("-",), ("-", "-")])
def test_standard_input(
    data: bytes, arguments: tuple[str, ...], call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(data))
    outcome = call("analyze", *arguments, "--format", "json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["summary"]["steps"] == STEPS


@pytest.mark.parametrize(("data", "code"), [(b"", FORMAT), (b"PK\x03\x04" + bytes(50), USAGE)])
def test_bad_standard_input(
    data: bytes, code: int, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(data))
    assert "stdin" in refused(code, "analyze", "-")


def test_long_line_that_is_no_trace_is_told_by_its_begin(tmp_path: Path, refused: Refused) -> None:
    with gzip.open(tmp_path / "x.json.gz", "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(b"a" * (1 << 20))
    assert "text" in refused(FORMAT, "analyze", tmp_path / "x.json.gz")
