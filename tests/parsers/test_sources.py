"""Finding sources: folders, patterns, archives, links, labels, and what is passed over."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import socket
import struct
import sys
import tarfile
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from commscope.errors import CorruptTrace, FormatError, UsageError
from commscope.parsers.opening import open_blocks, read_head
from commscope.parsers.sources import Found, find_sources, natural

TEXT = b'{"traceEvents": [' + b'{"ph": "X"}, ' * 4000


def labels(found: Found) -> list[str]:
    return [source.label for source in found.sources]


def contents(found: Found) -> dict[str, bytes]:
    return {source.label: read_all(source) for source in found.sources}


def read_all(source) -> bytes:
    with open_blocks(source, block_bytes=1000) as blocks:
        return b"".join(blocks)


def write(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return folder


def make_zip(path: Path, members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tar_bytes(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def test_folder_in_natural_order_with_relative_labels(tmp_path: Path) -> None:
    write(tmp_path, "rank10.json", "rank2.json", "sub/rank1.json", ".hidden", ".git/x")
    write(tmp_path, "__pycache__/y")
    found = find_sources([tmp_path])
    assert labels(found) == ["rank2.json", "rank10.json", "sub/rank1.json"]
    assert not any(source.named for source in found.sources)
    assert found.notes == ()


def test_file_knows_size_time_and_that_it_was_named(tmp_path: Path) -> None:
    path = write(tmp_path, "rank0.json") / "rank0.json"
    os.utime(path, ns=(5, 1_234_567_891))
    (source,) = find_sources([str(path)]).sources
    assert (source.path, source.member, source.label) == (path, None, "rank0.json")
    assert (source.size, source.modified, source.named) == (10, 1_234_567_891, True)
    assert pickle.loads(pickle.dumps(source)) == source


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("rank*.json", ["rank1.json", "rank2.json"]),
        ("**/rank*.json", ["a/b/rank3.json", "a/rank0.json", "rank1.json", "rank2.json"]),
        ("a/*/*.json", ["b/rank3.json"]),
        ("rank[2-9].json", ["rank2.json"]),
        ("a*", ["a/b/rank3.json", "a/rank0.json"]),
    ],
)
def test_pattern(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    write(tmp_path, "rank2.json", "rank1.json", "a/rank0.json", "a/b/rank3.json", "other.log")
    found = find_sources([str(tmp_path / pattern)])
    assert labels(found) == expected
    assert not any(source.named for source in found.sources)


def test_pattern_relative_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path, "run/rank1.json", "run/rank0.json"))
    assert labels(find_sources(["run/*.json"])) == ["rank0.json", "rank1.json"]
    assert labels(find_sources(["."])) == ["run/rank0.json", "run/rank1.json"]


def test_file_with_a_name_like_a_pattern(tmp_path: Path) -> None:
    path = write(tmp_path, "rank[0].json") / "rank[0].json"
    assert labels(find_sources([path])) == ["rank[0].json"]


def test_missing_file_names_close_ones(tmp_path: Path) -> None:
    write(tmp_path, "rank0.json")
    with pytest.raises(UsageError, match=r"rank0\.jsn: no such file.*did you mean rank0\.json\?"):
        find_sources([tmp_path / "rank0.jsn"])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("none*.json", "no file fits this pattern"),
        ("gone/away", "no such file or folder, nor is"),
        ("a\0b", "no such file or folder"),
        ("x" * 5000, "no such file or folder"),
        ("empty", "holds no file"),
        ("broken", "broken symbolic link"),
        ("loop", "broken symbolic link"),
        ("socket", "neither a file, a folder nor a pipe"),
    ],
)
def test_nothing_to_read_is_one_line(
    tmp_path: Path, given: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty/.hidden").mkdir(parents=True)
    Path("broken").symlink_to("nowhere")
    Path("loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(UsageError, match=says) as error:
            find_sources([given])
    assert "\n" not in str(error.value)


def test_nothing_given() -> None:
    with pytest.raises(UsageError, match="no input was given"):
        find_sources([])


def test_links_are_followed_but_each_file_counts_once(tmp_path: Path) -> None:
    write(tmp_path, "run/rank0.json", "run/deep/rank1.json", "elsewhere/rank2.json")
    run = tmp_path / "run"
    (run / "a_link").symlink_to("rank0.json")
    (run / "a_folder").symlink_to(run / "deep")
    (run / "deep" / "up").symlink_to(run)
    (run / "self").symlink_to("self")
    (run / "gone").symlink_to("nowhere")
    (run / "away").symlink_to(tmp_path / "elsewhere")
    found = find_sources([run])
    assert labels(found) == ["away/rank2.json", "deep/rank1.json", "rank0.json"]
    assert found.notes == ("2 broken symbolic links were skipped: gone, self",)


def test_special_files_in_a_folder_are_skipped(tmp_path: Path) -> None:
    write(tmp_path, "rank0.json")
    os.mkfifo(tmp_path / "pipe")
    found = find_sources([tmp_path])
    assert labels(found) == ["rank0.json"]
    assert found.notes == ("1 socket, pipe or device file was skipped: pipe",)
    assert labels(find_sources([str(tmp_path / "*")])) == ["rank0.json"]


def test_same_file_given_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, "rank0.json", "rank1.json")
    path = tmp_path / "rank0.json"
    found = find_sources([tmp_path, path, path, f"{tmp_path}/*.json", tmp_path])
    assert labels(found) == ["rank0.json", "rank1.json"]
    assert [source.named for source in found.sources] == [True, False]


def test_equal_labels_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    write(tmp_path, "x/a/rank0.json", "x/a/rank1.json", "x/b/rank0.json", "y/a/rank0.json")
    write(tmp_path, "z/rank7.json")
    two = find_sources([tmp_path / "x/a", tmp_path / "x/b"])
    assert labels(two) == ["a/rank0.json", "a/rank1.json", "b/rank0.json"]
    three = find_sources([tmp_path / "x/a", tmp_path / "y/a", tmp_path / "z"])
    assert labels(three) == ["rank7.json", "x/a/rank0.json", "x/a/rank1.json", "y/a/rank0.json"]


def test_equal_names_given_by_name_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path, "x/t.json", "y/t.json")
    assert labels(find_sources([tmp_path / "x/t.json", tmp_path / "y/t.json"])) == [
        "x/t.json",
        "y/t.json",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_may_not_be_read(tmp_path: Path) -> None:
    write(tmp_path, "open.json", "shut.json", "shut/rank0.json")
    (tmp_path / "shut.json").chmod(0)
    (tmp_path / "shut").chmod(0)
    try:
        found = find_sources([tmp_path])
        assert labels(found) == ["open.json"]
        assert len(found.notes) == 2
        with pytest.raises(UsageError, match="Permission denied"):
            find_sources([tmp_path / "shut.json"])
        with pytest.raises(UsageError, match="Permission denied"):
            find_sources([tmp_path / "shut"])
        with pytest.raises(UsageError, match="Permission denied"):
            find_sources([tmp_path / "shut" / "rank0.json"])
    finally:
        (tmp_path / "shut").chmod(0o700)


def test_unreadable_file_is_counted_in_a_folder_and_an_error_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "rank0.json", "rank1.json")
    real = os.open

    def forbid(path: object, *more: int) -> int:
        if str(path).endswith("rank1.json"):
            raise PermissionError(13, "Permission denied")
        return real(path, *more)

    monkeypatch.setattr(os, "open", forbid)
    found = find_sources([tmp_path])
    assert labels(found) == ["rank0.json"]
    assert found.notes == ("1 unreadable file was skipped: rank1.json",)
    with pytest.raises(UsageError, match=r"^rank1.json: cannot be read \(Permission denied\)"):
        find_sources([tmp_path / "rank1.json"])


MEMBERS = {"run/rank10.json": TEXT, "run/rank2.json.gz": gzip.compress(TEXT), "./log": b"text"}
IN_ORDER = ["log", "run/rank2.json.gz", "run/rank10.json"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_zip(tmp_path: Path, method: int) -> None:
    found = find_sources([make_zip(tmp_path / "t.zip", MEMBERS, method)])
    assert labels(found) == [f"t.zip/{name}" for name in IN_ORDER]
    assert list(contents(found).values()) == [b"text", TEXT, TEXT]
    assert not any(source.named for source in found.sources)
    with open_blocks(found.sources[1]) as blocks:
        list(blocks)
    assert blocks.cut is None
    assert blocks.sha256 == hashlib.sha256(MEMBERS["run/rank2.json.gz"]).hexdigest()
    assert blocks.bytes_read == found.sources[1].size


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd], ids=["plain", "gzip", "zstd"])
def test_tar(tmp_path: Path, pack) -> None:
    (tmp_path / "t.tar").write_bytes(pack(tar_bytes(MEMBERS)))
    found = find_sources([tmp_path])
    assert labels(found) == [f"t.tar/{name}" for name in IN_ORDER]
    assert list(contents(found).values()) == [b"text", TEXT, TEXT]
    assert [read_head(source, 4) for source in found.sources] == [b"text", TEXT[:4], TEXT[:4]]
    assert found.notes == ()


def test_compressed_tar_is_decompressed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.tgz"
    path.write_bytes(gzip.compress(tar_bytes({f"rank{i}.json": TEXT for i in range(20)})))
    found = find_sources([path])
    path.write_bytes(b"")
    assert set(contents(found).values()) == {TEXT}


def test_compressed_zip(tmp_path: Path) -> None:
    make_zip(tmp_path / "t", MEMBERS)
    (tmp_path / "t").write_bytes(gzip.compress((tmp_path / "t").read_bytes()))
    assert list(contents(find_sources([tmp_path])).values()) == [b"text", TEXT, TEXT]


def test_member_names_are_never_absolute_and_never_written(tmp_path: Path) -> None:
    (tmp_path / "t.tar").write_bytes(tar_bytes({"/etc/x": b"1", "../y": b"2", "a//b": b"3"}))
    before = sorted(tmp_path.parent.rglob("*"))
    found = find_sources([tmp_path / "t.tar"])
    assert contents(found) == {"t.tar/../y": b"2", "t.tar/a/b": b"3", "t.tar/etc/x": b"1"}
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_later_member_of_one_name_replaces_the_earlier(tmp_path: Path) -> None:
    twice = tar_bytes({"a": b"old", "./a": b"new"})
    (tmp_path / "t.tar").write_bytes(twice)
    assert contents(find_sources([tmp_path])) == {"t.tar/a": b"new"}


def test_archive_inside_an_archive_is_said_and_not_opened(tmp_path: Path) -> None:
    inner = gzip.compress(tar_bytes({"rank0.json": TEXT}))
    make_zip(tmp_path / "t.zip", {"inner.tgz": inner, "rank1.json": TEXT})
    found = find_sources([tmp_path])
    assert labels(found) == ["t.zip/rank1.json"]
    assert found.notes == ("1 archive inside an archive was skipped: t.zip/inner.tgz",)


def test_archive_without_files(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "t.zip", {})
    with pytest.raises(UsageError, match=r"t\.zip: the archive holds no file"):
        find_sources([path])


def patch(path: Path, at: int, data: bytes) -> None:
    stored = bytearray(path.read_bytes())
    stored[at : at + len(data)] = data
    path.write_bytes(stored)


def test_encrypted_zip(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "t.zip", {"rank0.json": TEXT})
    patch(path, path.read_bytes().rindex(b"PK\x01\x02") + 8, b"\x01")
    with pytest.raises(FormatError, match=r"t\.zip: member rank0\.json is encrypted; unpack"):
        find_sources([path])
    write(tmp_path, "rank1.json")
    found = find_sources([tmp_path])
    assert labels(found) == ["rank1.json"]
    assert "encrypted" in found.notes[0]


def test_zip_packed_in_an_unknown_way(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "t.zip", {"rank0.json": TEXT}, zipfile.ZIP_LZMA)
    with pytest.raises(FormatError, match="method 14"):
        find_sources([path])


def test_cut_zip_is_corrupt_at_every_byte(tmp_path: Path) -> None:
    whole = make_zip(tmp_path / "t.zip", {"rank0.json": TEXT[:200]}).read_bytes()
    for size in range(4, len(whole)):
        (tmp_path / "t.zip").write_bytes(whole[:size])
        with pytest.raises(CorruptTrace, match=r"^t\.zip: damaged zip archive"):
            find_sources([tmp_path / "t.zip"])


def test_damaged_member_of_a_zip_gives_all_it_can(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "t.zip", {"rank0.json": TEXT}, zipfile.ZIP_STORED)
    patch(path, 1000, b"?")
    (source,) = find_sources([path]).sources
    with open_blocks(source) as blocks:
        data = b"".join(blocks)
    assert len(data) == len(TEXT)
    assert blocks.cut is not None
    assert "checksum" in blocks.cut


def test_every_cut_of_a_tar_gives_what_is_there(tmp_path: Path) -> None:
    whole = tar_bytes({"rank0.json": TEXT[:700], "rank1.json": TEXT[:700]})
    for size in range(512, 3 * 1024, 100):
        (tmp_path / "t.tar").write_bytes(whole[:size])
        found = find_sources([tmp_path])
        for data in contents(found).values():
            assert TEXT.startswith(data)
        assert found.notes == ("t.tar: the tar is cut or damaged; members may be missing",)


def test_cut_tgz_says_so(tmp_path: Path) -> None:
    noise = os.urandom(50_000)
    packed = gzip.compress(tar_bytes({"a": noise, "b": noise}))
    (tmp_path / "t.tgz").write_bytes(packed[: len(packed) * 3 // 4])
    found = find_sources([tmp_path])
    assert labels(found) == ["t.tgz/a", "t.tgz/b"]
    assert contents(found)["t.tgz/a"] == noise
    assert "the gzip data is cut" in found.notes[0]
    with open_blocks(found.sources[1]) as blocks:
        assert noise.startswith(b"".join(blocks))
    assert blocks.cut is not None
    assert "before this member does" in blocks.cut


def test_tar_with_a_damaged_header_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "t.tar"
    path.write_bytes(tar_bytes({"a": b"1", "b": b"2"}))
    patch(path, 1024, b"!!!!")
    found = find_sources([path])
    assert labels(found) == ["t.tar/a"]
    assert "damaged" in found.notes[0]


def test_links_and_devices_in_a_tar_are_no_sources(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "t.tar", "w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("rank0.json"))
    assert labels(find_sources([tmp_path])) == ["t.tar/rank0.json"]


def test_huge_offsets_in_a_zip_do_not_escape(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "t.zip", {"rank0.json": TEXT})
    at = path.read_bytes().rindex(b"PK\x01\x02") + 42
    patch(path, at, struct.pack("<I", 0x7FFFFFFF))
    with pytest.raises(CorruptTrace):
        find_sources([path])


def test_standard_input_and_a_file_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "run/stdin")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    found = find_sources(["-", tmp_path / "run" / "stdin", "-"])
    assert labels(found) == ["run/stdin", "stdin"]
    assert contents(found)["stdin"] == TEXT


def test_named_pipe_by_name(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(gzip.compress(TEXT),))
    writer.start()
    found = find_sources([path])
    assert contents(found) == {"pipe": TEXT}
    assert found.sources[0].size is None
    writer.join()


def test_archive_from_a_pipe_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(tar_bytes({"a": b"1"})[:2048],))
    writer.start()
    with pytest.raises(UsageError, match="an archive cannot come from a pipe"):
        find_sources([path])
    writer.join()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_archive_from_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch, pack) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(pack(tar_bytes({"a": b"1"}))))
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(UsageError, match="stdin: an archive cannot come from a pipe"):
        find_sources(["-"])


def test_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="standard input is closed"):
        find_sources(["-"])


def test_natural_order() -> None:
    names = ["rank10", "rank2", "rank02b", "a", "rank2/x", "rank" + "9" * 5000]
    ordered = ["a", "rank2", "rank2/x", "rank02b", "rank10", "rank" + "9" * 5000]
    assert sorted(names, key=natural) == ordered


def test_order_does_not_depend_on_the_arguments(tmp_path: Path) -> None:
    write(tmp_path, "rank0.json", "rank00.json", "b/rank3.json", "rank1.json")
    paths = sorted(tmp_path.iterdir())
    assert labels(find_sources(paths)) == labels(find_sources(paths[::-1]))
