"""What the files of a saved run are called, and what those of JSON hold.

    run.json                            what was read, by which version, as which options said
    0000.reading.json                   one reading without its tables, for each of which there is
    0000.events.parquet  .host  .collectives        one file
    logs.json  logs.comms.parquet ...   the logs of the job, one file a table that has rows
    topology.0000.json                  one file on the topology of a host

A run may lie in a folder of any name or in an archive; several lie in a folder each.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec
import pyarrow as pa

from commscope.errors import CorruptTrace
from commscope.parsers.base import Companion, Facts, Health, Input, Reading
from commscope.parsers.opening import Source, read_head

RUN_SCHEMA = "commscope.run/1"
READING_SCHEMA = "commscope.reading/1"
LOGS_SCHEMA = "commscope.logs/1"

RUN_FILE = "run.json"
LOGS_FILE = "logs.json"
READING = "reading.json"
READING_TABLES = ("events", "host", "collectives")
_LOG_TABLE = re.compile(r"logs\.[a-z_]{1,40}\.parquet")
_PART = re.compile(
    rf"(.*?)\.({re.escape(READING)}|(?:{'|'.join(READING_TABLES)})\.parquet)", re.DOTALL
)

#: A document of this length is none: it names files, versions, notes and quoted lines.
MOST_BYTES = 64 << 20
_MARK = re.compile(rb'"schema"\s*:\s*"(commscope\.[a-z]{1,20})/\d{1,4}"')
_MARK_BYTES = 4 << 10

_Document = TypeVar("_Document")


@dataclass(frozen=True, slots=True)
class TableStamp:
    """What tells that a file of Parquet is the one that was written."""

    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Described:
    """A reading without its tables."""

    input: Input
    facts: Facts
    health: Health
    companions: tuple[Companion, ...]

    @classmethod
    def of(cls, reading: Reading) -> Described:
        """All but the tables of a reading."""
        return cls(reading.input, reading.facts, reading.health, reading.companions)

    def with_tables(self, events: pa.Table, host: pa.Table, collectives: pa.Table) -> Reading:
        """The reading that has these tables."""
        return Reading(
            self.input, self.facts, self.health, events, host, collectives, self.companions
        )


@dataclass(frozen=True, slots=True)
class ReadingDocument:
    """A reading, and what tells that its tables are those that were written."""

    schema: str
    reading: Described
    tables: dict[str, TableStamp]


@dataclass(frozen=True, slots=True)
class SavedNote:
    """A note as in ``commscope.trace.Note``."""

    topic: str
    says: str


@dataclass(frozen=True, slots=True)
class SavedNames:
    """A regular expression of the user, to be shown, and all names of the run that it fits."""

    pattern: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SavedGroups:
    """The same of process groups: name and description of each."""

    pattern: str
    groups: tuple[tuple[str | None, str | None], ...]


@dataclass(frozen=True, slots=True)
class SavedOptions:
    """What the user said about the traces; what is null or empty was not said.

    Of regular expressions only what they fit is used again: one that another wrote may never end.
    """

    ranks: dict[int, str] = field(default_factory=dict)  #: rank -> file
    capture: int | str | None = None
    steps: str | None = None
    skip_first: int = 0
    step_marker: SavedNames | None = None  #: of annotations
    patterns: dict[str, tuple[SavedNames, ...]] = field(default_factory=dict)  #: class or family
    roles: dict[str, SavedGroups] = field(default_factory=dict)  #: by name of the role


NO_OPTIONS = SavedOptions()


@dataclass(frozen=True, slots=True)
class RunDocument:
    """The manifest of a run."""

    schema: str
    tool: str  #: version of commscope that wrote it
    definitions: int  #: version of what its numbers mean
    redacted: bool
    unprofiled_step_ns: int | None = None
    options: SavedOptions = NO_OPTIONS
    notes: tuple[SavedNote, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedCounts:
    """What became of the lines of a log; see ``commscope.parsers.rccl_log``."""

    lines: int
    blank: int
    records: int
    unused: int
    torn: int
    chatter: int


@dataclass(frozen=True, slots=True)
class SavedLogFile:
    """A log as it was read."""

    file: str
    bytes: int
    sha256: str | None
    counts: SavedCounts
    unended_bytes: int
    cut: str | None


@dataclass(frozen=True, slots=True)
class SavedProcess:
    """A process that wrote records."""

    host: str | None
    pid: int | None
    rank: int | None


@dataclass(frozen=True, slots=True)
class SavedQuote:
    """A line that a finding quotes."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class LogsDocument:
    """The logs of a job without their tables; those that have no row have no file."""

    schema: str
    files: tuple[SavedLogFile, ...]
    processes: tuple[SavedProcess, ...]
    tables: dict[str, TableStamp]
    quotes: tuple[SavedQuote, ...] = ()


def part_of(label: str) -> tuple[str, str] | None:
    """The name of a reading, and which of its files this is: a table, or ``READING``."""
    found = _PART.fullmatch(label)
    return (found[1], found[2].removesuffix(".parquet")) if found else None


def is_log_table(label: str) -> bool:
    """Whether a file is named like a table of saved logs."""
    return _LOG_TABLE.fullmatch(label.rpartition("/")[2]) is not None


def is_document(source: Source, name: str, schema: str) -> bool:
    """Whether a file has this name and begins as documents of the schema, of any version, do.

    Raises UsageError where the system does not let us read it.
    """
    is_named = source.label.rpartition("/")[2] == name
    return is_named and family_in(read_head(source)) == schema.partition("/")[0]


def family_in(head: bytes) -> str | None:
    """The schema of ours, but for its version, that a document begins with; null for others."""
    if head.lstrip()[:1] != b"{":
        return None
    found = _MARK.search(head[:_MARK_BYTES])
    return found[1].decode() if found else None


def document_bytes(document: object) -> bytes:
    """The document as JSON, with its schema first; equal ones give equal bytes."""
    plain = msgspec.to_builtins(document, str_keys=True)
    return json.dumps(plain, indent=1).encode() + b"\n"


def document_of(data: bytes, kind: type[_Document], schema: str, label: str) -> _Document:
    """The document in a file; raises CorruptTrace where it is none of this kind and schema."""
    try:
        plain = json.loads(data)
        told = plain.get("schema") if isinstance(plain, dict) else None
        if told != schema:
            raise ValueError(f"its schema is {str(told)[:40]!r}, not {schema}")
        return msgspec.convert(plain, kind, str_keys=True)
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        reason = str(error).replace("\n", " ")[:200]
        raise CorruptTrace(f"{label}: no saved run can be read from it ({reason})") from error
