"""Reads one Kineto file: bytes to chunks, chunks to column batches, batches to tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from commscope.errors import CorruptTrace
from commscope.parsers.base import Health, Input, Progress, Reading
from commscope.parsers.kineto.chunks import Chunks
from commscope.parsers.kineto.decode import Decoded, decode_chunk
from commscope.parsers.kineto.facts import Around, parse_around
from commscope.parsers.kineto.tables import TableBuilder
from commscope.parsers.opening import Blocks, Source, open_blocks

#: Small enough to stay in the processor's cache between cutting and decoding.
BLOCK_BYTES = 1 << 19
#: Metadata behind the events beyond this is not read.
_MAX_TRAILER_BYTES = 16 << 20


@dataclass(slots=True)
class _Losses:
    """What became of the events, chunk by chunk, and the text behind them."""

    seen: int = 0
    repaired: int = 0
    lost: int = 0
    bytes_lost: int = 0
    trailer: bytes | None = None
    unread_bytes: int = 0  #: of another document, or of a trailer that is too long
    joined: bool = False  #: another document begins before the events end

    def add(self, decoded: Decoded) -> None:
        """Counts one chunk."""
        self.seen += decoded.seen
        self.repaired += decoded.repaired
        self.lost += decoded.lost
        self.bytes_lost += decoded.bytes_lost


def read_kineto(source: Source, progress: Progress, block_bytes: int = BLOCK_BYTES) -> Reading:
    """Reads a file; raises CorruptTrace where not one of its events can be read."""
    tables, losses = TableBuilder(), _Losses()
    with open_blocks(source, block_bytes=block_bytes) as blocks:
        chunks = Chunks(_reporting(blocks, source, progress), source.label)
        _read_events(chunks, tables, losses)
        cut, digest, size = blocks.cut, blocks.sha256, blocks.bytes_read
    around = parse_around(chunks.header, losses.trailer)
    if not losses.seen and (losses.lost or not around.complete):
        raise CorruptTrace(
            f"{source.label}: cut or damaged before its first event; record the trace again"
        )
    events, host, collectives = tables.finish()
    return Reading(
        input=Input(source.label, "kineto", digest, size),
        facts=tables.facts(around.metadata),
        health=_health(losses, cut, around, tables.last_good_ns()),
        events=events,
        host=host,
        collectives=collectives,
    )


def _reporting(blocks: Blocks, source: Source, progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        progress(blocks.bytes_read, source.size)
        yield block


def _read_events(chunks: Chunks, tables: TableBuilder, losses: _Losses) -> None:
    """Fills the tables until the array of events ends, and keeps the text behind it."""
    for chunk in chunks:
        decoded = decode_chunk(chunk, chunks.layout, chunks.is_final)
        losses.add(decoded)
        tables.add(decoded.events)
        if decoded.rest is not None:
            losses.joined = decoded.joined
            _read_trailer(decoded.rest, chunks.remaining(), losses)
            return
        chunks.put_back(decoded.unread)


def _read_trailer(rest: bytes, following: Iterable[bytes], losses: _Losses) -> None:
    """Keeps what follows the events; of another document only the length counts."""
    trailer = bytearray(rest)
    for block in following:
        if losses.joined or len(trailer) > _MAX_TRAILER_BYTES:
            losses.unread_bytes += len(block)
        else:
            trailer += block
    if losses.joined:
        losses.unread_bytes += len(trailer)
    losses.trailer = None if losses.joined else bytes(trailer)


def _health(losses: _Losses, cut: str | None, around: Around, last_good_ns: int | None) -> Health:
    unread = losses.unread_bytes + around.surplus_bytes
    if losses.joined:
        cut = cut or "another document begins before the trace ends"
    elif not around.complete:
        cut = cut or "the file ends before the trace does"
    notes = (f"{unread:,} bytes that follow the trace were not read",) if unread else ()
    return Health(
        events_read=losses.seen,
        events_repaired=losses.repaired,
        events_lost=losses.lost,
        bytes_lost=losses.bytes_lost + unread,
        cut=cut,
        lacks_events=cut is not None and losses.trailer is None,
        last_good_ns=last_good_ns if cut else None,
        notes=notes,
    )
