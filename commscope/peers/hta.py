"""HolisticTraceAnalysis, now published as traceinsight: overlap and temporal breakdown.

Its definitions are read from facebookresearch/HolisticTraceAnalysis:

* hta/analyzers/communication_analysis.py, ``get_comm_comp_overlap``: overlap / communication
* hta/analyzers/breakdown_analysis.py, ``get_temporal_breakdown``: idle, compute, the rest
* hta/common/types.py: names that are communication, memory, compute
* hta/common/trace_parser.py, ``round_down_time_stamps``: starts up and ends down to whole us
* hta/common/trace.py, ``_filter_irrelevant_gpu_kernels``: which kernels it drops
* hta/utils/utils.py, ``merge_kernel_intervals``: the union
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from commscope.columns import NONE, Bool, Int64, int64
from commscope.parsers.kineto.beside import Beside
from commscope.peers.activities import (
    COMMUNICATION,
    COMPUTE,
    COPY,
    MARK,
    Activities,
    OfRank,
    by_rank,
    partition,
    roles_by,
)
from commscope.peers.chain import Change, Measure, Subject, answer, share
from commscope.peers.files import missing
from commscope.peers.model import Answer, Quantity, Tool, Value, Values
from commscope.peers.steps import StepMarks, step_marks, step_numbers
from commscope.trace import Trace

#: What it stops with where no event is left.
_NO_EVENTS = "IndexError: single positional indexer is out-of-bounds"
TOOL = Tool(
    "HolisticTraceAnalysis (traceinsight)",
    "traceinsight 0.6.1",
    (
        "overlap is the time of compute and communication at once / that of communication; "
        "kernel_time is the first start to the last end of what has a stream; non_compute_time is "
        "kernel_time less compute_time and idle_time"
    ),
    f"HTA fails here too: {_NO_EVENTS}",
)
AS_SHIPPED, UNROUNDED = "as shipped", "with HTA_DISABLE_NS_ROUNDING=1"
_OnActivities = Callable[[Activities], Activities]

_COMMUNICATION = re.compile(r"nccl|hip|hccl|.*ncclKernel")
_MEMORY = re.compile(r"(?:hip)?Memcpy|(?:hip)?Memset|dma")
_OTHER = re.compile(
    r"nccl|hip|hccl|.*Memcpy|.*Memset|.*dma|.*Sync|Stream Wait Event|cuda.*LaunchKernel"
    r"|runFunction|job_exe|packet|pe_exe|cpum_exe_subgraph|collective_subgraph_execution"
)
_PERCENT = (
    ("comp_comm_overlap_pctg", "overlap_ratio"),
    ("idle_time_pctg", "idle"),
    ("compute_time_pctg", "compute"),
    ("non_compute_time_pctg", "exposed communication and copies"),
)
_TIMES = (
    ("idle_time(us)", "idle"),
    ("compute_time(us)", "compute"),
    ("non_compute_time(us)", "exposed communication and copies"),
    ("kernel_time(us)", "window"),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What HTA has at hand on the way; ``rounded`` is in whole us, on the clock of the file."""

    activities: Activities
    rounded: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What HTA knows of a rank beside its activities."""

    steps: StepMarks
    marks: Activities | None  #: what carries a stream and is no activity
    base_ns: int
    drops: bool  #: there are several steps
    approximate: tuple[str, ...]


def hta_answers(trace: Trace, beside: Mapping[int, Beside]) -> list[Answer]:
    """Of each rank, as shipped and without the rounding."""
    drops = len(step_numbers(trace.host)) > 1
    answers = []
    for of in by_rank(trace):
        facts = _facts(trace, of, beside.get(of.rank), drops=drops)
        answers += [_answer(of, facts, variant) for variant in (AS_SHIPPED, UNROUNDED)]
    return answers


_LACKING = (
    "the tables lack what carries a stream and is no activity, and the annotations of the GPU's "
    "track, from which HTA may take the begin of the last step"
)


def _facts(trace: Trace, of: OfRank, beside: Beside | None, *, drops: bool) -> Facts:
    return Facts(
        steps=_steps_or_host(of, beside),
        marks=None if beside is None else _taken_for_work(_marks(of, beside)),
        base_ns=0 if beside is None else beside.base_ns,
        drops=drops,
        approximate=missing(trace, of, beside, _LACKING),
    )


def _steps_or_host(of: OfRank, beside: Beside | None) -> StepMarks:
    """Its steps; of a rank without any HTA takes the first event of the host."""
    marks = step_marks(of.host, beside)
    if len(marks.numbers):
        return marks
    start = int64(of.host, "start_ns")
    first = np.array([start.min() if len(start) else NONE], np.int64)
    return StepMarks(("",), first, first, (False,))


def _marks(of: OfRank, beside: Beside) -> Activities:
    """The events of a file that are no activity, as activities on the wall clock."""
    spans = beside.spans
    count = len(spans.start_ns)
    ids, starts = int64(of.host, "correlation"), int64(of.host, "start_ns")
    order = np.lexsort((starts, ids))
    known, first = np.unique(ids[order], return_index=True)
    at = np.minimum(np.searchsorted(known, spans.correlation), max(len(known) - 1, 0))
    launch = np.full(count, NONE, np.int64)
    if len(known):
        linked = (known[at] == spans.correlation) & (spans.correlation != NONE)
        launch[linked] = starts[order][first[at[linked]]]
    return Activities(
        start_ns=spans.start_ns + beside.base_ns,
        end_ns=spans.end_ns + beside.base_ns,
        role=np.zeros(count, np.uint8),
        kind=np.full(count, MARK, dtype=object),
        name=np.array([*spans.name, ""], dtype=object)[:count],
        stream=spans.stream,
        correlation=spans.correlation,
        launch_ns=launch,
    )


def _taken_for_work(marks: Activities) -> Activities:
    """Those of the marks that have a stream, by HTA's types."""
    held = marks.where(marks.stream != NONE)
    return replace(held, role=roles_by(role_of, held))


