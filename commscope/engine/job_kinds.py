"""What a file is that no parser of traces knows: something else of the job, or of another kind."""

from __future__ import annotations

from commscope.engine.logs import shows_records
from commscope.parsers.appearance import looks_like
from commscope.parsers.topology import formats_of


def what_it_is(head: bytes, stored: int | None) -> str:
    """A few words, by the first bytes of a file, and which command reads it if one does."""
    if shows_records(head):
        return "a log of RCCL or NCCL, for commscope log"
    formats = formats_of(head)
    if formats:
        return f"how GPUs are joined ({', '.join(formats)}), for commscope env"
    return looks_like(head, stored)
