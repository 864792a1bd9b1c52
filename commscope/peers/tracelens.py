"""TraceLens: where the time of a GPU went.

Its definitions are read from AMD-AGI/TraceLens: TraceLens/TreePerf/gpu_event_analyser.py,
``get_gpu_event_lists`` (what is computation, communication, memcpy) and ``compute_metrics_dict``;
its report feeds it only the events that its tree links to the host by an arrow
(TraceLens/TreePerf/tree_perf.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from commscope.columns import NONE, Int64
from commscope.parsers.kineto.beside import Beside
from commscope.peers.activities import (
    COMMUNICATION,
    COMPUTE,
    COPY,
    Activities,
    OfRank,
    by_rank,
    partition,
    roles_by,
)
from commscope.peers.chain import Change, Measure, Subject, answer
from commscope.peers.files import missing
from commscope.peers.model import Answer, Quantity, Tool, Values
from commscope.trace import Trace

_NO_EVENTS = "ValueError: No GPU events found in the trace"
TOOL = Tool(
    "TraceLens",
    "TraceLens GPUEventAnalyser of 2025 and 2026",
    (
        "computation is every kernel and memset whose name does not hold 'nccl', communication "
        "those whose name does; exposed communication is what computation does not cover, exposed "
        "memcpy what neither covers; total is the first start to the last end"
    ),
    f"TraceLens fails here too: {_NO_EVENTS}",
)
EVERY_EVENT, LINKED_ONLY = "GPUEventAnalyser on every GPU event", "report default (linked only)"
#: The categories that it knows.
_KNOWN = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})

_QUANTITIES = [
    Quantity(name, "ns", 1, means)
    for name, means in (
        ("computation_time", "compute"),
        ("exposed_comm_time", "exposed communication"),
        ("exposed_memcpy_time", "exposed copy"),
        ("busy_time", "window less idle"),
        ("idle_time", "idle"),
        ("total_time", "window"),
        ("total_comm_time", "communication"),
        ("total_memcpy_time", "copies, whether hidden or not"),
    )
]


@dataclass(frozen=True, slots=True)
class Facts:
    """What TraceLens knows of a rank beside its activities; null: not known."""

    arrows: Int64 | None  #: ids of arrows from the host
    categories: frozenset[str] | None
    approximate: tuple[str, ...]


def tracelens_answers(trace: Trace, beside: Mapping[int, Beside]) -> list[Answer]:
    """Of each rank, over every event of the GPU and over those that its report keeps."""
    return [
        answer
        for of in by_rank(trace)
        for answer in _answers(of, _facts(trace, of, beside.get(of.rank)))
    ]


_LACKING = "the tables lack arrows: what has a known launch is taken to be linked"


def _facts(trace: Trace, of: OfRank, beside: Beside | None) -> Facts:
    return Facts(
        arrows=None if beside is None else beside.arrows,
        categories=None if beside is None else beside.categories,
        approximate=missing(trace, of, beside, _LACKING),
    )


def _answers(of: OfRank, facts: Facts) -> list[Answer]:
    every = _every_event(of)
    linked = [*every, Change("no_arrow", "definition", _NO_ARROW, lambda a: _linked(a, facts))]
    return [
        _answer(of, facts, EVERY_EVENT, every),
        _answer(of, facts, LINKED_ONLY, linked),
    ]


_NO_ARROW = "events that no arrow (ac2g) links to a call of the host are dropped"


def _answer(of: OfRank, facts: Facts, variant: str, changes: list[Change[Activities]]) -> Answer:
    approximate = facts.approximate if variant == LINKED_ONLY else ()
    subject = Subject(of.rank, None, variant, approximate)

    def fails(last: Activities) -> str | None:
        if facts.categories is not None and not facts.categories & _KNOWN:
            return f"{_NO_EVENTS} (it does not know this file's spelling of the categories)"
        return (
            None
            if len(last)
            else f"{_NO_EVENTS} (none is linked to a call of the host by an arrow)"
        )

    measure = Measure(_QUANTITIES, _measured, fails)
    return answer(subject, measure, of.all.where(of.counts), changes)


def _every_event(of: OfRank) -> list[Change[Activities]]:
    lengthless = of.all.where(~of.counts)
    return [
        Change("no_length", "definition", "it counts events of no length",
               lambda a: a.and_also(lengthless)),
        Change("memset", "definition", "memset is computation",
               lambda a: a.with_roles(a.kind == "memset", roles_by(role_of, a))),
        Change("copy_kernels", "definition", "copy kernels of ROCm are computation",
               lambda a: a.with_roles((a.role == COPY) & (a.kind == "kernel"),
                                      roles_by(role_of, a))),
        Change("names", "definition", "only names that hold 'nccl' are communication",
               lambda a: replace(a, role=roles_by(role_of, a))),
    ]  # fmt: skip


def role_of(kind: str, name: str) -> int:
    """Its type by category and name."""
    if kind == "memcpy":
        return COPY
    return COMMUNICATION if "nccl" in name else COMPUTE


def _linked(of: Activities, facts: Facts) -> Activities:
    if facts.arrows is None:
        return of.where(of.launch_ns != NONE)
    return of.where((of.correlation != NONE) & np.isin(of.correlation, facts.arrows))


def _measured(of: Activities) -> Values:
    found = partition(of)
    return {
        "computation_time": found["compute"],
        "exposed_comm_time": found["exposed"],
        "exposed_memcpy_time": found["exposed_copy"],
        "busy_time": found["busy"],
        "idle_time": found["idle"],
        "total_time": found["window"],
        "total_comm_time": found["communication"],
        "total_memcpy_time": found["copy"],
    }
