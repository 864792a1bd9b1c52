"""The report after a run: made by another process, which never delays nor changes the job's end."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from run_jobs import Ran, begin, end, line_of, python, ran

#: The wrapper with a stand-in for what makes the report.
STAND_IN = """
from commscope.collect import ending, report
import sys
sys.argv.remove("--no-analyze")
ending.can_report = lambda: True
report._MODULE = "stand_in"
"""


def report_with(tmp: Path, code: str) -> str:
    """The change with which this code makes the report."""
    (tmp / "modules").mkdir()
    (tmp / "modules" / "stand_in.py").write_text(code, encoding="utf-8")
    return STAND_IN


def run_with(tmp: Path, code: str, *options: str) -> Ran:
    change = report_with(tmp, code)
    return ran(tmp, ["false"], *options, change=change, PYTHONPATH=str(tmp / "modules"))


def test_the_report_is_made_when_the_node_is_complete(tmp_path: Path) -> None:
    code = """if True:
        import os, pathlib, sys
        run, _, node, _, wait = sys.argv[1:]
        assert (pathlib.Path(run) / "nodes" / node / "status.json").is_file()
        assert os.getpriority(os.PRIO_PROCESS, 0) >= 0 and wait == "5"
        print("verdict"); print("more", file=sys.stderr); print(sys.stdin.read())
    """
    run = run_with(tmp_path, code, "--wait", "5")
    assert (run.code, run.out) == (1, b"")
    assert sorted(run.err.split()) == [b"more", b"verdict"]


_IS_OPEN = """
import os
for number in 0, 1, 2:
    try:
        os.fstat(number)
    except OSError:
        os.mkdir(f"closed{number}")
"""


def test_a_wrapper_without_output_makes_the_report_and_the_job_has_none_either(
    tmp_path: Path,
) -> None:
    code = "import pathlib, sys; pathlib.Path(sys.argv[1], 'made').touch(); print('verdict')"
    change = report_with(tmp_path, code) + "\nimport os\nos.closerange(0, 3)"
    run = ran(tmp_path, python(_IS_OPEN), change=change, PYTHONPATH=str(tmp_path / "modules"))
    assert (run.code, run.err, (run.folder / "made").exists()) == (0, b"", True)
    assert sorted(it.name for it in tmp_path.glob("closed*")) == ["closed0", "closed1", "closed2"]


def test_a_report_that_is_killed_is_told(tmp_path: Path) -> None:
    run = run_with(tmp_path, "import os; os.kill(os.getpid(), 9)")
    assert run.code == 1
    (told,) = run.told
    assert told == (
        "commscope: the report was ended by signal 9;"
        f" to make it again: commscope analyze {run.folder}"
    )


def test_a_report_that_cannot_be_made_tells_so_itself(tmp_path: Path) -> None:
    run = run_with(tmp_path, "print('no traces'); raise SystemExit(5)")
    assert (run.code, run.err) == (1, b"no traces\n")


#: Ends when it is asked to, or again and again only says so.
ASKED = "import os, signal; signal.signal(15, {handler}); os.write(1, b'begun\\n')\n"
ENDS = ASKED.format(handler="lambda *it: (os.write(1, b'written\\n'), os._exit(0))")
STAYS = ASKED.format(handler="lambda *it: os.write(1, b'no\\n')")
PAUSES = "while True:\n    signal.sigtimedwait((), 1)"


def begun(tmp: Path, code: str) -> subprocess.Popen[bytes]:
    """A job that has ended, whose report has begun."""
    change = report_with(tmp, code)
    process = begin(tmp, ["false"], change=change, PYTHONPATH=str(tmp / "modules"))
    assert process.stderr is not None
    assert process.stderr.readline() == b"begun\n"
    return process


def test_a_report_that_is_asked_to_end_tells_what_there_is(tmp_path: Path) -> None:
    process = begun(tmp_path, ENDS + PAUSES)
    process.terminate()
    run = end(tmp_path, process)
    assert (run.code, run.err) == (1, b"written\n")


def test_a_second_signal_ends_the_report_at_once(tmp_path: Path) -> None:
    process = begun(tmp_path, STAYS + PAUSES)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert process.stderr.readline() == b"no\n"
    process.send_signal(signal.SIGINT)
    run = end(tmp_path, process)
    assert (run.code, len(run.told)) == (1, 1)
    assert "the report was ended by signal 9" in run.told[0]


def test_after_a_stopped_job_the_report_has_a_bounded_time(tmp_path: Path) -> None:
    process = begin(
        tmp_path,
        ["sh", "-c", "echo ready; exec sleep 600"],
        change=f"{report_with(tmp_path, ENDS + PAUSES)}\nending._BOUND_S = 1.0",
        PYTHONPATH=str(tmp_path / "modules"),
    )
    assert line_of(process) == "ready"
    process.terminate()
    run = end(tmp_path, process)
    assert run.code == -signal.SIGTERM
    assert len(run.told) <= 1
    assert run.status()["signal"] == "SIGTERM"


def test_where_nothing_can_be_analysed_the_folder_is_told(tmp_path: Path) -> None:
    run = ran(tmp_path, ["true"])
    (told,) = run.told
    assert told == (
        f"commscope: the run is in {run.folder}; to report on it: commscope analyze {run.folder}"
    )
