"""The page on commands: what it tells to type works, what it says of JSON is so."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import topology_samples as samples
from support import ROOT
from topology_samples import write_all

PAGE = ROOT / "docs" / "commands.md"
if not PAGE.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)

_TEXT = PAGE.read_text(encoding="utf-8")
_BLOCKS = re.findall(r"^```sh\n(.*?)^```$", _TEXT, re.MULTILINE | re.DOTALL)
_COMMANDS = [line for block in _BLOCKS for line in block.splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the page's commands run: with the files that they name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return write_all(
        tmp_path,
        topology___graph__xml=samples.GRAPH_XML,
        topology___nvidia__txt=samples.NVIDIA_TOPO,
        topology___collected__json=samples.MANIFEST,
        rocm_smi__txt=samples.ROCM_JSON,
        topo__xml=samples.dump(4),
    )


def test_the_page_has_commands() -> None:
    assert {shlex.split(line)[0] for line in _COMMANDS} == {"commscope"}
    assert len(_COMMANDS) >= 5


@pytest.mark.parametrize("line", _COMMANDS)
def test_commands_of_the_page_work(line: str, folder: Path, call) -> None:
    outcome = call(*shlex.split(line)[1:])
    assert outcome.code == 0
    assert outcome.out


def _leaves(value: Any, at: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, f"{at}.{name}".lstrip("."))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, f"{at}[]")
    else:
        yield at


def test_every_key_of_the_document_is_described_and_no_other(folder: Path, call) -> None:
    document = json.loads(call("env", "topology", "--format", "json").out)
    described = re.findall(r"^\| `([\w.\[\]]+)` \|", _TEXT.partition("## JSON")[2], re.MULTILINE)
    assert len(described) == len(set(described))
    assert set(_leaves(document)) == set(described)
