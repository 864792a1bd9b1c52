"""Whether traces were written to their end, without reading them as traces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from commscope.errors import AmbiguousFormat, UnknownFormat, UsageError
from commscope.parsers.detect import choose
from commscope.parsers.opening import Source, is_packed, open_blocks, open_session, read_head
from commscope.parsers.sources import find_sources

_TAIL_BYTES = 4 << 10
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Traces:
    """How many traces a run holds, and which of them was not written to its end, if any."""

    count: int
    half_written: str | None


def traces_at(paths: Iterable[Path]) -> Traces:
    """Looks at the traces among files and folders; what cannot be read is none."""
    count, half_written = 0, None
    with open_session():
        for source in _sources(list(paths)):
            try:
                head = read_head(source)
                is_trace = _is_trace(head, source)
                if is_trace and half_written is None and not _is_whole(head, source):
                    half_written = source.label
            except UsageError:
                continue
            count += is_trace
    return Traces(count, half_written)


def _sources(paths: list[Path]) -> tuple[Source, ...]:
    try:
        return find_sources(paths).sources
    except UsageError:  # there is nothing in it
        return ()


def _is_trace(head: bytes, source: Source) -> bool:
    try:
        return choose(head, source, None).match.unread is None
    except UnknownFormat:
        return not head and source.label.endswith((".json", ".json.gz", ".db", ".pftrace"))
    except AmbiguousFormat:
        return True


def _is_whole(head: bytes, source: Source) -> bool:
    if not head:
        return False
    if head.startswith(_SQLITE):
        return source.size is None or source.size >= _database_bytes(head)
    tail, is_cut = _tail(source)
    is_json = head.lstrip()[:1] in (b"{", b"[")
    return not is_cut and (not is_json or tail.rstrip()[-1:] in (b"}", b"]"))


def _database_bytes(head: bytes) -> int:
    """The length of a database as its first page tells it."""
    page_bytes = int.from_bytes(head[16:18], "big")
    return int.from_bytes(head[28:32], "big") * (65_536 if page_bytes == 1 else page_bytes)


def _tail(source: Source) -> tuple[bytes, bool]:
    """The last decompressed bytes, and whether the file ends before they should."""
    path, size = source.path, source.size
    if path is not None and size is not None and source.member is None and not is_packed(path):
        with path.open("rb") as file:
            file.seek(max(0, size - _TAIL_BYTES))
            return file.read(), False
    tail = b""
    with open_blocks(source) as blocks:
        for block in blocks:
            tail = (tail + block[-_TAIL_BYTES:])[-_TAIL_BYTES:]
    return tail, blocks.cut is not None
