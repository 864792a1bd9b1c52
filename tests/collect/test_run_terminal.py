"""At a terminal: its signals reach the job once, which can read from it."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from run_jobs import COUNTS_SIGNALS, LATE_S, environment, python, wrapper


@dataclass
class Terminal:
    """A terminal, as the one who sits at it sees it."""

    hand: int
    seat: int
    shown: bytes = b""

    def run(self, tmp: Path, command: list[str]) -> subprocess.Popen[bytes]:
        """Starts a command in the foreground."""

        def take() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        return subprocess.Popen(
            [*wrapper("--run-dir", str(tmp / "run")), *command],
            cwd=tmp,
            env=environment(tmp),
            stdin=self.seat,
            stdout=self.seat,
            stderr=self.seat,
            start_new_session=True,
            preexec_fn=take,  # noqa: PLW1509 - no other thread runs in a test
        )

    def wait_for(self, text: bytes) -> None:
        """Reads until a text is shown."""
        while text not in self.shown:
            assert select.select([self.hand], [], [], LATE_S)[0], self.shown
            self.shown += os.read(self.hand, 4096)

    def press(self, keys: bytes) -> None:
        """Types."""
        os.write(self.hand, keys)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    hand, seat = os.openpty()
    yield Terminal(hand, seat)
    os.close(hand)
    os.close(seat)


def test_the_interrupt_key_reaches_the_job_once(tmp_path: Path, terminal: Terminal) -> None:
    process = terminal.run(tmp_path, python(COUNTS_SIGNALS))
    terminal.wait_for(b"ready")
    terminal.press(b"\x03")
    terminal.wait_for(b"SIGINT")
    process.send_signal(signal.SIGUSR2)
    assert process.wait(LATE_S) == 7
    terminal.wait_for(b"the run is in ")
    assert terminal.shown.count(b"SIGINT") == 1


def test_a_job_without_a_handler_ends_by_the_interrupt_key(
    tmp_path: Path, terminal: Terminal
) -> None:
    process = terminal.run(tmp_path, ["sh", "-c", "echo ready; exec sleep 600"])
    terminal.wait_for(b"ready")
    terminal.press(b"\x03")
    assert process.wait(LATE_S) == -signal.SIGINT
    assert list((tmp_path / "run" / "nodes").glob("*/status.json"))


def test_the_job_reads_from_the_terminal(tmp_path: Path, terminal: Terminal) -> None:
    job = "import os, sys; print(os.isatty(0) and sys.stdin.readline().upper())"
    process = terminal.run(tmp_path, [sys.executable, "-I", "-c", job])
    terminal.press(b"hello\n")
    terminal.wait_for(b"HELLO")
    assert process.wait(LATE_S) == 0
