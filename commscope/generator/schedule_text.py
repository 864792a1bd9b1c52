"""Schedules as text, one operation a line, for people and for programs in other languages.

    dtype NAME
    comm NAME MEMBER,MEMBER,... DESCRIPTION
    rank NUMBER HOST
    step N | endstep | sleep US | push LABEL [CATEGORY] | pop
    sync | syncstream STREAM | syncevent EVENT | query EVENT EVERY_US
    malloc BYTES US | free US
    comp STREAM KIND US [LAYER]
    rec STREAM EVENT | wait STREAM EVENT
    coll STREAM COMM OP BYTES [SEQ] [root=RANK] [us=TRANSFER] [shares=BYTES,BYTES,...]
    send STREAM COMM PEER BYTES | recv STREAM COMM PEER BYTES
    copy STREAM h2d|d2h BYTES [pinned|pageable]

Operations belong to the rank named last. Times are microseconds with up to three decimals. Empty
lines and those that begin with # say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from commscope.generator.dtypes import DEFAULT
from commscope.generator.schedule import (
    Allocate,
    Collective,
    Communicator,
    Compute,
    Copy,
    EndStep,
    EventSync,
    Free,
    Operation,
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

_MICROSECONDS = re.compile(r"(\d{1,15})(?:\.(\d{1,3}))?", re.ASCII)
_WORD = re.compile(r"[^\s#=][^\s=]*")


def to_text(schedule: Schedule) -> str:
    """The schedule as text.

    Raises ScheduleError for names that are not one word, hold a ``=`` or begin with a ``#``.
    """
    return "\n".join(_lines(schedule)) + "\n"


def _lines(schedule: Schedule) -> Iterator[str]:
    yield f"dtype {schedule.dtype}"
    for c in schedule.communicators.values():
        members = ",".join(map(str, c.members))
        yield f"comm {_word(c.name)} {members} {_phrase(c.description)}".rstrip()
    for rank, (host, program) in enumerate(zip(schedule.hosts, schedule.programs)):
        yield f"rank {rank} {_word(host)}"
        yield from map(operation_to_text, program)


def _word(text: str) -> str:
    if not _WORD.fullmatch(text):
        raise ScheduleError(f"{text!r} cannot be written as one word of a schedule")
    return text


def _phrase(text: str) -> str:
    if " ".join(text.split()) != text:
        raise ScheduleError(f"{text!r} cannot be written at the end of a line of a schedule")
    return text


def _us(duration_ns: int) -> str:
    whole, rest = divmod(duration_ns, 1000)
    return f"{whole}.{rest:03d}".rstrip("0").rstrip(".")


def operation_to_text(operation: Operation) -> str:
    """The line of one operation."""
    return _WRITERS[type(operation)](operation)


def _collective_line(o: Collective) -> str:
    line = f"coll {_word(o.stream)} {_word(o.communicator)} {o.op} {o.size_bytes}"
    line += "" if o.seq is None else f" {o.seq}"
    line += "" if o.root is None else f" root={o.root}"
    line += "" if o.transfer_ns is None else f" us={_us(o.transfer_ns)}"
    return line + (f" shares={','.join(map(str, o.shares))}" if o.shares else "")


def _compute_line(o: Compute) -> str:
    line = f"comp {_word(o.stream)} {_word(o.kind)} {_us(o.duration_ns)}"
    return f"{line} {_word(o.layer)}" if o.layer else line


def _push_line(o: Push) -> str:
    more = "" if o.category == "user_annotation" else f" {_word(o.category)}"
    return f"push {_word(o.label)}{more}"


def _copy_line(o: Copy) -> str:
    more = "" if o.memory == "pinned" else f" {o.memory}"
    return f"copy {_word(o.stream)} {o.direction} {o.size_bytes}{more}"


def _message_line(word: str, o: Send | Receive) -> str:
    return f"{word} {_word(o.stream)} {_word(o.communicator)} {o.peer} {o.size_bytes}"


_WRITERS: dict[type, Callable[..., str]] = {
    Step: lambda o: f"step {o.number}",
    EndStep: lambda _: "endstep",
    Sleep: lambda o: f"sleep {_us(o.duration_ns)}",
    Push: _push_line,
    Pop: lambda _: "pop",
    Compute: _compute_line,
    Record: lambda o: f"rec {_word(o.stream)} {_word(o.event)}",
    Wait: lambda o: f"wait {_word(o.stream)} {_word(o.event)}",
    Collective: _collective_line,
    Send: lambda o: _message_line("send", o),
    Receive: lambda o: _message_line("recv", o),
    Copy: _copy_line,
    Sync: lambda _: "sync",
    StreamSync: lambda o: f"syncstream {_word(o.stream)}",
    EventSync: lambda o: f"syncevent {_word(o.event)}",
    Query: lambda o: f"query {_word(o.event)} {_us(o.every_ns)}",
    Allocate: lambda o: f"malloc {o.size_bytes} {_us(o.duration_ns)}",
    Free: lambda o: f"free {_us(o.duration_ns)}",
}


def from_text(text: str) -> Schedule:
    """The schedule that a text describes; raises ScheduleError naming the line that is wrong."""
    known: list[Communicator] = []
    hosts: list[str] = []
    programs: list[list[Operation]] = []
    dtype: str = DEFAULT
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        word, *rest = line.split()
        try:
            if word == "dtype":
                (dtype,) = rest
            elif word == "comm":
                known.append(_communicator(rest))
            elif word == "rank":
                hosts.append(_host(rest, len(hosts)))
                programs.append([])
            else:
                programs[-1].append(_READERS[word](rest))
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise ScheduleError(
                f"line {number} of the schedule, {line.strip()[:80]!r}, is not understood"
            ) from error
    return Schedule(tuple(map(tuple, programs)), tuple(hosts), communicators(known), dtype)


def _communicator(words: Sequence[str]) -> Communicator:
    name, members, *description = words
    return Communicator(name, tuple(map(int, members.split(","))), " ".join(description))


def _host(words: Sequence[str], expected: int) -> str:
    number, host = words
    if int(number) != expected:
        raise ScheduleError(f"rank {number} of the schedule stands where rank {expected} belongs")
    return host


def _ns(text: str) -> int:
    found = _MICROSECONDS.fullmatch(text)
    if not found:
        raise ValueError(text)
    return int(found[1]) * 1000 + int((found[2] or "").ljust(3, "0"))


def _read_compute(words: Sequence[str]) -> Compute:
    stream, kind, us, *layer = words
    return Compute(stream, kind, _ns(us), *layer)


def _read_collective(words: Sequence[str]) -> Collective:
    stream, communicator, op, size, *more = words
    options = dict(word.split("=", 1) for word in more if "=" in word)
    seq = [int(word) for word in more if "=" not in word]
    root, us, shares = (options.pop(name, None) for name in ("root", "us", "shares"))
    if options or len(seq) > 1:
        raise ValueError(more)
    return Collective(
        stream, communicator, op, int(size),
        seq=seq[0] if seq else None,
        root=None if root is None else int(root),
        transfer_ns=None if us is None else _ns(us),
        shares=() if shares is None else tuple(map(int, shares.split(","))),
    )  # fmt: skip


def _read_message(kind: type[Send] | type[Receive], words: Sequence[str]) -> Send | Receive:
    stream, communicator, peer, size = words
    return kind(stream, communicator, int(peer), int(size))


def _read_copy(words: Sequence[str]) -> Copy:
    stream, direction, size, *memory = words
    return Copy(stream, direction, int(size), *memory)


def _read_query(words: Sequence[str]) -> Query:
    event, every = words
    return Query(event, _ns(every))


def _read_allocate(words: Sequence[str]) -> Allocate:
    size, duration = words
    return Allocate(int(size), _ns(duration))


_READERS: dict[str, Callable[[Sequence[str]], Operation]] = {
    "step": lambda words: Step(*map(int, words)),
    "endstep": lambda words: EndStep(*words),
    "sleep": lambda words: Sleep(*map(_ns, words)),
    "push": lambda words: Push(*words),
    "pop": lambda words: Pop(*words),
    "comp": _read_compute,
    "rec": lambda words: Record(*words),
    "wait": lambda words: Wait(*words),
    "coll": _read_collective,
    "send": lambda words: _read_message(Send, words),
    "recv": lambda words: _read_message(Receive, words),
    "copy": _read_copy,
    "sync": lambda words: Sync(*words),
    "syncstream": lambda words: StreamSync(*words),
    "syncevent": lambda words: EventSync(*words),
    "query": _read_query,
    "malloc": _read_allocate,
    "free": lambda words: Free(*map(_ns, words)),
}
