"""Work on the pieces of a file on all cores, in order, a few pieces ahead of who takes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from commscope.cores import core_count

_Piece = TypeVar("_Piece")
_Made = TypeVar("_Made")
_MOST_THREADS = 4


def side_by_side(
    work: Callable[[_Piece], _Made], pieces: Iterable[_Piece], *, name: str
) -> Iterator[_Made]:
    """What ``work``, which must leave the interpreter's lock to gain, makes of each piece."""
    count = min(core_count(), _MOST_THREADS)
    running: deque[Future[_Made]] = deque()
    with ThreadPoolExecutor(count, name) as threads:
        for piece in pieces:
            running.append(threads.submit(work, piece))
            if len(running) > count:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
