"""What is said of one hang."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Side:
    """What some ranks did at the operation where ranks part."""

    ranks: tuple[int, ...]
    op: str | None
    size: str | None  #: elements or shapes, and their type
    state: str | None
    at: str | None  #: file:line, or line of the program


@dataclass(frozen=True, slots=True)
class Hang:
    """One process group or communicator that does not go on; ``says`` is the verdict.

    ``kind``: ``mismatch`` (ranks call different things), ``missing`` (some never called it),
    ``not_started`` (called, but the device did not begin it), ``stuck`` (begun by all, not ended),
    ``behind`` (fewer operations than others).
    """

    source: str  #: flight_recorder, ras or watchdog
    kind: str
    group: str
    nranks: int | None
    seq: int | None  #: number of the first operation at which ranks part
    suspects: tuple[int, ...]  #: ranks to look at first
    waiting: tuple[int, ...]  #: ranks that wait for them
    unknown: tuple[int, ...]  #: members of which nothing is known: no dump, no message
    sides: tuple[Side, ...]
    says: str
