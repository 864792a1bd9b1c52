"""Processes of ranks: their logs, and what is said where one fails, hangs or cannot begin."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

import pytest

from commscope.errors import CommscopeError, UsageError
from commscope.generator.playing.environment import LOG, log_variables, rank_variables
from commscope.generator.playing.launching import (
    HANGS,
    NO_GPU,
    NO_LIBRARY,
    WRONG_DEVICE,
    RankCommand,
    RankEnded,
    check,
    last_line,
    launch,
)

_SAYS_WHO = "import os; print('I am', os.environ['RANK'], 'of', os.environ['WORLD_SIZE'])"
#: Waits until the end of a file that is never closed: without being ended, it stays for ever.
_STAYS = "import os; print('at operation 7', flush=True); r, w = os.pipe(); os.read(r, 1)"


def _rank(folder: Path, rank: int, code: str) -> RankCommand:
    variables = rank_variables(rank, 2, rank, 2)
    return RankCommand(rank, (sys.executable, "-c", code), folder / f"rank{rank}/out", variables)


def test_each_rank_knows_who_it_is_and_has_a_log(tmp_path: Path) -> None:
    ended = launch([_rank(tmp_path, rank, _SAYS_WHO) for rank in (0, 1)], 60)
    check(ended, 60)
    assert [it.log.read_text() for it in ended] == ["I am 0 of 2\n", "I am 1 of 2\n"]
    assert [(it.rank, it.exit_code, it.cut) for it in ended] == [(0, 0, False), (1, 0, False)]


def test_what_does_not_end_in_time_is_ended_and_said(tmp_path: Path) -> None:
    ended = launch([_rank(tmp_path, rank, _STAYS) for rank in (0, 1)], 0.5)
    assert [it.cut for it in ended] == [True, True]
    with pytest.raises(CommscopeError, match="ranks 0, 1 did not end within"):
        check(ended, 0.5)


def test_children_of_a_rank_are_ended_with_it(tmp_path: Path) -> None:
    held, never = tmp_path / "held", tmp_path / "never"
    os.mkfifo(held)
    os.mkfifo(never)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    # Both hold one pipe open, and wait for somebody who writes into the other.
    code = f"exec 3>{held}; (read x <{never}) & read x <{never}"
    (ended,) = launch([RankCommand(0, ("sh", "-c", code), tmp_path / "log")], 1.0)
    poll = select.poll()
    poll.register(reader, select.POLLHUP)
    assert ended.cut
    assert poll.poll(20_000), "somebody still holds the pipe"
    os.close(reader)


def _ended(
    folder: Path, rank: int, code: int, said: str, *, seconds: float = 1, cut: bool = False
) -> RankEnded:
    log = folder / f"rank{rank}.log"
    log.write_text(said)
    return RankEnded(rank, ("program",), log, code, seconds, cut)


@pytest.mark.parametrize(
    ("code", "error", "says"),
    [
        (NO_GPU, UsageError, "there is no GPU that can be used: commscope-gen: rank 1: oh"),
        (WRONG_DEVICE, UsageError, "there are too few GPUs, or others"),
        (NO_LIBRARY, UsageError, "the library for collectives is missing"),
        (HANGS, CommscopeError, "rank 1 ended with exit code 124: commscope-gen: rank 1: oh"),
        (-11, CommscopeError, "rank 1 ended with SIGSEGV"),
        (-63, CommscopeError, "rank 1 ended with signal 63"),
    ],
)
def test_the_rank_that_failed_first_tells_why(
    code: int, error: type[CommscopeError], says: str, tmp_path: Path
) -> None:
    first = _ended(tmp_path, 1, code, "commscope-gen: rank 1: oh\nprofiler: bye\n\n", seconds=1)
    later = _ended(tmp_path, 0, 1, "commscope-gen: rank 0: rank 1 is gone\n", seconds=2)
    cut = _ended(tmp_path, 2, -15, "", seconds=0.5, cut=True)
    with pytest.raises(error, match=says):
        check([later, first, cut], 60)


def test_a_rank_that_fails_without_a_word_names_its_log(tmp_path: Path) -> None:
    with pytest.raises(CommscopeError, match="rank 0 ended with exit code 1: it said nothing"):
        check([_ended(tmp_path, 0, 1, "\n")], 60)


def test_what_cannot_be_started_is_named(tmp_path: Path) -> None:
    command = RankCommand(0, (str(tmp_path / "nothing"),), tmp_path / "log")
    with pytest.raises(UsageError, match="nothing cannot be started or written"):
        launch([command], 60)


def test_the_last_line_of_a_long_log_is_found(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("x" * 100_000 + "\nlast\n")
    assert last_line(log) == "last"
    assert last_line(tmp_path / "none") == ""


def test_logs_of_the_library_go_beside_the_traces(tmp_path: Path) -> None:
    assert log_variables(tmp_path)["NCCL_DEBUG_FILE"] == str(tmp_path / LOG)
