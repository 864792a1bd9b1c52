"""A log's bytes, cut into lines with their numbers, whatever is in them.

Memory is bounded by a block and ``MAX_LINE_BYTES``: a longer line is given in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from commscope.parsers.rccl_log.unwrap import Unwrapper

#: A line longer than this comes in pieces; what the library writes has 4 kB at most.
MAX_LINE_BYTES = 2 << 20
_ESCAPE = re.compile(rb"\x1b\[[0-9;?]{0,64}[A-Za-z]")

#: (Number of each line, its text); pieces of one line share its number.
Numbered = tuple[Sequence[int], list[bytes]]


class Lines:
    """Iterates over batches of lines, without their ends.

    Zero bytes and the escapes of terminals are left out; a carriage return ends a piece of a line.
    What follows the last line feed is not given: nobody knows how it goes on.
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.count = 0  #: lines so far
        self.unended_bytes = 0  #: bytes behind the last line feed, once all was given
        self._blocks = blocks
        self._unwrap = Unwrapper()

    def __iter__(self) -> Iterator[Numbered]:
        rest, given = b"", 0
        for block in self._blocks:
            text = rest + (block.translate(None, b"\0") if b"\0" in block else block)
            whole, feed, rest = text.rpartition(b"\n")
            if feed:
                yield self._lines(whole)
                given = 0
            if len(rest) > MAX_LINE_BYTES:
                yield _in_pieces([self.count + 1], [_tidy(rest)])
                given, rest = given + len(rest), b""
        self.unended_bytes = given + len(rest)

    def _lines(self, whole: bytes) -> Numbered:
        whole = _tidy(whole)
        texts = self._unwrap.lines(whole)
        first = self.count + 1
        self.count += len(texts)
        numbers = range(first, self.count + 1)
        return _in_pieces(numbers, texts) if b"\r" in whole else (numbers, texts)


def _tidy(text: bytes) -> bytes:
    if b"\x1b" in text:
        text = _ESCAPE.sub(b"", text)
    return text.replace(b"\r\n", b"\n").removesuffix(b"\r") if b"\r" in text else text


def _in_pieces(numbers: Sequence[int], texts: list[bytes]) -> Numbered:
    """The lines, cut at carriage returns."""
    pairs = [(n, piece) for n, text in zip(numbers, texts) for piece in text.split(b"\r")]
    return [number for number, _ in pairs], [piece for _, piece in pairs]
