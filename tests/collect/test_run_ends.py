"""However a job ends, it ends under the wrapper as without it, and its folder tells how."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from run_jobs import (
    COUNTS_SIGNALS,
    begin,
    end,
    environment,
    has_ended,
    line_of,
    python,
    ran,
    wrapper,
)

NOISY = """
import os, sys
os.write(1, b"out \\xff\\x00" + sys.stdin.buffer.read())
os.write(2, b"err \\xfe\\n")
os.write(1, os.environb.get(b"MARK", b""))
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("code", ["0", "3"])
def test_output_and_exit_code_are_those_without_the_wrapper(tmp_path: Path, code: str) -> None:
    command, given = python(NOISY, code), b"in\r\n\xfd"
    alone = subprocess.run(
        command, input=given, capture_output=True, check=False, env=environment(tmp_path, MARK="m")
    )
    run = ran(tmp_path, command, given=given, MARK="m")
    assert (run.code, run.out) == (alone.returncode, alone.stdout)
    assert run.err.startswith(alone.stderr)
    assert run.err[len(alone.stderr) :].count(b"\n") == len(run.told) == 1
    assert (run.status()["exit_code"], run.problems) == (int(code), [])


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL", "SIGTERM"])
def test_death_by_a_signal_is_passed_on(tmp_path: Path, name: str) -> None:
    number = signal.Signals[name]
    run = ran(tmp_path, ["sh", "-c", f"ulimit -c 0; kill -{number:d} $$"])
    assert run.code == -number
    assert (run.status()["signal"], run.status()["exit_code"]) == (name, 128 + number)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"])
def test_a_signal_to_the_wrapper_reaches_the_job_once(tmp_path: Path, name: str) -> None:
    process = begin(tmp_path, python(COUNTS_SIGNALS))
    assert line_of(process) == "ready"
    process.send_signal(signal.Signals[name])
    assert line_of(process) == name
    process.send_signal(signal.SIGUSR2)
    assert line_of(process) == "SIGUSR2"
    run = end(tmp_path, process)
    assert (run.code, run.out) == (7, b"")
    assert run.status()["signal"] is None


def test_a_job_that_cannot_end_its_processes_has_them_ended(tmp_path: Path) -> None:
    process = begin(tmp_path, ["sh", "-c", "sleep 600 & echo $!; wait; exit 5"])
    below = int(line_of(process))
    process.terminate()
    assert has_ended(below)
    assert end(tmp_path, process).code == -signal.SIGTERM


def test_what_slurm_sends_to_all_processes_is_not_sent_again(tmp_path: Path) -> None:
    slurm = tmp_path / "slurmstepd"
    slurm.symlink_to(os.path.realpath(sys.executable))
    process = begin(tmp_path, python(COUNTS_SIGNALS))
    assert line_of(process) == "ready"
    # It lives until the wrapper has looked at who sent the signal.
    sends = "import os, sys; os.kill(int(sys.argv[1]), 10); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [slurm, "-S", "-E", "-c", sends, str(process.pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as sender:
        assert sender.stdout is not None
        sender.stdout.readline()
        process.send_signal(signal.SIGUSR2)
        run = end(tmp_path, process)
    assert (run.code, run.out) == (7, b"SIGUSR2\n")


LAUNCHER = """
import os, signal, subprocess, sys
rank = "import os, signal, sys; os.kill(os.getpid(), int(sys.argv[1])) if sys.argv[1] != '0' else 0"
ranks = [subprocess.Popen([sys.executable, "-S", "-c", rank, number], start_new_session=True,
                          env={**os.environ, "RANK": str(at)}) for at, number in enumerate("09")]
codes = [it.wait() for it in ranks]
sys.stdout.write(f"{codes}\\n")
sys.exit(1 if any(codes) else 0)
"""


def test_a_killed_rank_is_the_launchers_matter(tmp_path: Path) -> None:
    run = ran(tmp_path, python(LAUNCHER))
    assert (run.code, run.out) == (1, b"[0, -9]\n")
    assert run.status()["exit_code"] == 1


HANGS = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, lambda *it: None)
below = "import signal; signal.signal(15, signal.SIG_IGN); print(flush=True); signal.pause()"
rank = subprocess.Popen([sys.executable, "-S", "-c", below], start_new_session=True,
                        stdout=subprocess.PIPE)
rank.stdout.readline()
os.write(1, b"%d %d\\n" % (os.getpid(), rank.pid))
open("ready", "w").close()
while True:
    signal.pause()
"""
#: The job is found to hang as soon as it says so.
HANGING = """
import os, time
from commscope.collect import hang, watching
look = watching.tree_of
def tree_of(pid):
    while not os.path.exists("ready"):
        time.sleep(0.01)
    return look(pid)
