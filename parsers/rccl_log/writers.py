"""Who writes a record: a thread of a process, and the communicators that it speaks of.

The number in brackets of a record's head is the current device of its thread, not a rank; what
rank a process is follows from the communicators, each known by its address in its process.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

_STAMP = rb"(?:\[(?P<time>\d{4}-\d\d-\d\d[^\]\n]{0,30})\] ?)?"
_SOURCE = rb"(?: (?P<source>\S{1,500}:\d{1,7})(?: \(\w{1,100}\))?)?"
_HEAD = re.compile(
    _STAMP + rb"(?<![\w.-])(?P<host>[\w.-]{1,255}):(?P<pid>\d{1,10}):(?P<thread>\d{1,10})"
    rb"(?: \[\d{1,4}\])?" + _SOURCE + rb" ?$"
)
#: As people cut it down before they show a log.
_SHORT_HEAD = re.compile(
    _STAMP + rb"(?:(?P<host>[\w.-]{1,255})(?: \[\d{1,4}\]))?" + _SOURCE + rb" ?$"
)
#: No head is longer than this.
HEAD_BYTES = 1024
#: Heads that differ, as where a collector puts a time before them, are forgotten then.
_MOST_HEADS = 1 << 16


@dataclass(slots=True, eq=False)
class Comm:
    """A communicator of one process; ``facts`` holds columns of COMMS."""

    number: int  #: row of COMMS
    place: int  #: of the first record that speaks of it
    writer: Writer
    facts: dict[str, int | bytes] = field(default_factory=dict)

    @property
    def is_begun(self) -> bool:
        """Whether a record told of its initialisation."""
        return "start_line" in self.facts or "complete_line" in self.facts


@dataclass(slots=True, eq=False)
class Process:
    """A process of the job."""

    comms: dict[bytes, Comm] = field(default_factory=dict)  #: the living ones, by address
    writers: list[Writer] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)  #: of its calls, as ``calls`` knows them
    network: bytes | None = None  #: what it uses between hosts


@dataclass(slots=True, eq=False)
class Writer:
    """A thread of a process."""

    number: int
    host: str | None
    pid: int | None
    thread: int | None
    process: Process
    comm: Comm | None = None  #: the one that it spoke of last
    calls: dict[bytes, int] = field(default_factory=dict)  #: looks (see ``calls``) by their text

    def speaks_of(self) -> Comm | None:
        """The communicator of a record that names none."""
        if self.comm is not None:
            return self.comm
        comms = self.process.comms
        return next(iter(comms.values())) if len(comms) == 1 else None


#: Reads a record into a table; false where it does not belong to it, or is torn.
Read = Callable[[Writer, int, bytes], bool]


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before the level of a record."""

    host: str | None = None
    pid: int | None = None
    thread: int | None = None
    time: bytes | None = None
    source: bytes | None = None
    begin: int = 0  #: where it begins in the text that was given


def parse_head(text: bytes) -> Head | None:
    """The head that a text ends with; null where it ends with none."""
    skipped = max(0, len(text) - HEAD_BYTES)
    found = _HEAD.search(text[skipped:])
    if found is None:
        short = _SHORT_HEAD.match(text[skipped:]) if not skipped else None
        return short and Head(_text(short["host"]), None, None, short["time"], short["source"])
    return Head(
        _text(found["host"]),
        int(found["pid"]),
        int(found["thread"]),
        found["time"],
        found["source"],
        skipped + found.start(),
    )


def _text(host: bytes | None) -> str | None:
    return None if host is None else host.decode("utf-8", "replace")


class Writers(dict[bytes, Writer]):
    """All who wrote records, by the text of their head; who is new is found as it is looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Writer] = []
        self._by_head: dict[tuple[object, ...], Writer] = {}
        self._processes: dict[tuple[object, ...], Process] = {}
        self._hosts: dict[int | None, dict[str, None]] = {}  #: of each process id
        self._file = 0

    def next_file(self) -> None:
        """From here on, a process without an id is another one."""
        self._file += 1
        self.clear()

    def __missing__(self, text: bytes) -> Writer:
        # Launchers and collectors put text before a head that may differ in each line.
        end = b" ".join(text.rsplit(b" ", 3)[-3:])
        if end != text and end in self:
            return self[end]
        head = parse_head(text) or Head()
        if len(self) >= _MOST_HEADS:
            self.clear()
        # With a place in the source, the end tells that but not who wrote it.
        is_told = head.pid is not None and head.source is None
        writer = self[end if is_told else text] = self._writer(head)
        return writer

    def without_glue(self, head: Head) -> Head:
        """The head without the end of another record that its host seems to begin with.

        Where a line feed is lost, ``... nRanks 02`` and ``nodeA:1:1 [0] ..`` become one word.
        """
        for host in self._hosts.get(head.pid, ()):
            if head.host is not None and head.host != host and head.host.endswith(host):
                return replace(head, host=host, begin=head.begin + len(head.host) - len(host))
        return head

    def _writer(self, head: Head) -> Writer:
        name: tuple[object, ...] = (head.host, head.pid)
        if head.pid is None:
            name = (*name, self._file)
        key = (*name, head.thread)
        if key not in self._by_head:
            process = self._processes.setdefault(name, Process())
            writer = Writer(len(self.all), head.host, head.pid, head.thread, process)
            self._by_head[key] = writer
            if head.host is not None and head.pid is not None:
                self._hosts.setdefault(head.pid, {})[head.host] = None
            self.all.append(writer)
            process.writers.append(writer)
        return self._by_head[key]
