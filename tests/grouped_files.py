"""Reads a folder as the program does: the files of a process together."""

from __future__ import annotations

from pathlib import Path

from commscope.engine.grouping import grouped
from commscope.engine.reading import read_source
from commscope.parsers.base import Reading
from commscope.parsers.detect import choose
from commscope.parsers.opening import open_session, read_head
from commscope.parsers.sources import find_sources


def read_folder(folder: Path) -> list[Reading]:
    """All readings of the files that are read."""
    with open_session():
        opinions = [(s, choose(read_head(s), s, None)) for s in find_sources([folder]).sources]
        chosen = [(source, o.parser) for source, o in opinions if o.match.unread is None]
        return [
            reading
            for source, parser in grouped(chosen)
            for reading in read_source(source, parser, lambda done, total: None)
        ]
