"""Runs jobs under the wrapper, as processes of their own."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import commscope.collect

#: More than any job of a test takes: a test waits for what happens, and fails after this.
LATE_S = 60.0

#: Names of variables that say something of another job that may run these tests.
_FOREIGN = ("SLURM_", "OMPI_", "PMI", "PET_", "NCCL_", "TORCH_", "RANK", "WORLD_SIZE", "COMMSCOPE_")

#: The wrapper, which lies in the first argument, after changes to it, which the second makes. It
#: starts soonest without what is installed, which it does not need.
_WRAPPER = """
import sys
sys.path.insert(0, sys.argv.pop(1))
exec(sys.argv.pop(1))
from commscope.collect.main import main
sys.exit(main())
"""
INSTALLED = str(Path(commscope.collect.__file__).parents[2])


@dataclass(frozen=True)
class Ran:
    """What became of a job that was run."""

    code: int
    out: bytes
    err: bytes
    folder: Path

    @property
    def told(self) -> list[str]:
        """The wrapper's own lines."""
        lines = self.err.decode("utf-8", "replace").splitlines()
        return [line for line in lines if line.startswith("commscope: ")]

    @property
    def problems(self) -> list[str]:
        """The wrapper's lines but for the one that says where the run is."""
        return [line for line in self.told if not line.startswith("commscope: the run is in ")]

    def node(self, index: int = 0) -> Path:
        """The folder of a node."""
        (found,) = (self.folder / "nodes").glob(f"{index:04d}-*")
        return found

    def status(self) -> dict[str, Any]:
        """How the job ended."""
        status: dict[str, Any] = json.loads((self.node() / "status.json").read_bytes())
        return status


def environment(tmp: Path, **more: str) -> dict[str, str]:
    """The environment of a user who has set nothing but these variables."""
    (tmp / "tmp").mkdir(exist_ok=True)
    kept = {name: it for name, it in os.environ.items() if not name.startswith(_FOREIGN)}
    return {**kept, "HOME": str(tmp), "TMPDIR": str(tmp / "tmp"), **more}


def wrapper(*options: str, change: str = "") -> list[str]:
    """The words that run what follows them; ``change`` is Python code run before."""
    begin = [sys.executable, "-S", "-E", "-c", _WRAPPER, INSTALLED, change]
    return [*begin, "run", "--no-analyze", *options, "--"]


def python(code: str, *arguments: str) -> list[str]:
    """A job that is a piece of Python, quick to start."""
    return [sys.executable, "-S", "-E", "-c", code, *arguments]


def begin(
    tmp: Path, command: Sequence[str], *options: str, change: str = "", **variables: str
) -> subprocess.Popen[bytes]:
    """Starts a job under the wrapper, in a session without a terminal."""
    given = ("--run-dir", str(tmp / "run"), *options)
    return subprocess.Popen(
        [*wrapper(*given, change=change), *command],
        cwd=tmp,
        env=environment(tmp, **variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def end(tmp: Path, process: subprocess.Popen[bytes], given: bytes = b"") -> Ran:
    """Waits for the end of what was begun."""
    out, err = process.communicate(given, timeout=LATE_S)
    return Ran(process.returncode, out, err, tmp / "run")


def ran(
    tmp: Path,
    command: Sequence[str],
    *options: str,
    change: str = "",
    given: bytes = b"",
    **variables: str,
) -> Ran:
    """Runs a job under the wrapper."""
    return end(tmp, begin(tmp, command, *options, change=change, **variables), given)


def line_of(process: subprocess.Popen[bytes]) -> str:
    """The next line of the job's output."""
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], LATE_S)[0], "the job printed nothing"
    return process.stdout.readline().decode().strip()


def has_ended(pid: int) -> bool:
    """Whether a process has ended, or does so once the signal that was sent reaches it."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], LATE_S)[0])
    finally:
        os.close(process)


#: A job that prints each signal that it gets, until SIGUSR2 ends it.
COUNTS_SIGNALS = """
import os, signal
signals = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
os.write(1, b"ready\\n")
number = None
while number != signal.SIGUSR2:
    number = signal.sigwait(signals)
    os.write(1, number.name.encode() + b"\\n")
for number in signal.sigpending():
    os.write(1, b"again " + signal.Signals(number).name.encode() + b"\\n")
os._exit(7)
"""
