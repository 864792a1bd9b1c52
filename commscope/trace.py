"""The trace: what all parsers lead to and all analyses start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope._version import DEFINITIONS_VERSION

if TYPE_CHECKING:
    from commscope.classify import Expression
    from commscope.counters.model import KernelCounters
    from commscope.parsers.rccl_log import Logs
    from commscope.topology import Topology


@dataclass(frozen=True, slots=True)
class Classes:
    """What every activity is; see ``commscope.classify``.

    ``of_event`` is aligned with ``Trace.events``. ``family``, aligned with the dictionary of its
    names, holds for those that are compute.
    """

    of_event: npt.NDArray[np.uint8]
    family: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that went into the trace and how well it could be read."""

    file: str
    format: str
    rank: int | None
    sha256: str | None
    bytes: int
    events: int
    versions: dict[str, str]
    is_rocm: bool | None
    gpu_names: tuple[str, ...]
    events_repaired: int
    events_lost: int
    bytes_lost: int
    cut: str | None
    lacks_events: bool  #: it was cut before the end of its events
    last_good_ns: int | None  #: begin of the last event read before a cut, on the wall clock


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was decided on the way and that a reader of the numbers must know.

    ``topic`` is one of ranks, captures, steps, files, clocks, streams, or damage: a file of which
    nothing could be used.
    """

    topic: str
    says: str


@dataclass(frozen=True, slots=True)
class Repair:
    """What repairing the time stamps of a rank did (rule Q4); times in ns."""

    rank: int
    broken: int
    clipped: int
    tolerated: int  #: overlaps on one stream of at most 1 us, left as they are
    busy_before_ns: int  #: sum of durations before
    busy_after_ns: int


@dataclass(frozen=True, slots=True)
class StepSource:
    """How the steps were found, and how sure that is (match share for inferred ones)."""

    kind: str  #: annotation, marker, inferred or whole_trace
    confidence: float
    says: str


@dataclass(frozen=True, slots=True, repr=False)
class Trace:
    """All ranks of one capture: tables of ``commscope.schema`` with what is known of them.

    The host table keeps the ranks' own clocks; so do the events. ``steps`` are those that the user
    chose, in the words of ``selection`` (null: all), ``all_steps`` those of the trace.
    """

    events: pa.Table
    host: pa.Table
    collectives: pa.Table
    steps: pa.Table
    all_steps: pa.Table
    ranks: pa.Table
    classes: Classes
    step_source: StepSource
    files: tuple[SourceFile, ...]
    repairs: tuple[Repair, ...]
    notes: tuple[Note, ...]
    selection: str | None = None
    roles: Mapping[str, Expression] = field(default_factory=dict)  #: role -> group names
    unprofiled_step_ns: int | None = None  #: a step without the profiler, where it is known
    reference: pa.Table | None = None  #: what rccl-tests measured on this machine (BENCHMARKS)
    logs: Logs | None = None  #: of the library, from the job that the trace is of
    topology: Topology | None = None  #: of the hosts of that job
    counters: tuple[KernelCounters, ...] = ()  #: of kernels, from a profile of their hardware
    definitions: int = DEFINITIONS_VERSION  #: by which a saved run was read; else the present one

    def __repr__(self) -> str:
        ranks, steps = self.ranks.num_rows, len(set(self.steps.column("step").to_pylist()))
        return f"<Trace: {ranks} ranks, {steps} steps, {self.events.num_rows:,} activities>"

    def _repr_html_(self) -> str:
        return f"<b>Trace</b>{repr(self)[6:-1]}"