def _answer(of: OfRank, facts: Facts, variant: str) -> Answer:
    subject = Subject(of.rank, None, variant, facts.approximate)
    changes = _changes(of, facts)
    if variant == AS_SHIPPED:
        changes.append(_rounding(facts.base_ns))

    def fails(last: Seen) -> str | None:
        return None if len(last.activities) else f"{_NO_EVENTS} ({_why(of)})"

    measure = Measure(_quantities(0 if variant == AS_SHIPPED else 1), _measured, fails)
    return answer(subject, measure, Seen(of.all.where(of.counts)), changes)


def _why(of: OfRank) -> str:
    if (of.all.stream == NONE).all():
        return "no event has a stream, and HTA takes what has none for work of the host"
    return "it drops all that was launched in its last step, and nothing is left"


def _quantities(decimals: int) -> list[Quantity]:
    times = [Quantity(name, "ns", decimals, means) for name, means in _TIMES]
    return [Quantity(name, "percent", 2, means) for name, means in _PERCENT] + times


# -- the chain ---------------------------------------------------------------------------------


def _changes(of: OfRank, facts: Facts) -> list[Change[Seen]]:
    lengthless = of.all.where(~of.counts)
    changes = [
        _change("no_length", "it counts events of no length", lambda a: a.and_also(lengthless)),
        _change("copy_kernels", "copy kernels of ROCm are compute, by their name", _copy_kernels),
        _change("names", "other names are communication, copies and compute", _names),
        _change("no_stream", "an event without a stream is not seen", _having_stream),
    ]
    if facts.marks is not None and len(facts.marks):
        marks = facts.marks
        says = f"{len(marks)} host events that carry a stream are taken for work: {_listed(marks)}"
        changes.append(_change("marks", says, lambda a: a.and_also(marks)))
    if facts.drops:
        changes += _dropping(facts.steps)
    return changes


def _listed(marks: Activities) -> str:
    names = sorted(set(marks.name.tolist()))
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _change(key: str, says: str, apply: _OnActivities) -> Change[Seen]:
    return Change(
        key, "definition", says, lambda seen: replace(seen, activities=apply(seen.activities))
    )


