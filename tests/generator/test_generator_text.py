"""Schedules as text: there and back, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commscope.generator.schedule import (
    Allocate,
    Collective,
    Communicator,
    Compute,
    Copy,
    EndStep,
    EventSync,
    Free,
    Pop,
    Push,
    Query,
    Receive,
    Record,
    Schedule,
    ScheduleError,
    Send,
    Sleep,
    Step,
    StreamSync,
    Sync,
    Wait,
    communicators,
)
from commscope.generator.schedule_text import from_text, operation_to_text, to_text

_HEADER = "comm world 0,1 all of them\nrank 0 a\n"
_words = st.from_regex(r"[A-Za-z_/.:;>#-][A-Za-z0-9_/.:;>#-]{0,8}", fullmatch=True).filter(
    lambda word: word[0] != "#"
)
_ns = st.integers(0, 10**12)
_size = st.integers(0, 1 << 40)
_maybe = st.none() | st.integers(0, 10**9)
_memory = st.sampled_from(["pinned", "pageable"])
_world, _rank = st.just("world"), st.sampled_from([0, 1])
_operations = st.one_of(
    st.builds(Step, st.integers(0, 10**6)),
    st.just(EndStep()),
    st.builds(Sleep, _ns),
    st.builds(Push, _words, st.sampled_from(["user_annotation", "cpu_op", "python_function"])),
    st.just(Pop()),
    st.builds(Compute, _words, _words, _ns, st.just("") | _words),
    st.builds(Record, _words, _words),
    st.builds(Wait, _words, _words),
    st.builds(Collective, _words, _world, st.just("all_reduce"), _size, _maybe, st.none(), _maybe),
    st.builds(Collective, _words, _world, st.just("reduce"), _size, _maybe, _rank, _maybe),
    st.builds(Send, _words, _world, st.just(1), _size),
    st.builds(Receive, _words, _world, st.just(1), _size),
    st.builds(Copy, _words, st.sampled_from(["h2d", "d2h"]), _size, _memory),
    st.just(Sync()),
    st.builds(StreamSync, _words),
    st.builds(EventSync, _words),
    st.builds(Query, _words, st.integers(1, 10**9)),
    st.builds(Allocate, _size, _ns),
    st.builds(Free, _ns),
)  # fmt: skip


@settings(max_examples=50)
@given(st.lists(_operations, max_size=6), _words)
def test_any_schedule_survives_the_round_trip(operations: list[Step], host: str) -> None:
    known = communicators([Communicator("world", (0, 1), "all of them"), Communicator("one", (1,))])
    schedule = Schedule((tuple(operations), ()), (host, host), known)
    assert from_text(to_text(schedule)) == schedule


@pytest.mark.parametrize(
    ("operation", "line"),
    [
        (Sleep(1_500), "sleep 1.5"),
        (Sleep(400_000), "sleep 400"),
        (Compute("s0", "fwd", 123_456, "layer3"), "comp s0 fwd 123.456 layer3"),
        (Compute("s0", "opt", 7), "comp s0 opt 0.007"),
        (Collective("s1", "dp", "all_reduce", 64, 12), "coll s1 dp all_reduce 64 12"),
        (
            Collective("s1", "dp", "reduce", 64, root=1, transfer_ns=20),
            "coll s1 dp reduce 64 root=1 us=0.02",
        ),
        (Send("s1", "pp", 3, 64), "send s1 pp 3 64"),
        (Copy("s2", "d2h", 64), "copy s2 d2h 64"),
        (Copy("s2", "d2h", 64, "pageable"), "copy s2 d2h 64 pageable"),
        (Push("aten::item", "cpu_op"), "push aten::item cpu_op"),
        (Query("e", 1_500), "query e 1.5"),
        (Allocate(64, 2_000), "malloc 64 2"),
    ],
)
def test_lines(operation: Step, line: str) -> None:
    assert operation_to_text(operation) == line


def test_comments_and_empty_lines_say_nothing() -> None:
    assert from_text("# a job\n\n" + _HEADER + "rank 1 b\n  # done\n").hosts == ("a", "b")


@pytest.mark.parametrize(
    "line",
    [
        "jump 3", "step", "step x", "step 1 2", "endstep now", "sleep -1", "sleep 1.2345",
        "sleep 1e3", "comp s0 fwd", "comp s0 fwd 1 layer more", "coll s1 world all_reduce",
        "copy s2 h2d", "coll s1 world all_reduce 4 5 6", "coll s1 world all_reduce 4 size=4",
        "send s1 world 64", "query e", "malloc 64", "free", "syncstream", "syncevent a b",
    ],
)  # fmt: skip
def test_lines_that_mean_nothing_are_named(line: str) -> None:
    with pytest.raises(ScheduleError, match=r"line 4 of the schedule, '.*', is not understood"):
        from_text(_HEADER + "rank 1 b\n" + line)


def test_operations_need_a_rank() -> None:
    with pytest.raises(ScheduleError, match="line 1 of the schedule"):
        from_text("step 1")


def test_ranks_come_in_order() -> None:
    with pytest.raises(ScheduleError, match="rank 2 of the schedule stands where rank 1 belongs"):
        from_text("rank 0 a\nrank 2 a")


@pytest.mark.parametrize("word", ["", "two words", "#1", "a=b", "a\nb"])
def test_names_are_one_word(word: str) -> None:
    with pytest.raises(ScheduleError, match="one word"):
        to_text(Schedule(((Push(word),),), ("a",)))


def test_descriptions_are_one_line() -> None:
    known = communicators([Communicator("c", (0,), "two\nlines")])
    with pytest.raises(ScheduleError, match="end of a line"):
        to_text(Schedule(((),), ("a",), known))


@pytest.mark.parametrize(
    ("operation", "says"),
    [
        ("coll s other all_reduce 4", "no member of a communicator other"),
        ("coll s one all_reduce 4", "no member of a communicator one"),
        ("coll s world all_sum 4", "no collective is called all_sum"),
        ("coll s world broadcast 4", "needs a member of world as root"),
        ("coll s world broadcast 4 root=7", "needs a member of world as root"),
        ("coll s world all_reduce 4 root=0", "has no root"),
        ("coll s world all_reduce -4", "a size of -4 bytes"),
        ("send s world 0 4", "rank 0 is no peer"),
        ("recv s world 7 4", "rank 7 is no peer"),
        ("copy s d2d 4", "direction d2d"),
        ("copy s h2d 4 managed", "a copy of managed memory; it is pinned or pageable"),
        ("push a kernel", "a label of the category kernel"),
        ("query e 0", "a query every 0 ns"),
    ],
)
def test_operations_must_fit_the_communicators(operation: str, says: str) -> None:
    with pytest.raises(ScheduleError, match=f"rank 0, operation 1: .*{says}"):
        from_text(f"comm world 0,1\ncomm one 1\nrank 0 a\nstep 1\n{operation}\nrank 1 a")


@pytest.mark.parametrize("members", ["0,0", "0,2", "-1"])
def test_members_are_ranks_of_the_job(members: str) -> None:
    with pytest.raises(ScheduleError, match=r"communicator c: members .* are not distinct ranks"):
        from_text(f"comm c {members}\nrank 0 a")


def test_communicators_have_names_of_their_own() -> None:
    with pytest.raises(ScheduleError, match="two communicators are called c"):
        from_text("comm c 0\ncomm c 0\nrank 0 a")


def test_every_rank_has_a_host() -> None:
    with pytest.raises(ScheduleError, match="1 programs, but 2 hosts"):
        Schedule(((),), ("a", "b"))


def test_durations_are_not_negative() -> None:
    with pytest.raises(ScheduleError, match="a duration of -1 ns"):
        Schedule(((Sleep(-1),),), ("a",))
