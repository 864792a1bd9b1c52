"""What was read of a job, before it is normalised: all that a saved run keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from commscope._version import DEFINITIONS_VERSION
from commscope.classify import Expression
from commscope.normalize import Options
from commscope.parsers.base import Reading
from commscope.trace import Note

if TYPE_CHECKING:
    from commscope.parsers.rccl_log import Logs
    from commscope.topology import Topology


Roles = Mapping[str, Expression]


@dataclass(frozen=True, slots=True)
class Run:
    """The readings of a job, with what was found beside them and what was said on the way."""

    readings: tuple[Reading, ...]
    notes: tuple[Note, ...] = ()
    logs: Logs | None = None
    topology: Topology | None = None
    unprofiled_step_ns: int | None = None
    options: Options = field(default_factory=Options)  #: what the user said about the traces
    roles: Roles = field(default_factory=dict)  #: role -> process groups
    definitions: int = DEFINITIONS_VERSION  #: by which it was saved; else the present one
