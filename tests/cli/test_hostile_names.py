"""Names from outside reach no output as anything but text."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from small_run import trace

NAMES = {
    "colour": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;owned\x07",
    "c1": "\x9b31mred",
    "markup": "[bold red]gemm[/] [link=file:///]x[/link] [/]",
    "emoji": ":bomb: :smile:",
    "bidi": "gemm\u202egnp.exe\u2066\u2069",
    "long": "k" * 100_000,
    "lines": "a\nb\r\nc\u2028d\te",
    "surrogate": "a\ud800b",
    "null": "a\x00b",
    "html": "<script>alert(1)</script>",
}


def is_harmless(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("command", ["analyze", "collectives", "stragglers", "kernels", "inspect"])
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_kernel_names(command: str, name: str, tmp_path: Path, call) -> None:
    (tmp_path / "rank0.json").write_bytes(trace(0, name=name))
    outcome = call(command, tmp_path, *(("-v",) if command == "analyze" else ()))
    assert (outcome.code, outcome.err) == (0, "")
    assert is_harmless(outcome.out)
    assert max(map(len, outcome.out.split("\n"))) < 300


@pytest.mark.parametrize("key", ["markup", "emoji", "html"])
def test_what_looks_like_markup_is_shown_as_it_is(key: str, tmp_path: Path, call) -> None:
    (tmp_path / "rank0.json").write_bytes(trace(0, name=NAMES[key]))
    assert NAMES[key] in call("kernels", tmp_path).out


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_json_keeps_the_name(name: str, tmp_path: Path, call) -> None:
    (tmp_path / "rank0.json").write_bytes(trace(0, name=name))
    outcome = call("kernels", tmp_path, "--format", "json")
    names = {row["name"] for row in json.loads(outcome.out)}
    assert name.encode("utf-8", "replace").decode() in names


@pytest.mark.parametrize("command", ["analyze", "collectives", "stragglers", "kernels", "inspect"])
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_json_steers_no_terminal(command: str, name: str, tmp_path: Path, call) -> None:
    data = trace(0, name=name)
    (tmp_path / "rank0.json").write_bytes(data)
    write(tmp_path, FILES["bidi"], data[:50])
    assert is_harmless(call(command, tmp_path, "--format", "json").out)


FILES = {
    "escape": b"rank0\x1b]0;t\x07.json",
    "markup": b"rank0[bold red] [slash] [].json",
    "newline": b"rank0\n\tx.json",
    "latin1": b"rank0-\xe9.json",
    "not_utf8": b"rank0-\xff\xfe.json",
    "bidi": "rank0\u202enosj.".encode(),
}


def write(folder: Path, name: bytes, data: bytes) -> str:
    path = os.path.join(os.fsencode(folder), name)
    with open(path, "wb") as file:
        file.write(data)
    return os.fsdecode(path)


@pytest.mark.parametrize("command", ["analyze", "collectives", "stragglers", "kernels", "inspect"])
@pytest.mark.parametrize("style", ["text", "json"])
@pytest.mark.parametrize("name", FILES.values(), ids=FILES)
def test_file_names(command: str, style: str, name: bytes, tmp_path: Path, call) -> None:
    write(tmp_path, name, trace(None))
    write(tmp_path, b"other" + name, b"no trace")
    outcome = call(command, tmp_path, "--format", style)
    assert (outcome.code, outcome.err) == (0, "")
    assert style == "json" or is_harmless(outcome.out)
    assert style == "text" or json.loads(outcome.out)


@pytest.mark.parametrize("name", FILES.values(), ids=FILES)
def test_file_names_in_errors(name: bytes, tmp_path: Path, refused) -> None:
    path = write(tmp_path, name, b"")
    refused(3, "analyze", path)
    refused(2, "analyze", path + "x")


def test_two_names_that_are_not_utf8_stay_two(tmp_path: Path, call) -> None:
    for name in (b"rank0-\xff.json", b"rank1-\xfe.json"):
        write(tmp_path, name, trace(None))
    files = json.loads(call("inspect", tmp_path, "--format", "json").out)["files"]
    assert [file["file"] for file in files] == [r"rank0-\xff.json", r"rank1-\xfe.json"]
