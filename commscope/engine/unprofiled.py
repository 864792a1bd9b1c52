"""The step time without a profiler, where the job's own output next to the traces tells it.

A line of JSON with the key ``unprofiled_step_ms``, printed by the training script:

    {"rank": 0, "unprofiled_step_ms": 27.116}
"""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

from commscope.parsers.opening import Source

_LINE = re.compile(
    rb'^\{[^\n]*"unprofiled_step_ms"\s*:\s*(\d{1,9}(?:\.\d{1,9})?)[,}\s]', re.MULTILINE
)
#: Names of files that jobs print into, which may be long: the line may stand at their end.
_LOG_NAME = re.compile(r"\.(?:log|out|err|txt|jsonl)$", re.IGNORECASE)
_TAIL_BYTES = 64 << 10


def step_times(head: bytes, source: Source) -> list[int]:
    """The step times that a file tells in its first bytes or, if it is a log, in its last, ns."""
    path, size = source.path, source.size
    if path is None or size is None or source.member is not None or size <= len(head):
        return unprofiled_step_ns(head)
    if not _LOG_NAME.search(path.name):
        return unprofiled_step_ns(head)
    try:
        return unprofiled_step_ns(head + _tail(path, len(head), size))
    except OSError:  # a log that vanishes meanwhile tells no more than its first bytes
        return unprofiled_step_ns(head)


def _tail(path: Path, begin: int, size: int) -> bytes:
    """The last bytes of a file, none before the begin; whole lines if they do not follow on it."""
    follows = size - begin <= _TAIL_BYTES
    with path.open("rb") as file:
        file.seek(begin if follows else size - _TAIL_BYTES)
        tail = file.read(_TAIL_BYTES)
    return tail if follows else b"\n" + tail.partition(b"\n")[2]


def unprofiled_step_ns(text: bytes) -> list[int]:
    """The step times that a piece of output tells, ns."""
    return [int(Decimal(found.decode()) * 10**6) for found in _LINE.findall(text)]
