"""Lines of logs that show a finding, for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.padding import Padding
from rich.text import Text

from commscope.findings.model import Quote
from commscope.sanitize import shortened

#: So many lines of a finding are shown unless all are asked for.
MOST_QUOTES = 2
#: A quoted line takes so many lines of the terminal.
_MOST_LINES = 2
_RAGGED = 20  #: room that breaks between words leave
_INDENT = 4
#: Process, thread and device of a record: the line tells them.
_HEAD = re.compile(r"(?<=\w):\d{1,10}:\d{1,10} (?:\[\d{1,4}\] )?(?:NCCL INFO )?")
#: A place in the sources of the library as it is built: only its end tells something.
_BUILD_PATH = re.compile(r"(?<= )/\S{20,}/(?=\S{1,80}:\d+ )")


def quoted(quotes: Sequence[Quote], width: int) -> Iterator[Padding]:
    """Each line by file and number, shortened to what a terminal of this width has room for."""
    for quote in quotes:
        yield indented(_line(quote, width - _INDENT))


def indented(text: str) -> Padding:
    """What belongs to the line above it."""
    return Padding(Text(text, "dim"), (0, 0, 0, _INDENT))


def _line(quote: Quote, room: int) -> str:
    where = f"{shortened(quote.file, 40)}:{quote.line}"
    if quote.text is None:
        return where
    text = _HEAD.sub(" ", _BUILD_PATH.sub(".../", quote.text), count=1)
    return shortened(f"{where}: {text}", _MOST_LINES * room - _RAGGED)
