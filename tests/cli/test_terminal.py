"""What people see on a terminal: colours, widths, and a progress bar that leaves nothing."""

from __future__ import annotations

import os
import pty
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_run import write_run

from commscope.cli import progress as progress_module
from commscope.cli.main import run
from commscope.cli.progress import reading_progress

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")
ERASED = "\x1b[2K"


class Screen:
    """A terminal in place of one of the standard streams, and what it was sent."""

    def __init__(self) -> None:
        self.text = ""
        self._main, side = pty.openpty()
        self.stream = os.fdopen(side, "w", encoding="utf-8")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        received = b""
        try:
            while data := os.read(self._main, 1 << 16):
                received += data
        except OSError:
            pass  # the other side was closed
        self.text = received.decode()

    def close(self) -> None:
        self.stream.close()
        self._reader.join()
        os.close(self._main)


@contextmanager
def screen(
    monkeypatch: pytest.MonkeyPatch, name: str, columns: int = 100, **environment: str
) -> Iterator[Screen]:
    terminal = {"TERM": "xterm-256color", "COLUMNS": str(columns)}
    shown = Screen()
    with monkeypatch.context() as patch:
        for variable in ("NO_COLOR", "FORCE_COLOR"):
            patch.delenv(variable, raising=False)
        for variable, value in {**terminal, **environment}.items():
            patch.setenv(variable, value)
        patch.setattr(sys, name, shown.stream)
        yield shown
        shown.close()


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def shown_on(monkeypatch: pytest.MonkeyPatch, *arguments: object, **how: object) -> str:
    with screen(monkeypatch, "stdout", **how) as terminal:
        assert run([str(argument) for argument in arguments]) == 0
    return terminal.text


@pytest.mark.parametrize("command", ["analyze", "collectives", "stragglers", "kernels"])
@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_lines_fit_the_terminal(
    command: str, columns: int, run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown_on(monkeypatch, command, run_folder, columns=columns)
    widths = [len(line) for line in _CONTROL.sub("", text).splitlines()]
    assert 0 < max(widths) <= columns


def test_colours_on_a_terminal_unless_unwanted(
    run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coloured = re.compile(r"\x1b\[(?:\d+;)*3\d")
    assert coloured.search(shown_on(monkeypatch, "analyze", run_folder))
    assert not coloured.search(shown_on(monkeypatch, "analyze", run_folder, NO_COLOR="1"))
    assert "\x1b" not in shown_on(monkeypatch, "analyze", run_folder, TERM="dumb")


def test_colours_in_a_pipe_only_if_wanted(
    run_folder: Path, call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b" not in call("analyze", run_folder).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in call("analyze", run_folder).out


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "PATIENCE_S", -1.0)


def read_something(*, quiet: bool = False) -> None:
    with reading_progress(quiet=quiet) as progress:
        progress("[red]a\x1b]0;b.json", 1, 2, 3_000_000, 9_000_000)
        progress("b.json", 2, 2, 9_000_000, None)


@pytest.mark.usefixtures("impatient")
def test_progress_shows_bytes_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with screen(monkeypatch, "stderr", columns=160) as terminal:
        read_something()
    shown = _CONTROL.sub("", terminal.text)
    assert "b.json (2 of 2)" in shown
    assert "9.0" in shown
    assert "MB" in shown
    assert "\x1b]" not in terminal.text
    assert terminal.text.endswith(ERASED)
    assert terminal.text.count("\n") == terminal.text.count("\x1b[1A")


@pytest.mark.usefixtures("impatient")
def test_no_progress_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    with screen(monkeypatch, "stderr") as quiet:
        read_something(quiet=True)
    with screen(monkeypatch, "stderr", TERM="dumb") as dumb:
        read_something()
    assert (quiet.text, dumb.text) == ("", "")


@pytest.mark.usefixtures("impatient")
def test_no_progress_in_a_log_file(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    read_something()
    assert capfd.readouterr() == ("", "")


def test_short_reading_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "PATIENCE_S", 3600.0)
    with screen(monkeypatch, "stderr") as terminal:
        read_something()
    assert terminal.text == ""


def test_interrupt_is_quiet(run_folder: Path, call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("commscope.engine.load.find_sources", interrupted)
    outcome = call("analyze", run_folder)
    assert (outcome.code, outcome.out, outcome.err.strip()) == (130, "", "")
