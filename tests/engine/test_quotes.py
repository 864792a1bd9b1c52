"""Quoted lines: the right ones, harmless, and none where the file is not what it was."""

from __future__ import annotations

import gzip
from collections.abc import Collection
from pathlib import Path

import pytest

from commscope.engine.logs import load_logs
from commscope.engine.quotes import MOST_CHARACTERS, quoted_lines, safe

HEAD = "nodeA:10:10 [0] NCCL INFO "
RECORDS = [f"{HEAD}Channel {number:02d}/04 : 0 1" for number in range(4)]


def _texts(path: Path, wanted: Collection[int], text: str | None = None) -> dict[int, str]:
    """The quoted lines of a file; ``text`` is what it holds by the time it is quoted."""
    loaded = load_logs([path])
    if text is not None:
        path.write_text(text)
    name = loaded.logs.files[0].file
    found = quoted_lines(loaded.logs.sources, {name: wanted})
    return {line: said for (_, line), said in found.items()}


def test_lines_are_found_by_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("".join(f"{record}\r\n\n" for record in RECORDS))
    assert _texts(path, {7, 1}) == {1: RECORDS[0], 7: RECORDS[3]}


def test_compressed_files_are_quoted(tmp_path: Path) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress("".join(f"{record}\n" for record in RECORDS).encode()))
    assert _texts(path, {2}) == {2: RECORDS[1]}


def test_of_a_line_with_a_progress_bar_the_record_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(f"first\n 1 %\r 2 %\r{RECORDS[0]}\rx\nlast {RECORDS[1]}\n")
    assert _texts(path, {2, 3}) == {2: RECORDS[0], 3: RECORDS[1]}


def test_many_lines_in_many_blocks(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("".join(f"{HEAD}Ring {number} : 0 -> 1 -> 2\n" for number in range(60_000)))
    wanted = {1, 25_000, 25_001, 60_000}
    assert _texts(path, wanted) == {n: f"{HEAD}Ring {n - 1} : 0 -> 1 -> 2" for n in wanted}


def test_a_file_that_has_changed_is_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(f"{RECORDS[0]}\n")
    assert _texts(path, {1}, text="another\n") == {}


def test_a_file_that_is_gone_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    paths = [tmp_path / "job" / name for name in ("a.log", "b.log")]
    for path in paths:
        path.write_text(f"{RECORDS[0]}\n{path.name}\n")
    loaded = load_logs([tmp_path / "job"])
    paths[0].unlink()
    wanted = {file.file: {1} for file in loaded.logs.files}
    found = quoted_lines(loaded.logs.sources, wanted)
    assert list(found.values()) == [RECORDS[0]]


@pytest.mark.parametrize(
    "line",
    [
        f"{HEAD}HF_TOKEN set by environment to hunter2",
        f"{HEAD}NCCL_FOO_TOKEN set by environment to hunter2",
        f"{HEAD}MY_SETTING set to hunter2 and hunter2",
        f"export WANDB_API_KEY=hunter2 {RECORDS[0]}",
        f"{RECORDS[0]} AWS_SECRET_ACCESS_KEY=hunter2",
        f"{RECORDS[0]} password: hunter2",
        f"{RECORDS[0]} Authorization: Bearer hunter2hunter2",
        f"{RECORDS[0]} {{'token': 'hunter2'}}",
        f"{RECORDS[0]} https://me:hunter2@example.org/x",
        f"{RECORDS[0]} hf_hunter2hunter2",
        f"{RECORDS[0]} eyJhunter2.hunter2",
        f"{RECORDS[0]} Xhunter2{'aB3' * 12}",
    ],
)
def test_nothing_secret_is_quoted(line: str) -> None:
    assert "hunter2" not in safe(line.encode())


@pytest.mark.parametrize(
    "line",
    [
        f"{HEAD}NCCL_P2P_DISABLE set by environment to 1",
        f"{HEAD}ncclCommInitRank comm 0xb3b4e50 rank 0 nranks 2 busId 60 commId 0xc391869632c3b35d",
        f"{HEAD}/longer_pathname_so_that_rpms_can_support_packaging/hipify/src/init.cc:140 -> 1",
        f"{HEAD}NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:192.0.2.2<0>",
        "[rank0]:[E1206 18:44:12.7 ProcessGroupNCCL.cpp:607] WorkNCCL(SeqNum=7753, OpType=X)",
        "NCCL WARN Missing \"iommu=pt\" from kernel command line",
    ],
)  # fmt: skip
def test_what_matters_is_quoted_whole(line: str) -> None:
    assert safe(line.encode()) == line


def test_what_others_wrote_before_a_record_is_left_out() -> None:
    assert safe(f"loss 0.1 {RECORDS[0]}".encode()) == RECORDS[0]


def test_long_lines_are_cut() -> None:
    assert len(safe(f"{HEAD}{'x ' * 10_000}".encode())) == MOST_CHARACTERS
    assert safe(b"\xff\xfe") == "\ufffd\ufffd"


def test_a_line_of_many_megabytes_is_cut_before_it_is_looked_at() -> None:
    """Were it not, this would take minutes."""
    assert safe(b"a" * (32 << 20)) == "***"
    assert safe(b"a:1 " * (8 << 20)).startswith("a:1 a:1 ")
