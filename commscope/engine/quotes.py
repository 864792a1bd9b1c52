"""Lines of logs for those who quote them, read again from the files, with nothing secret."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from commscope.errors import UsageError
from commscope.parsers.opening import Source, open_blocks, open_session
from commscope.parsers.rccl_log import Logs
from commscope.parsers.rccl_log.lines import Lines
from commscope.secrets_filter import MOST_LOOKED_AT, without_secrets

#: A quoted line is cut behind so many characters.
MOST_CHARACTERS = 400
_BLOCK_BYTES = 1 << 20
#: Pieces of a line that hold what is quoted, rather than a progress bar.
_TELLING = re.compile(rb"NCCL |\[FATAL ERROR\]|[Ww]atchdog|\[PG |version")
_HEAD = re.compile(
    r"(?:\[\d{4}-\d\d-\d\d[^\]]{0,30}\] ?)?(?<![\w.-])[\w.-]{1,255}:\d{1,10}:\d{1,10} |NCCL [A-Z]+ "
)


def texts_of(logs: Logs, wanted: Mapping[str, Collection[int]]) -> dict[tuple[str, int], str]:
    """The text of lines of logs, by name of the file and number, as ``quoted_lines`` finds it.

    Of a saved run those are known that were quoted as it was saved.
    """
    kept = {
        place: text for place, text in logs.quotes.items() if place[1] in wanted.get(place[0], ())
    }
    return {**kept, **quoted_lines(logs.sources, wanted)}


def quoted_lines(
    sources: Mapping[str, Source], wanted: Mapping[str, Collection[int]]
) -> dict[tuple[str, int], str]:
    """The text of lines, by name of the file and number.

    Each file is read once, up to the last line that is wanted. Missing are the lines of standard
    input, which is gone, and of files that were changed since, or cannot be read any more.
    """
    found: dict[tuple[str, int], str] = {}
    with open_session():
        for name, numbers in wanted.items():
            source = sources.get(name)
            if source is None or not _is_as_it_was(source):
                continue
            try:
                for number, text in _lines(source, numbers):
                    found[name, number] = text
            except UsageError:  # it was there a moment ago: without the quote the finding stands
                continue
    return found


def _is_as_it_was(source: Source) -> bool:
    """Whether a file, or the archive that holds it, was not changed since it was found."""
    if source.path is None:
        return False
    try:
        now = os.stat(source.path)
    except OSError:
        return False
    whole = source.member is None and source.size is not None
    return (not whole or source.size == now.st_size) and source.modified in (None, now.st_mtime_ns)


def _lines(source: Source, wanted: Collection[int]) -> Iterator[tuple[int, str]]:
    left = sorted(set(wanted))
    with open_blocks(source, block_bytes=_BLOCK_BYTES) as blocks:
        for numbers, texts in Lines(blocks):
            while left and numbers[0] <= left[0] <= numbers[-1]:
                yield left[0], safe(_piece(numbers, texts, left.pop(0)))
            if not left:
                return


def _piece(numbers: Sequence[int], texts: list[bytes], number: int) -> bytes:
    """The line of a number; of its pieces, the one that tells something."""
    first = numbers.index(number)
    count = numbers.count(number) if len(numbers) != numbers[-1] - numbers[0] + 1 else 1
    pieces = texts[first : first + count]
    return next((piece for piece in pieces if _TELLING.search(piece)), pieces[0])


def safe(line: bytes) -> str:
    """A line as it may be shown: from its record on, and without what may be secret."""
    text = line.decode("utf-8", "replace").strip()
    head = _HEAD.search(text, 0, MOST_LOOKED_AT)
    text = without_secrets(text[head.start() :] if head else text)
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "\u2026"
