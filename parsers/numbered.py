"""The lines of a text, numbered, whatever they are wrapped or packed in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commscope.parsers.opening import Source, open_blocks
from commscope.parsers.rccl_log.lines import Lines

_BLOCK_BYTES = 1 << 20


class NumberedLines:
    """Iterates once over (number from 1, text) of the lines of a source, the last one too."""

    def __init__(self, source: Source) -> None:
        self.label = source.label
        self.cut: str | None = None  #: why the text ends early, once all lines were given
        self._source = source

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """The lines; raises UsageError where the source cannot be read."""
        with open_blocks(self._source, block_bytes=_BLOCK_BYTES) as blocks:
            for numbers, texts in Lines(_ended(blocks)):
                yield from zip(numbers, texts)
            self.cut = blocks.cut


def _ended(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The blocks and a line feed, as the last line may have none."""
    yield from blocks
    yield b"\n"
