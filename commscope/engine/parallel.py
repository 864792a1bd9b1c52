"""Reading several files at once, each process one after the other.

The processes are started anew. A fork would copy locks that threads of the caller or of its
libraries may hold; what ``multiprocessing`` does instead runs the caller's script again. Nothing
depends on them: a file whose process ends, whyever, is left to the caller.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from subprocess import DEVNULL, Popen
from typing import Any, TypeAlias

from commscope.cores import core_count
from commscope.engine.reading import Outcome
from commscope.parsers.base import Parser
from commscope.parsers.opening import Source
from commscope.parsers.registry import PARSERS

Job: TypeAlias = tuple[Source, Parser]
#: Called with (number of the file, bytes read, bytes in all or null).
JobProgress = Callable[[int, int, "int | None"], None]

#: A process takes some 0.3 s to start, in which it could have read as much text.
_LEAST_BYTES = 64 << 20
#: Text is some ten times as long as it is compressed.
_PACKED = 10
_PLAIN = (".json", ".csv")
#: A process takes some 200 MB.
_MOST_PROCESSES = 8
#: Isolated, so that nothing is imported from the current folder unless the caller does so too.
_PYTHON = (sys.executable or "", "-I", "-c")
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from commscope.engine.worker import main; main()"
)

#: Threads for linear algebra, of which there is none, take as long to start as 20 MB to read.
_ALONE = {"OPENBLAS_NUM_THREADS": "1"}

_Worker: TypeAlias = "Connection[Any, Any]"


def read_in_parallel(jobs: Mapping[int, Job], progress: JobProgress) -> dict[int, Outcome]:
    """The outcomes, by number, of the files that other processes could read: perhaps of none."""
    shared = {number: job for number, job in jobs.items() if _can_be_shared(*job)}
    count = min(len(shared), core_count(), _MOST_PROCESSES)
    if count < 2 or sum(_text_bytes(source) for source, _ in shared.values()) < _LEAST_BYTES:
        return {}
    work = _Work(shared, progress)
    with ExitStack() as stack:
        work.share(_start(stack, count))
    return work.outcomes


def _can_be_shared(source: Source, parser: Parser) -> bool:
    """Whether another process can open all files and has the parser: plug-ins never promised it."""
    return all(map(_is_file, (source, *source.companions))) and parser in PARSERS


def _is_file(source: Source) -> bool:
    return source.path is not None and source.member is None and source.size is not None


def _text_bytes(source: Source) -> int:
    """How much text there is to be read, roughly."""
    is_plain = source.path is not None and source.path.suffix in _PLAIN
    size = (source.size or 0) * (1 if is_plain else _PACKED)
    return size + sum(map(_text_bytes, source.companions))


def _start(stack: ExitStack, count: int) -> list[_Worker]:
    """As many processes, or fewer where the system lets us have no more."""
    workers: list[_Worker] = []
    with suppress(OSError):
        while len(workers) < count:
            workers.append(stack.enter_context(_worker()))
    return workers


@contextmanager
def _worker() -> Iterator[_Worker]:
    """The connection to a new process, which ends with the context."""
    ours, theirs = Pipe()
    with ours:
        with theirs:
            # What it would complain of, the caller meets when it reads the file itself.
            process = Popen(
                [*_PYTHON, _PROGRAM, *sys.path],
                stdin=theirs.fileno(),
                stdout=DEVNULL,
                stderr=DEVNULL,
                env={**os.environ, **_ALONE},
            )
        try:
            yield ours
        finally:
            process.kill()
            process.wait()


class _Work:
    """The files: which wait, which are being read by whom, and what came of the others."""

    def __init__(self, jobs: Mapping[int, Job], progress: JobProgress) -> None:
        self.outcomes: dict[int, Outcome] = {}
        self._waiting = deque(jobs.items())
        self._busy: dict[_Worker, int] = {}
        self._progress = _InTurn(list(jobs), progress)

    def share(self, workers: Sequence[_Worker]) -> None:
        """Has all files read, as long as there is a worker left."""
        for worker in workers:
            self._hand_out(worker)
        while self._busy:
            ready = wait(self._busy)
            for worker in [worker for worker in self._busy if worker in ready]:
                self._hear(worker)

    def _hand_out(self, worker: _Worker) -> None:
        if not self._waiting:
            return
        self._busy[worker], job = self._waiting.popleft()
        with suppress(ConnectionError):  # then it has ended, and that is heard
            worker.send(job)

    def _hear(self, worker: _Worker) -> None:
        number = self._busy[worker]
        try:
            said = worker.recv()
        except (EOFError, ConnectionError):
            del self._busy[worker]
            self._progress.end(number)
            return
        if isinstance(said, tuple):
            self._progress.report(number, *said)
            return
        del self._busy[worker]
        self.outcomes[number] = said
        self._progress.end(number)
        self._hand_out(worker)


class _InTurn:
    """Progress as of files read one by one: of the first that has not ended, then of the next."""

    def __init__(self, numbers: Sequence[int], progress: JobProgress) -> None:
        self._open = deque(numbers)
        self._last: dict[int, tuple[int, int | None]] = {}
        self._ended: set[int] = set()
        self._progress = progress

    def report(self, number: int, done: int, total: int | None) -> None:
        """Takes what a file tells."""
        self._last[number] = done, total
        if number == self._open[0]:
            self._progress(number, done, total)

    def end(self, number: int) -> None:
        """Takes that nothing more comes of a file."""
        self._ended.add(number)
        while self._open and self._open[0] in self._ended:
            self._open.popleft()
            if self._open and self._open[0] in self._last:
                self._progress(self._open[0], *self._last[self._open[0]])
