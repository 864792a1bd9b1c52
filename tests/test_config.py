"""The configuration file: what it sets, and what a bad one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from commscope.classify import ActivityClass, Patterns, classes_of, families_of
from commscope.config import Config, find_config, load_config
from commscope.errors import UsageError

GOOD = """
[patterns]
communication = ["^my_ring", 'exchange\\d']
[patterns.families]
gemm = ["^fast_mm"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "commscope.toml"


def test_patterns_are_read(file: Path) -> None:
    file.write_text(GOOD)
    names = ["my_ring<int>()", "exchange7", "fast_mm_32"]
    patterns = load_config(file).patterns
    classes, families = classes_of(names, patterns), families_of(names, patterns)
    assert classes.tolist() == [ActivityClass.COMMUNICATION] * 2 + [ActivityClass.COMPUTE]
    assert families[2] == "gemm"


def test_an_empty_file_sets_nothing(file: Path) -> None:
    file.write_text("")
    assert load_config(file) == Config(Patterns())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[patterns", "not TOML"),
        ("[pattern]", "the file: unknown key 'pattern'; known are patterns"),
        ("[patterns]\ngemm = ['x']", r"\[patterns\]: unknown key 'gemm'; known are .*families"),
        ("[patterns.families]\ngem = ['x']", "unknown class or family 'gem'"),
        ("[patterns.families]\ncopy = ['x']", "'copy' is a class; put it in"),
        ("[patterns]\ncopy = 'x'", "copy: expected a list of regular expressions"),
        ("[patterns]\ncopy = [1]", "copy: expected a list of regular expressions"),
        ("[patterns]\ncopy = ['(']", r"pattern copy=\(: not a regular expression"),
        ("patterns = 1", r"patterns: expected a table, \[patterns\]"),
        ("[patterns]\nfamilies = 1", "patterns.families: expected a table"),
    ],
)
def test_a_bad_file_is_named_with_the_reason(file: Path, text: str, says: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError, match=says) as caught:
        load_config(file)
    assert str(caught.value).startswith(f"{file}: ")


def test_bytes_that_are_not_utf8(file: Path) -> None:
    file.write_bytes(b"# \xff")
    with pytest.raises(UsageError, match="not UTF-8 at byte 2"):
        load_config(file)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load_config(tmp_path / "absent.toml")
    with pytest.raises(UsageError, match="cannot be read"):
        load_config(tmp_path)


def test_the_file_of_the_working_directory(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    assert find_config() == Config()
    file.write_text("[patterns]\ncopy = ['^blit']\n")
    assert len(find_config().patterns.copy) == 1
    other = file.with_name("other.toml")
    other.write_text("")
    assert find_config(other) == Config()
