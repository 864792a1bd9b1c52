"""Reads one file as the program does: the parser that recognises it, held to the contract."""

from __future__ import annotations

from pathlib import Path

from commscope.engine.reading import read_source
from commscope.errors import FormatError
from commscope.parsers.base import Parser, Reading
from commscope.parsers.detect import choose_parser
from commscope.parsers.opening import Source, open_session, read_head


def source_of(path: Path) -> Source:
    """The file as a source."""
    return Source(path, label=path.name, size=path.stat().st_size)


def read_file(path: Path) -> list[Reading]:
    """All readings of a file."""
    source = source_of(path)
    with open_session():
        parser = choose_parser(read_head(source), source, None)
        return read_source(source, parser, lambda done, total: None)


def read_one(path: Path) -> Reading:
    """The reading of a file that has one."""
    [reading] = read_file(path)
    return reading


def is_one_line(error: Exception) -> bool:
    """Whether an error can be shown to the user as it is."""
    return "\n" not in str(error) and bool(str(error))


def survives(path: Path, parser: Parser | None = None) -> list[Reading]:
    """The readings of a damaged file; none where it ends in an error, which has one line."""
    try:
        if parser is None:
            return read_file(path)
        return read_source(source_of(path), parser, lambda done, total: None)
    except FormatError as error:
        if not is_one_line(error):
            raise
        return []