def _dropping(steps: StepMarks) -> list[Change[Seen]]:
    def is_linked(of: Activities) -> Bool:
        return np.asarray((of.launch_ns != NONE) | (of.correlation == NONE))

    def before_last(of: Activities) -> Bool:
        # What has no correlation id is work of the host to HTA, and goes by its own begin.
        known = np.where(of.correlation == NONE, of.start_ns, of.launch_ns)
        return np.asarray(known < steps.last_ns)

    bug = "HTA drops the last step: what is launched from its begin on"
    if steps.from_gpu_track:
        bug += ", which it takes from the track of the GPU, where it is later than on the host"
    return [
        _change("no_launch", "kernels whose launch is not in the file are dropped",
                lambda of: of.where(is_linked(of))),
        replace(_change("last_step", bug, lambda of: of.where(before_last(of))), kind="bug"),
    ]  # fmt: skip


def _rounding(base_ns: int) -> Change[Seen]:
    says = "starts are rounded up and ends down to whole microseconds, so kernels under 1 us shrink"
    says += " to nothing or less"

    def rounded(seen: Seen) -> Seen:
        of = seen.activities
        start, end = _whole_us(of.start_ns - base_ns, of.end_ns - base_ns)
        moved = replace(of, start_ns=start + base_ns, end_ns=end + base_ns)
        return Seen(moved, rounded=True)

    return Change("rounding", "definition", says, rounded)


def _whole_us(start_ns: Int64, end_ns: Int64) -> tuple[Int64, Int64]:
    """As HTA rounds them: the end is the sum of two floats."""
    start = _float_us(start_ns)
    end = start + _float_us(end_ns - start_ns)
    return np.ceil(start).astype(np.int64) * 1000, np.floor(end).astype(np.int64) * 1000


def _float_us(ns: Int64) -> npt.NDArray[np.float64]:
    """The float that the microseconds of the file are read as; whole ones stay exact."""
    whole, rest = np.divmod(ns, 1000)
    return np.asarray(whole + rest / 1000)


# -- roles -------------------------------------------------------------------------------------


def role_of(_kind: str, name: str) -> int:
    """Its type by the name alone; what is neither is busy all the same."""
    if _COMMUNICATION.match(name):
        return COMMUNICATION
    return COPY if _MEMORY.match(name) or _OTHER.match(name) else COMPUTE


def _copy_kernels(of: Activities) -> Activities:
    rows = (of.role == COPY) & (of.kind == "kernel")
    return of.with_roles(rows, roles_by(role_of, of))


def _names(of: Activities) -> Activities:
    return replace(of, role=roles_by(role_of, of))


def _having_stream(of: Activities) -> Activities:
    return of.where((of.stream != NONE) | (of.kind == MARK))


# -- measuring ---------------------------------------------------------------------------------


def _measured(seen: Seen) -> Values:
    of = seen.activities
    found = _merged(of) if seen.rounded and len(of) else partition(of)
    window, idle, compute = found["window"], found["idle"], found["compute"]
    rest = None if window is None or idle is None or compute is None else window - compute - idle
    return {
        "comp_comm_overlap_pctg": share(found["hidden"], found["communication"]),
        "idle_time_pctg": share(idle, window),
        "compute_time_pctg": share(compute, window),
        "non_compute_time_pctg": share(rest, window),
        "idle_time(us)": idle,
        "compute_time(us)": compute,
        "non_compute_time(us)": rest,
        "kernel_time(us)": window,
    }


def _merged(of: Activities) -> Mapping[str, Value]:
    """Sums over HTA's merged groups: one that was rounded inside out takes time away."""
    firsts, lasts = _groups(of, np.ones(len(of), np.bool_))
    window = int(lasts[-1] - firsts[0])
    of_role = {role: _groups(of, of.role == role) for role in (COMPUTE, COMMUNICATION)}
    total = {role: int((b - a).sum()) for role, (a, b) in of_role.items()}
    both = of.union_of(COMPUTE).total + of.union_of(COMMUNICATION).total
    return {
        "window": window,
        "idle": window - int((lasts - firsts).sum()),
        "compute": total[COMPUTE],
        "communication": total[COMMUNICATION],
        "hidden": both - of.union_of(COMPUTE, COMMUNICATION).total,
    }


def _groups(of: Activities, rows: npt.NDArray[np.bool_]) -> tuple[Int64, Int64]:
    start, end = of.start_ns[rows], of.end_ns[rows]
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    reached = np.maximum.accumulate(end)
    first = np.flatnonzero(np.append(True, start[1:] > reached[:-1]))[: len(start)]
    return start[first], np.maximum.reduceat(end, first) if len(first) else end
