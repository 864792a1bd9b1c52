"""What a parser is, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol, runtime_checkable

import pyarrow as pa

from commscope.parsers.opening import Source


class Confidence(IntEnum):
    """How sure a parser is that a file is of its format, weakest first."""

    NONE = 0
    NAME = 1  #: the file's name fits
    STRUCTURE = 2  #: its structure fits
    MARKER = 3  #: it says so itself


@dataclass(frozen=True, slots=True)
class Match:
    """A parser's opinion on a file, with the reason in one line."""

    confidence: Confidence
    reason: str
    unread: str | None = None  #: what the file is, where it is of the format but no trace


@dataclass(frozen=True, slots=True)
class Health:
    """How well a file could be read: nothing that was lost is lost silently."""

    events_read: int = 0  #: events seen, of any kind
    events_repaired: int = 0  #: events that were damaged and could be mended
    events_lost: int = 0  #: pieces of text that should have been events and could not be read
    bytes_lost: int = 0  #: bytes of those, and of text that follows the trace
    cut: str | None = None  #: why the file ends before its end, or null
    lacks_events: bool = False  #: the cut lies before the end of the events, so some are missing
    last_good_ns: int | None = (
        None  #: begin of the last activity or call before a cut; null without
    )
    notes: tuple[str, ...] = ()  #: what else a user must know, one sentence each

    @property
    def is_damaged(self) -> bool:
        """Whether anything was lost or had to be mended."""
        return bool(self.cut or self.events_lost or self.events_repaired or self.bytes_lost)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a file says of its process; null where it does not."""

    rank: int | None = None  #: as the metadata says
    records_rank: int | None = None  #: as most records of collectives say
    local_rank: int | None = None
    world_size: int | None = None
    host: str | None = None
    pid: int | None = None
    backend: str | None = None
    gpus: dict[int, str] = field(default_factory=dict)  #: device number -> product name
    gpu_names: tuple[str, ...] = ()  #: all devices the process could see
    is_rocm: bool | None = None
    versions: dict[str, str] = field(default_factory=dict)  #: component -> version
    base_ns: int = 0  #: add to a time of the file for the wall clock


@dataclass(frozen=True, slots=True)
class Input:
    """The file as it was read."""

    file: str  #: name relative to what was given
    format: str
    sha256: str | None
    bytes: int


@dataclass(frozen=True, slots=True)
class Companion:
    """A file that was read together with another one, into the same tables."""

    input: Input
    health: Health


@dataclass(frozen=True, slots=True)
class Reading:
    """One file read: tables of ``commscope.schema.PARSED_*``, times as the file gives them.

    ``collectives.event`` is the row in ``events``. Steps, launches of activities and ranks of
    single-rank files are left null: they are found later, for all formats alike.
    """

    input: Input
    facts: Facts
    health: Health
    events: pa.Table
    host: pa.Table
    collectives: pa.Table
    companions: tuple[Companion, ...] = ()  #: further files that are in the tables


#: Called with (bytes read, bytes in all or null) as a file is read.
Progress = Callable[[int, "int | None"], None]


class Parser(Protocol):
    """A format: how to recognise a file of it, and how to read one."""

    @property
    def name(self) -> str:
        """What ``--parser`` calls it."""
        ...

    @property
    def description(self) -> str:
        """The format, in a few words."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """How names of its files end, and hardly those of others."""
        ...

    def match(self, head: bytes, source: Source) -> Match:
        """How sure it is, judging by the first bytes (decompressed) and the name."""
        ...

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        """The file's readings, raising CorruptTrace where nothing usable could be read."""
        ...


@runtime_checkable
class GroupingParser(Parser, Protocol):
    """A format of several files a process, which are read together.

    ``read`` gets one of them as the source, and the others as its ``companions``.
    """

    def group(self, source: Source) -> str:
        """A key that is the same for the files of one process, judging by their names."""
        ...
