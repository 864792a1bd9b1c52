"""SIGTERM while steps are recorded, in processes of their own."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from run_jobs import INSTALLED, LATE_S, environment

_BEGIN = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
from commscope.collect.profiling.inject import termination
termination._HEARD_S = termination._SAVED_S = 0.05
def say(text):
    os.write(1, text.encode() + b"\\n")
it = termination.Termination(lambda: say("saved"), lambda: None)
def kill():
    os.kill(os.getpid(), signal.SIGTERM)
"""


def ended(tmp_path: Path, code: str) -> tuple[str, int]:
    process = subprocess.run(
        [sys.executable, "-S", "-E", "-c", _BEGIN + code, INSTALLED],
        capture_output=True, text=True, check=False, timeout=LATE_S, env=environment(tmp_path),
    )  # fmt: skip
    assert process.stderr == ""
    return process.stdout, process.returncode


@pytest.mark.parametrize(
    ("code", "printed", "returned"),
    [
        ("it.begin(); kill()", "saved\n", -signal.SIGTERM),
        ("it.begin(); it.end(); kill()", "", -signal.SIGTERM),
        # While steps are written the signal waits.
        ("it.begin()\nwith it.put_off():\n    kill(); say('wrote')\nsay('never')",
         "wrote\nsaved\n", -signal.SIGTERM),
        # Twice, as from torchrun and Slurm.
        ("it._save = lambda: (kill(), say('saved'))\nit.begin(); kill()",
         "saved\n", -signal.SIGTERM),
        # A failure in what saves changes nothing.
        ("it._save = lambda: 1 / 0\nit.begin(); kill()", "", -signal.SIGTERM),
        # What saves without end is ended.
        ("it._save = threading.Event().wait\nit.begin(); kill()", "", -signal.SIGTERM),
        # The program's own handler stays, also one that comes later.
        ("signal.signal(15, lambda *_: say('mine')); it.begin(); kill(); it.end(); kill()",
         "mine\nmine\n", 0),
        ("it.begin(); signal.signal(15, lambda *_: say('mine')); it.end(); kill()", "mine\n", 0),
        ("signal.signal(15, signal.SIG_IGN); it.begin(); kill(); say('on')", "on\n", 0),
        # asyncio has a pipe of its own.
        (("import socket; a, b = socket.socketpair(); a.setblocking(False)\n"
         "signal.set_wakeup_fd(a.fileno()); it.begin()\n"
         "say(str(signal.set_wakeup_fd(-1) == a.fileno())); kill()"), "True\n", -signal.SIGTERM),
        # Of a process that is forked nothing is saved.
        (("it.begin(); child = os.fork()\nif child:\n    say(str(os.waitpid(child, 0)[1]))\n"
         "else:\n    kill()"), "15\n", 0),
        ("t = threading.Thread(target=it.begin); t.start(); t.join(); kill()",
         "", -signal.SIGTERM),
    ],
)  # fmt: skip
def test_a_process_ends_by_it_as_ever(
    tmp_path: Path, code: str, printed: str, returned: int
) -> None:
    assert ended(tmp_path, code) == (printed, returned)


#: Unlike most of what waits in C, a lock goes on when a handler has run; of one that somebody waits
#: for, the C library makes the first word 2.
_STUCK = """
import ctypes
lock, library = ctypes.create_string_buffer(64), ctypes.CDLL(None)
def kill_once_stuck():
    while lock[0] != b"\\2":
        pass
    kill()
it.begin()
threading.Thread(target=kill_once_stuck, daemon=True).start()
while True:
    library.pthread_mutex_lock(lock)
"""


def test_a_main_thread_that_never_comes_back_is_ended(tmp_path: Path) -> None:
    assert ended(tmp_path, _STUCK) == ("", -signal.SIGTERM)
