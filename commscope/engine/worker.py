"""A process that reads files for another one, which is at the other end of its standard input."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from multiprocessing.connection import Connection
from typing import Any

from commscope.engine.reading import try_source
from commscope.parsers.base import Progress

#: The other process wakes up for each report.
_REPORT_BYTES = 8 << 20


class _NoPandas(MetaPathFinder):
    """Keeps Arrow from importing pandas, which takes as long as reading 70 MB."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """Finds that there is no pandas, and nothing of others."""
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def main() -> None:
    """Reads one file after the other, until the other process goes.

    It receives (source, parser) and sends the outcome, before it (bytes read, bytes in all or
    null) any number of times.
    """
    sys.meta_path.insert(0, _NoPandas())
    connection = Connection(sys.stdin.fileno())
    try:
        while True:
            source, parser = connection.recv()
            connection.send(try_source(source, parser, _reporting(connection)))
    except (EOFError, ConnectionError):
        return


def _reporting(connection: Connection[Any, Any]) -> Progress:
    """Progress that is sent once in a while, and at the end."""
    due = 0

    def report(done: int, total: int | None) -> None:
        nonlocal due
        if done >= due or done == total:
            due = done + _REPORT_BYTES
            connection.send((done, total))

    return report
