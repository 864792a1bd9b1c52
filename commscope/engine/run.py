"""What was read of a job, before it is normalised: all that a saved run keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commscope.parsers.base import Reading
from commscope.parsers.saved.documents import NO_OPTIONS, SavedOptions
from commscope.trace import Note

if TYPE_CHECKING:
    from commscope.parsers.rccl_log import Logs
    from commscope.topology import Topology


@dataclass(frozen=True, slots=True)
class Run:
    """The readings of a job, with what was found beside them and what was said on the way."""

    readings: tuple[Reading, ...]
    notes: tuple[Note, ...] = ()
    logs: Logs | None = None
    topology: Topology | None = None
    unprofiled_step_ns: int | None = None
    options: SavedOptions = NO_OPTIONS  #: what the user said about the traces
