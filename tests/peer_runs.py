"""What other tools say of the real files, each file read once in a session."""

from __future__ import annotations

from functools import cache

from support import case

import commscope
from commscope.parsers.kineto.beside import Beside
from commscope.peers import PeerAnswer, answer_as, files_beside
from commscope.trace import Trace


@cache
def read(path: str) -> tuple[Trace, dict[int, Beside]]:
    """A case, and what its files hold beside the tables."""
    file = case(path)
    trace = commscope.load([file])
    return trace, dict(files_beside(trace, [file]))


@cache
def says(path: str, tool: str) -> PeerAnswer:
    """The answer of a tool."""
    trace, beside = read(path)
    return answer_as(trace, tool, beside)
