"""A parser that reads in one process only: any other ends at once."""

from __future__ import annotations

import os
from collections.abc import Iterable

from commscope.parsers.base import Progress, Reading
from commscope.parsers.kineto import KinetoParser
from commscope.parsers.opening import Source


class DyingParser(KinetoParser):
    def __init__(self) -> None:
        self._home = os.getpid()

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        if os.getpid() != self._home:
            os._exit(1)
        return super().read(source, progress)
