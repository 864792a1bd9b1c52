"""PyTorch's TensorBoard plug-in: the bars of its distributed view, step by step.

Its definitions are read from pytorch/kineto, tb_plugin/torch_tb_profiler (removed in 2026):

* profiler/overall_parser.py, ``aggregate``, and run_generator.py, ``_generate_overlap_graph``
* profiler/event_parser.py, ``_parse_step``: which kernels are communication
* profiler/event_parser.py, ``_find_device_steps`` and ``_update_steps_duration``: the steps
* profiler/trace.py: the categories it knows, and the names of collectives
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from commscope.columns import NONE, Bool
from commscope.intervals import Intervals, clip, intersection, union
from commscope.peers.activities import COMMUNICATION, COMPUTE, COPY, Activities, OfRank
from commscope.peers.chain import Change, Subject, answer, failed
from commscope.peers.model import Answer, Quantity, Tool, Values
from commscope.peers.tensorboard_steps import TbStep

TOOL = Tool(
    "PyTorch Profiler TensorBoard plug-in, distributed view",
    "torch-tb-profiler 0.4.3",
    (
        "communication is the kernels of the operators nccl:all_reduce, all_gather, broadcast, "
        "reduce and reduce_scatter (or gloo:), told by the operator's id, and these operators on "
        "the host; all other kernels are computation; other is the rest of the step, copies too"
    ),
)
_OPERATIONS = ("broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter")
#: The operators whose kernels are communication.
OPERATORS = frozenset(f"{library}:{op}" for library in ("nccl", "gloo") for op in _OPERATIONS)

_QUANTITIES = [
    Quantity(name, "ns", 3, means)
    for name, means in (
        ("Computation", "compute that hides no communication"),
        ("Overlapping", "hidden communication"),
        ("Communication", "exposed communication"),
        ("Other", "idle and exposed copies"),
    )
]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the plug-in knows of a rank beside its activities; null: not known."""

    is_communication: Bool | None  #: of each activity, by the operator's id
    on_host: Intervals | None  #: when these operators ran, on any track
    approximate: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A window, what ran in it, and what else counts as communication; null without window."""

    activities: Activities
    on_host: Intervals
    window: tuple[int, int] | None


def tensorboard_answer(
    of: OfRank, step: TbStep, ours: tuple[int, int] | None, facts: Facts
) -> Answer:
    """The bar of one step; ``ours`` is its device window, null where it has none."""
    subject = Subject(of.rank, step.number, "distributed view", facts.approximate)
    nothing = Intervals(np.empty(0, np.int64), np.empty(0, np.int64))
    begin = Seen(of.all.where(of.counts), nothing, ours)
    if step.window is None:
        return failed(subject, _QUANTITIES, _measured(begin), step.says)
    return answer(subject, _QUANTITIES, begin, _changes(of, step, facts), _measured)


def _changes(of: OfRank, step: TbStep, facts: Facts) -> list[Change[Seen]]:
    changes: list[Change[Seen]] = [
        Change("window", step.kind, step.says, lambda seen: replace(seen, window=step.window)),
        Change("copy_kernels", "definition", "copy kernels of ROCm are computation",
               lambda seen: replace(seen, activities=_copies_compute(seen.activities))),
    ]  # fmt: skip
    if facts.is_communication is not None:
        known = facts.is_communication[of.counts]
        says = "communication is what an operator it knows launched, by the operator's id"
        changes.append(
            Change("operators", "definition", says,
                   lambda seen: replace(seen, activities=_by_operator(seen.activities, known)))
        )  # fmt: skip
    if facts.on_host is not None:
        on_host = facts.on_host
        says = "the operators of collectives count as communication while they run on the host"
        changes.append(
            Change("on_host", "definition", says, lambda seen: replace(seen, on_host=on_host))
        )
    return changes


def _copies_compute(of: Activities) -> Activities:
    rows = (of.role == COPY) & (of.kind == "kernel")
    return of.with_roles(rows, np.full(len(of), COMPUTE, np.uint8))


def _by_operator(of: Activities, known: Bool) -> Activities:
    roles = np.where(known, COMMUNICATION, COMPUTE).astype(np.uint8)
    return of.with_roles(of.kind == "kernel", roles)


def _measured(seen: Seen) -> Values:
    if seen.window is None:
        return {quantity.name: None for quantity in _QUANTITIES}
    start, end = seen.window
    compute = clip(seen.activities.union_of(COMPUTE), start, end)
    kernels, host = seen.activities.union_of(COMMUNICATION), seen.on_host
    both = union(
        np.concatenate((kernels.starts, host.starts)), np.concatenate((kernels.ends, host.ends))
    )
    communication = clip(both, start, end)
    overlap = intersection(compute, communication).total
    return {
        "Computation": compute.total - overlap,
        "Overlapping": overlap,
        "Communication": communication.total - overlap,
        "Other": end - start - compute.total - communication.total + overlap,
    }


def by_operator(of: Activities, starts_ns: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Bool:
    """Which activities are the kernels that begin then."""
    return np.asarray(
        (of.kind == "kernel") & np.isin(of.start_ns, starts_ns) & (of.start_ns != NONE)
    )
