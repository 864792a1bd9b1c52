"""Lines of logs for those who quote them, read again from the files, with nothing secret."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from commscope.errors import UsageError
from commscope.parsers.opening import Source, open_blocks, open_session
from commscope.parsers.rccl_log import LogFile
from commscope.parsers.rccl_log.environment import is_allowed
from commscope.parsers.rccl_log.lines import Lines
from commscope.parsers.sources import find_sources

#: A quoted line is cut behind so many characters.
MOST_CHARACTERS = 400
_BLOCK_BYTES = 1 << 20
#: Pieces of a line that hold what is quoted, rather than a progress bar.
_TELLING = re.compile(rb"NCCL |\[FATAL ERROR\]|[Ww]atchdog|\[PG |version")
_HEAD = re.compile(
    r"(?:\[\d{4}-\d\d-\d\d[^\]]{0,30}\] ?)?[\w.-]{1,255}:\d{1,10}:\d{1,10} |NCCL [A-Z]+ "
)
_SET = re.compile(r"\b([A-Za-z_]\w{0,79})( set (?:by \w+ )?to )(\S.{0,400})")
_VARIABLE = re.compile(r"\b([A-Z][A-Z0-9_]{3,79})(=)(\S{1,400})")
_SECRET = re.compile(
    r"(?i:(?:token|secret|passw\w*|credential\w*|api[_-]?key|authorization|bearer)s?[\"']?"
    r"(?: ?[:=] ?| )[\"']?(?:(?:bearer|basic) )?)\S{1,400}"
    r"|\b(?:hf_|gh[opsu]_|github_pat_|glpat-|sk-|xox[a-z]-|AKIA|eyJ)[\w.-]{8,400}"
    r"|(?<=://)[^\s/@]{1,200}:[^\s/@]{1,200}(?=@)"
    r"|(?<![\w/.-])(?=[A-Za-z0-9+_-]{0,400}[A-Z])(?=[A-Za-z0-9+_-]{0,400}[a-z])"
    r"(?=[A-Za-z0-9+_-]{0,400}\d)[A-Za-z0-9+_-]{32,400}=*(?![\w/.])"
)
_HIDDEN = "***"


def quoted_lines(
    paths: Sequence[str | os.PathLike[str]],
    files: Sequence[LogFile],
    wanted: Mapping[str, Collection[int]],
) -> dict[tuple[str, int], str]:
    """The text of lines, by name of the file and number.

    Each file is read once, up to the last line that is wanted. Missing are the lines of standard
    input, which is gone, and of files that have another size by now, or cannot be read any more.
    """
    sizes = {file.file: file.bytes for file in files}
    found: dict[tuple[str, int], str] = {}
    with open_session():
        for source in find_sources(paths).sources:
            numbers = wanted.get(source.label)
            if not numbers or source.path is None or source.size != sizes.get(source.label):
                continue
            try:
                for number, text in _lines(source, numbers):
                    found[source.label, number] = text
            except UsageError:  # it was there a moment ago: without the quote the finding stands
                continue
    return found


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
    head = _HEAD.search(text)
    text = text[head.start() :] if head else text
    # Cut with room to spare: what is hidden must not be cut into something that is not.
    text = text[: 2 * MOST_CHARACTERS]
    for pattern in (_SET, _VARIABLE):
        text = pattern.sub(_allowed, text)
    text = _SECRET.sub(_HIDDEN, text)
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "\u2026"


def _allowed(found: re.Match[str]) -> str:
    name, between, _ = found.groups()
    return found[0] if is_allowed(name) else f"{name}{between}{_HIDDEN}"
