"""Reads one Kineto file: bytes to chunks, chunks to column batches, batches to tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from commscope.columns import NONE
from commscope.errors import CorruptTrace
from commscope.parsers.base import Health, Input, Progress, Reading
from commscope.parsers.kineto.chunks import Chunks
from commscope.parsers.kineto.decode import Decoded, decode_chunk
from commscope.parsers.kineto.facts import parse_around
from commscope.parsers.kineto.tables import Tables
from commscope.parsers.opening import Blocks, Source, open_blocks

#: Small enough to stay in the processor's cache between cutting and decoding.
_BLOCK_BYTES = 1 << 19
#: Metadata behind the events beyond this is not read.
_MAX_TRAILER_CHARACTERS = 64 << 20


@dataclass(slots=True)
class _Losses:
    """What became of the events, chunk by chunk, and the text behind them."""

    seen: int = 0
    repaired: int = 0
    lost: int = 0
    bytes_lost: int = 0
    trailer: str | None = None
    second_document: bool = False

    def add(self, decoded: Decoded) -> None:
        """Counts one chunk."""
        self.seen += decoded.seen
        self.repaired += decoded.repaired
        self.lost += decoded.lost
        self.bytes_lost += decoded.bytes_lost


def read_kineto(source: Source, progress: Progress) -> Reading:
    """Reads a file; raises CorruptTrace where not even the begin of its events is there."""
    tables, losses = Tables(), _Losses()
    with open_blocks(source, block_bytes=_BLOCK_BYTES) as blocks:
        chunks = Chunks(_reporting(blocks, source, progress), source.label)
        _read_events(chunks, tables, losses)
        cut, digest, size = blocks.cut, blocks.sha256, blocks.bytes_read
    around = parse_around(chunks.header, losses.trailer)
    if not losses.seen and not around.complete:
        raise CorruptTrace(
            f"{source.label}: cut or damaged before its first event; record the trace again"
        )
    events, host, collectives = tables.finish()
    return Reading(
        input=Input(source.label, "kineto", digest, size),
        facts=tables.facts(around.metadata),
        health=_health(losses, cut, around.complete, around.surplus, tables),
        events=events,
        host=host,
        collectives=collectives,
    )


def _reporting(blocks: Blocks, source: Source, progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        progress(blocks.bytes_read, source.size)
        yield block


def _read_events(chunks: Chunks, tables: Tables, losses: _Losses) -> None:
    """Fills the tables until the array of events ends, and keeps the text behind it."""
    for chunk in chunks:
        decoded = decode_chunk(chunk, None if chunks.is_last else chunks.layout)
        losses.add(decoded)
        tables.add(decoded.events)
        if decoded.rest is not None:
            _read_trailer(decoded, chunks.remaining(), losses)
            return


def _read_trailer(decoded: Decoded, blocks: Iterable[bytes], losses: _Losses) -> None:
    """Keeps what follows the events; of a second document only the length counts."""
    kept, size = [decoded.rest or ""], len(decoded.rest or "")
    for block in blocks:
        if decoded.second_document or size > _MAX_TRAILER_CHARACTERS:
            losses.bytes_lost += len(block)
        else:
            kept.append(block.decode("utf-8", "replace"))
            size += len(block)
    losses.second_document = decoded.second_document
    if decoded.second_document:
        losses.bytes_lost += size
    else:
        losses.trailer = "".join(kept)


def _health(
    losses: _Losses, cut: str | None, complete: bool, surplus: int, tables: Tables
) -> Health:
    notes = []
    if losses.second_document or surplus:
        notes.append(
            f"{losses.bytes_lost + surplus:,} bytes of another document follow and were not read; "
            "split the file"
        )
    if not complete and not losses.second_document:
        cut = cut or "the file ends before the trace does"
    last = tables.last_start_ns()
    return Health(
        events_read=losses.seen,
        events_repaired=losses.repaired,
        events_lost=losses.lost,
        bytes_lost=losses.bytes_lost + surplus,
        cut=cut,
        last_good_ns=None if last == NONE else last,
        notes=tuple(notes),
    )