watching.tree_of = tree_of
"""
IMPATIENT = f"{HANGING}\nhang.GRACE_S = 0.1"
SOON = ("--timeout", "0.01")


def test_a_job_that_hangs_is_ended_with_all_its_processes(tmp_path: Path) -> None:
    run = ran(tmp_path, python(HANGS), *SOON, change=IMPATIENT, RANK="3", WORLD_SIZE="4")
    assert run.code == -signal.SIGKILL
    assert all(has_ended(int(pid)) for pid in run.out.split())
    (told,) = run.problems
    assert "no exit within 0.01 s: the job is ended; rank 3: python" in told
    (hanging,) = (run.folder / "nodes").glob("0003-*/status.json")
    assert '"hung": true' in hanging.read_text()


def test_a_job_that_ends_when_it_is_asked_keeps_its_exit_code(tmp_path: Path) -> None:
    job = "trap 'exit 9' TERM; sleep 600 & touch ready; wait"
    run = ran(tmp_path, ["sh", "-c", job], *SOON, change=HANGING)
    assert (run.code, run.status()["hung"]) == (9, True)


def test_stacks_of_a_hanging_job_are_saved_where_py_spy_is_installed(tmp_path: Path) -> None:
    tool = tmp_path / "py-spy"
    tool.write_text('#!/bin/sh\necho "$@"\n')
    tool.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    job = "echo $$; touch ready; exec sleep 600"
    run = ran(tmp_path, ["sh", "-c", job], *SOON, change=HANGING, PATH=path)
    stack = (run.node() / "logs" / f"pid{run.out.decode().strip()}.stack.txt").read_text()
    assert stack == f"dump --pid {run.out.decode()}"


@pytest.mark.parametrize(
    ("program", "code", "says"),
    [
        ("no-such-program", 127, "no-such-program: command not found"),
        ("./no-such-file", 127, "./no-such-file: command not found"),
        ("./plain", 126, "./plain: permission denied"),
        ("./tmp", 126, "./tmp: is a folder"),
    ],
)
def test_a_command_that_is_not_there_leaves_nothing(
    tmp_path: Path, program: str, code: int, says: str
) -> None:
    (tmp_path / "plain").write_bytes(b"")
    run = ran(tmp_path, [program])
    assert (run.code, run.told) == (code, [f"commscope: {says}"])
    assert not run.folder.exists()


@pytest.mark.parametrize(
    ("text", "code"), [("#!/no/such/interpreter\n", 127), ("\x7fELF nonsense", 126)]
)
def test_a_command_that_cannot_be_executed_is_told(tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "broken").write_text(text)
    (tmp_path / "broken").chmod(0o755)
    run = ran(tmp_path, ["./broken"])
    assert (run.code, run.status()["exit_code"]) == (code, code)
    assert run.problems[0].startswith("commscope: ./broken: ")


def test_a_job_begins_with_the_signals_of_its_user(tmp_path: Path) -> None:
    # Of what is ignored the first 31: the C library uses two others for itself.
    shows = (
        "import re; text = open('/proc/self/status').read();"
        "print([int(it, 16) & 0x7fffffff for it in re.findall(r'Sig(?:Blk|Ign):\\s*(.*)', text)])"
    )
    command = ["sh", "-c", 'exec "$@"', "sh", sys.executable, "-I", "-c", shows]
    alone = subprocess.run(command, capture_output=True, check=True, start_new_session=True)
    assert ran(tmp_path, command).out == alone.stdout


def ignoring(tmp_path: Path, name: str, command: list[str]) -> subprocess.Popen[bytes]:
    """Begins a job under a wrapper that was started with a signal ignored."""
    words = [*wrapper("--run-dir", str(tmp_path / "run")), *command]
    return subprocess.Popen(
        ["sh", "-c", f'trap "" {name}; exec "$@"', "sh", *words],
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_nohup_is_respected(tmp_path: Path) -> None:
    process = ignoring(tmp_path, "HUP", python(COUNTS_SIGNALS))
    assert line_of(process) == "ready"
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGUSR2)
    run = end(tmp_path, process)
    assert (run.code, run.out) == (7, b"SIGUSR2\n"), run.err


HANDLES = """
import os, signal, sys
was = signal.signal(signal.SIGINT, lambda *_: sys.exit(5))
os.write(1, b"%s\\n" % was.name.encode())
while True:
    signal.pause()
"""


def test_a_job_behind_an_ampersand_gets_the_interrupt_that_is_sent(tmp_path: Path) -> None:
    process = ignoring(tmp_path, "INT", python(HANDLES))
    assert line_of(process) == "SIG_IGN"  # as it would be without the wrapper
    process.send_signal(signal.SIGINT)
    assert end(tmp_path, process).code == 5


INTERRUPTED = "it.prepare = lambda *_: signal.raise_signal(signal.SIGINT)"


def test_an_interrupt_before_the_job_begins_ends_the_wrapper(tmp_path: Path) -> None:
    change = "import signal\nfrom commscope.collect import launch as it\n" + INTERRUPTED
    run = ran(tmp_path, ["true"], change=change)
    assert (run.code, run.out, run.err) == (-signal.SIGINT, b"", b"")
