"""From lines to records, and from records to tables.

A record is looked for anywhere in a line: launchers and collectors put their own text before it,
several processes that write to one file glue records together or tear them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from commscope.parsers.rccl_log.lines import Numbered
from commscope.parsers.rccl_log.messages import Messages
from commscope.parsers.rccl_log.versions import BANNER
from commscope.parsers.rccl_log.writers import HEAD_BYTES, Head, Writer, Writers, parse_head

_TAG = b"NCCL "
_INFO = b"NCCL INFO "
_ANY_TAG = re.compile(rb"NCCL (INFO|WARN|CALL|TRACE|ERROR|ABORT) ")
_FATAL = re.compile(rb"\[FATAL ERROR\]: ?")
#: Lines without a record that tell something all the same.
_TELLING = re.compile(BANNER.pattern + rb"|\[FATAL ERROR\]:|\[PG |Watchdog caught|recvtail:")
#: Lines without a record that are longer are those of a program.
_LONG_BYTES = 1 << 14
#: A record was begun here, but what follows cannot be read.
_TORN_TAG = re.compile(rb":\d+:\d+ \[\d+\] NCCL [A-Z]|:\d+:\d+ \[\d+\](?: NCC?L?)?\s*$")
#: Where none of these is in a block, and no begin of a record, its lines are those of a program.
_SIGNS = (_TAG, b" version", b"Librccl path", b"Hostname     ", b"[FATAL ERROR]:", b"[PG ",
          b"Watchdog caught", b"recvtail:")  # fmt: skip
_TORN_IN_BLOCK = re.compile(_TORN_TAG.pattern, re.MULTILINE)
#: How records begin that belong to a table: where they cannot be read they are torn.
_FIRM = re.compile(
    rb"Channel \d|(?!msccl)\w+: opCount |(?:\w+: )?\d+ Bytes -> "
    rb"|(?:\[Rank|ncclComm|comm ).{0,400}- ?Init "
)
#: How records begin that tell of each call how the number of its channels was found.
_CHATTER = (b"pre-adjustment threadThreshold:", b"minNChannels:", b"post-adjustment based on ")


@dataclass(slots=True)
class Counts:
    """What became of the lines of one file."""

    lines: int = 0
    blank: int = 0
    records: int = 0  #: records and lines without a head that were read into a table
    unused: int = 0  #: records that belong to no table
    torn: int = 0  #: records that could not be read
    chatter: int = 0  #: of the unused, those that RCCL 2.27 writes three times a call


class Records:
    """Reads the lines of a file into the tables of ``messages``."""

    def __init__(self, messages: Messages, writers: Writers) -> None:
        self.counts = Counts()
        self._messages = messages
        self._writers = writers
        self._torn: tuple[int, Writer, bytes] | None = None  #: place, writer and begin of a record

    def read(self, batch: Numbered, base: int) -> None:
        """Reads lines; the place of a line is its number and the base of its file."""
        if self._torn is None and len(batch[1]) > 1 and _is_of_program(b"\n".join(batch[1])):
            self.counts.blank += sum(not line or line.isspace() for line in batch[1])
        else:
            self._read_lines(batch, base)

    def _read_lines(self, batch: Numbered, base: int) -> None:
        writers, readers, calls = self._writers, self._messages.readers, self._messages.calls
        lines = read = 0
        for place, line, begin in calls.others(batch, base):
            lines += 1
            head, _, message = line.partition(_INFO)
            writer = writers.get(head)
            # Not "in": for bytes it tries first whether what is looked for is a number.
            if not message or message.count(_TAG) or (writer is None and self._is_odd(head)):
                self._read_odd(place, line)
                continue
            writer = writer or writers[head]
            if readers[message.partition(b" ")[0]](writer, place, message):
                read += 1
                if len(begin) < len(line):
                    calls.remember(writer, begin, message)
            else:
                self._leave(place, writer, message)
        self.counts.records += read + len(batch[0]) - lines

    def _is_odd(self, head: bytes) -> bool:
        """Whether text before a record may hold another one, or the rest of one."""
        return self._torn is not None or head.count(_TAG) > 0

    def _leave(self, place: int, writer: Writer, message: bytes) -> None:
        """Counts a record that went into no table; a torn one may go on in the next line."""
        if _FIRM.match(message):
            self.counts.torn += 1
            self._torn = (place, writer, message)
        else:
            self.counts.unused += 1
            self.counts.chatter += message.startswith(_CHATTER)

    def _read_odd(self, place: int, line: bytes) -> None:
        """Reads a line that is not just one record of the level INFO."""
        tags = list(_ANY_TAG.finditer(line)) if _TAG in line else []
        if tags:
            self._read_several(place, line, tags)
        elif not line.strip():
            self.counts.blank += 1
        elif len(line) > _LONG_BYTES:
            self._torn = None
        elif _TORN_TAG.search(line):
            self.counts.torn += 1
        else:
            self._mend(place, line)
            if _TELLING.search(line):
                self._read_telling(place, line)

    def _read_several(self, place: int, line: bytes, tags: list[re.Match[bytes]]) -> None:
        heads = list(self._heads(line, tags))
        self._mend(place, line[: heads[0][1]])
        ends = [begin for _, begin in heads[1:]] + [len(line)]
        for tag, (head, begin), end in zip(tags, heads, ends):
            writer = self._writers[line[begin : tag.start()]]
            self._read_level(place, writer, head, tag[1], line[tag.end() : end].rstrip())

    def _heads(self, line: bytes, tags: list[re.Match[bytes]]) -> Iterator[tuple[Head, int]]:
        """The head of each record of a line and where it begins."""
        end = 0
        for tag in tags:
            text = line[max(end, tag.start() - HEAD_BYTES) : tag.start()]
            head = self._writers.without_glue(parse_head(text) or Head(begin=len(text)))
            yield head, tag.start() - len(text) + head.begin
            end = tag.end()

    def _read_level(
        self, place: int, writer: Writer, head: Head, level: bytes, message: bytes
    ) -> None:
        messages = self._messages
        if level in (b"WARN", b"ERROR", b"ABORT"):
            kind = b"warn" if level == b"WARN" else b"error"
            messages.warnings.add(writer, place, kind, message, head.source, head.time)
        elif level == b"CALL" and messages.calls.read_traced(writer, place, message):
            pass
        elif level != b"INFO" or not messages.read(writer, place, message):
            self._leave(place, writer, message)
            return
        self.counts.records += 1

    def _read_telling(self, place: int, line: bytes) -> None:
        fatal = _FATAL.search(line)
        messages = self._messages
        if fatal:
            text = line[: fatal.start()]
            head = parse_head(text) or Head()
            writer = self._writers[text[head.begin :]]
            messages.warnings.add(writer, place, b"error", line[fatal.end() :], None, head.time)
        else:
            writer = self._writers[b""]
            if not (
                messages.versions.read(writer, place, line)
                or messages.hangs.read(writer, place, line)
                or messages.proxies.read(writer, place, line)
            ):
                return
        self.counts.records += 1

    def _mend(self, place: int, rest: bytes) -> None:
        """Reads a record that was torn at the end of the line before, if this is its rest."""
        torn, self._torn = self._torn, None
        if torn is None or torn[0] != place - 1 or not rest.strip():
            return
        begun, writer, message = torn
        whole = message.rstrip() + b" " + rest.strip()
        if self._messages.read(writer, begun, whole):
            self.counts.torn -= 1
            self.counts.records += 1


def _is_of_program(text: bytes) -> bool:
    """Whether no line of a text holds anything that is read."""
    return not any(sign in text for sign in _SIGNS) and not _TORN_IN_BLOCK.search(text)
