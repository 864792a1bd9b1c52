"""PyTorch's TensorBoard plug-in: the bars of its distributed view, step by step.

Its definitions are read from pytorch/kineto, tb_plugin/torch_tb_profiler (removed in 2026):

* profiler/overall_parser.py, ``aggregate``, and run_generator.py, ``_generate_overlap_graph``
* profiler/event_parser.py, ``_parse_step``: which kernels are communication
* profiler/event_parser.py, ``_find_device_steps`` and ``_update_steps_duration``: the steps
* profiler/trace.py: the categories it knows, and the names of collectives
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, int64
from commscope.intervals import Intervals, clip, intersection, union
from commscope.parsers.kineto.beside import Beside
from commscope.peers.activities import COMMUNICATION, COMPUTE, COPY, Activities, OfRank, by_rank
from commscope.peers.chain import Change, Measure, Subject, answer
from commscope.peers.files import missing
from commscope.peers.model import Answer, Quantity, Tool, Values
from commscope.peers.steps import step_marks
from commscope.peers.tensorboard_steps import TbStep, one_step, steps_of, whole_of
from commscope.trace import Trace

TOOL = Tool(
    "PyTorch Profiler TensorBoard plug-in, distributed view",
    "torch-tb-profiler 0.4.3",
    (
        "communication is the kernels of the operators nccl:all_reduce, all_gather, broadcast, "
        "reduce and reduce_scatter (or gloo:), told by the operator's id, and these operators on "
        "the host; all other kernels are computation; other is the rest of the step, copies too"
    ),
    "The TensorBoard plug-in has no kernels to show here either",
)
_OPERATIONS = ("broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter")
#: The operators whose kernels are communication.
_OPERATORS = frozenset(f"{library}:{op}" for library in ("nccl", "gloo") for op in _OPERATIONS)

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


def tensorboard_answers(trace: Trace, beside: Mapping[int, Beside]) -> list[Answer]:
    """The bars of each rank, step by step."""
    return [
        answer
        for of in by_rank(trace)
        for answer in _answers(of, _facts(trace, of, beside.get(of.rank)), beside.get(of.rank))
    ]


_LACKING = (
    "the tables lack the ids and times of operators: communication is taken to be ours, and the "
    "steps those of the host"
)


def _facts(trace: Trace, of: OfRank, beside: Beside | None) -> Facts:
    approximate = missing(trace, of, beside, _LACKING)
    if beside is None:
        return Facts(None, None, approximate)
    spans, base = beside.spans, beside.base_ns
    rows = np.array([name in _OPERATORS for name in spans.name], np.bool_)
    starts = beside.external_starts_ns[np.isin(beside.externals, spans.external[rows])]
    return Facts(
        is_communication=_begins_at(of.all, starts + base),
        on_host=union(spans.start_ns[rows] + base, spans.end_ns[rows] + base),
        approximate=approximate,
    )


def _begins_at(of: Activities, starts_ns: Int64) -> Bool:
    """Which activities are the kernels that begin then."""
    return np.asarray(
        (of.kind == "kernel") & np.isin(of.start_ns, starts_ns) & (of.start_ns != NONE)
    )


def _answers(of: OfRank, facts: Facts, beside: Beside | None) -> list[Answer]:
    marks = step_marks(of.host, beside)
    if not len(marks.numbers):
        return [_answer(of, one_step(of, beside), whole_of(of), facts)]
    windows = _device_windows(of.steps)
    return [
        _answer(of, step, windows.get(step.number), facts) for step in steps_of(of, beside, marks)
    ]


def _device_windows(steps: pa.Table) -> dict[str, tuple[int, int]]:
    """Our windows of the steps that have one, by the number of the step."""
    rows = np.flatnonzero(int64(steps, "start_ns") != NONE)
    numbers, starts, ends = (int64(steps, name)[rows] for name in ("step", "start_ns", "end_ns"))
    return {
        str(number): (start, end)
        for number, start, end in zip(numbers.tolist(), starts.tolist(), ends.tolist())
    }


def _answer(of: OfRank, step: TbStep, ours: tuple[int, int] | None, facts: Facts) -> Answer:
    """The bar of one step; ``ours`` is its device window, null where it has none."""
    subject = Subject(of.rank, step.number, "distributed view", facts.approximate)
    nothing = Intervals(np.empty(0, np.int64), np.empty(0, np.int64))
    begin = Seen(of.all.where(of.counts), nothing, ours)

    def fails(last: Seen) -> str | None:
        return step.says if last.window is None else None

    return answer(subject, Measure(_QUANTITIES, _measured, fails), begin, _changes(of, step, facts))


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
