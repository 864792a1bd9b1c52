"""Whole files that must be in memory to be read, up to a limit."""

from __future__ import annotations

from dataclasses import dataclass

from commscope.errors import CorruptTrace, FormatError
from commscope.parsers.base import Progress
from commscope.parsers.opening import Source, open_blocks


def _silent(_done: int, _total: int | None) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Whole:
    """The decompressed bytes of a source, and the hash of them as they are stored."""

    data: bytes
    sha256: str | None


def read_whole(source: Source, most_bytes: int, progress: Progress = _silent) -> bytes:
    """The decompressed bytes of a source; raises as ``read_hashed`` does."""
    return read_hashed(source, most_bytes, progress).data


def read_hashed(source: Source, most_bytes: int, progress: Progress = _silent) -> Whole:
    """The decompressed bytes of a source.

    Raises FormatError where there are more than the limit, CorruptTrace where its compression is
    cut or damaged, UsageError where the system does not let us read it.
    """
    parts, size = [], 0
    with open_blocks(source) as blocks:
        for block in blocks:
            parts.append(block)
            size += len(block)
            progress(blocks.bytes_read, source.size)
            if size > most_bytes:
                most = f"more than {most_bytes >> 20} MiB"
                raise FormatError(f"{source.label}: {most}, which no file of its kind has")
    if blocks.cut:
        raise CorruptTrace(f"{source.label}: {blocks.cut}; copy it again")
    return Whole(b"".join(parts), blocks.sha256)
