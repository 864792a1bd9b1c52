"""One answer of a tool for all ranks of a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from commscope.columns import NONE, int64
from commscope.errors import UsageError
from commscope.intervals import union
from commscope.parsers.kineto.beside import Beside
from commscope.peers import hta, tensorboard, tracelens
from commscope.peers.activities import MARK, Activities, OfRank, activities_of
from commscope.peers.model import Answer, PeerAnswer, Tool
from commscope.peers.steps import StepMarks, step_marks
from commscope.peers.tensorboard_steps import TbStep, device_steps, host_steps, launches_of
from commscope.trace import Trace
from commscope.wording import counted

_NOTHING: Mapping[int, Beside] = MappingProxyType({})


def answer_as(trace: Trace, tool: str, beside: Mapping[int, Beside] = _NOTHING) -> PeerAnswer:
    """What a tool of ``TOOLS`` says of the whole trace, rank by rank, beside what commscope says.

    ``beside`` is what ``files_beside`` found: without it some figures are approximate, and the
    answers say so. Raises UsageError for another tool.
    """
    if tool not in TOOLS:
        raise UsageError(f"as {tool}: there are {', '.join(TOOLS)}")
    described, of_rank = TOOLS[tool]
    ranks = np.unique(int64(trace.ranks, "rank")).tolist()
    answers = [
        answer
        for rank in ranks
        for answer in of_rank(trace, activities_of(trace, rank), beside.get(rank))
    ]
    return PeerAnswer(tool, described, _notes(trace, described.title), tuple(answers))


def _notes(trace: Trace, title: str) -> tuple[str, ...]:
    notes = []
    formats = sorted({file.format for file in trace.files} - {"kineto"})
    if formats:
        notes.append(
            f"{title} cannot read {', '.join(formats)}: this is its definition on this trace"
        )
    if trace.selection is not None:
        notes.append(f"the whole trace is measured: {trace.selection} does not apply")
    return tuple(notes)


def _missing(trace: Trace, of: OfRank, beside: Beside | None, lacking: str) -> tuple[str, ...]:
    """What keeps the figures of a rank from being exact; other formats have nothing to lack."""
    is_kineto = any(file.format == "kineto" for file in trace.files)
    says = [lacking] if beside is None and is_kineto else []
    if of.broken:
        says.append(f"{counted(of.broken, 'activity', 'activities')} of impossible time left out")
    if of.clipped:
        ends = counted(of.clipped, "end")
        says.append(f"{ends} cut back to the next begin on the stream, which the tool would not do")
    return tuple(says)


# -- HTA ---------------------------------------------------------------------------------------


def _hta(trace: Trace, of: OfRank, beside: Beside | None) -> list[Answer]:
    lacking = (
        "the tables lack what carries a stream and is no activity, and the annotations of the "
        "GPU's track, from which HTA may take the begin of the last step"
    )
    marks = None if beside is None else hta.taken_for_work(_marks(trace, of.rank, beside))
    facts = hta.Facts(
        steps=_steps_or_host(trace, of.rank, beside),
        marks=marks,
        base_ns=0 if beside is None else beside.base_ns,
        drops=_has_several_steps(trace),
        approximate=_missing(trace, of, beside, lacking),
    )
    return hta.hta_answers(of, facts)


def _has_several_steps(trace: Trace) -> bool:
    ranks = np.unique(int64(trace.ranks, "rank")).tolist()
    return len({name for rank in ranks for name in step_marks(trace, rank, None).numbers}) > 1


def _steps_or_host(trace: Trace, rank: int, beside: Beside | None) -> StepMarks:
    """Its steps; of a rank without any HTA takes the first event of the host."""
    marks = step_marks(trace, rank, beside)
    if len(marks.numbers):
        return marks
    start = int64(trace.host, "start_ns")[int64(trace.host, "rank") == rank]
    first = np.array([start.min() if len(start) else NONE], np.int64)
    return StepMarks(("",), first, first, (False,))


def _marks(trace: Trace, rank: int, beside: Beside) -> Activities:
    """The events of a file that are no activity, as activities on the wall clock."""
    spans = beside.spans
    count = len(spans.start_ns)
    of_rank = int64(trace.host, "rank") == rank
    ids = int64(trace.host, "correlation")[of_rank]
    starts = int64(trace.host, "start_ns")[of_rank]
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


# -- TraceLens ---------------------------------------------------------------------------------


def _tracelens(trace: Trace, of: OfRank, beside: Beside | None) -> list[Answer]:
    lacking = "the tables lack arrows: what has a known launch is taken to be linked"
    facts = tracelens.Facts(
        arrows=None if beside is None else beside.arrows,
        categories=None if beside is None else beside.categories,
        approximate=_missing(trace, of, beside, lacking),
    )
    return tracelens.tracelens_answers(of, facts)


# -- TensorBoard -------------------------------------------------------------------------------


def _tensorboard(trace: Trace, of: OfRank, beside: Beside | None) -> list[Answer]:
    lacking = (
        "the tables lack the ids and times of operators: communication is taken to be ours, and "
        "the steps those of the host"
    )
    facts = tensorboard.Facts(None, None, _missing(trace, of, beside, lacking))
    if beside is not None:
        facts = _operators(of, beside, facts.approximate)
    marks = step_marks(trace, of.rank, beside)
    if not len(marks.numbers):
        step = _one_step(of, beside)
        return [tensorboard.tensorboard_answer(of, step, _whole(of), facts)]
    windows = _device_windows(trace, of.rank)
    return [
        tensorboard.tensorboard_answer(of, step, windows.get(step.number), facts)
        for step in _steps(trace, of, beside, marks)
    ]


def _operators(of: OfRank, beside: Beside, approximate: tuple[str, ...]) -> tensorboard.Facts:
    spans, base = beside.spans, beside.base_ns
    rows = np.array([name in tensorboard.OPERATORS for name in spans.name], np.bool_)
    starts = beside.external_starts_ns[np.isin(beside.externals, spans.external[rows])]
    return tensorboard.Facts(
        is_communication=tensorboard.by_operator(of.all, starts + base),
        on_host=union(spans.start_ns[rows] + base, spans.end_ns[rows] + base),
        approximate=approximate,
    )


def _steps(trace: Trace, of: OfRank, beside: Beside | None, marks: StepMarks) -> list[TbStep]:
    if beside is not None and "Runtime" in beside.categories:
        return device_steps(marks, launches_of(trace, of.rank, of.all), of.all)
    return host_steps(marks)


def _one_step(of: OfRank, beside: Beside | None) -> TbStep:
    """Without steps: from the first operator to the last, or as near to it as is known."""
    says = "without annotations its one step runs from the first operator to the last on the host"
    if beside is None:
        return TbStep("0", _whole(of), "definition", says)
    if beside.operators_ns is None:
        return TbStep(
            "0", None, "bug", "no operator on the host: Other is -18446744073709551615 us"
        )
    start, end = beside.operators_ns
    return TbStep("0", (start + beside.base_ns, end + beside.base_ns), "definition", says)


def _whole(of: OfRank) -> tuple[int, int] | None:
    found = of.all.where(of.counts)
    return (int(found.start_ns.min()), int(found.end_ns.max())) if len(found) else None


def _device_windows(trace: Trace, rank: int) -> dict[str, tuple[int, int]]:
    """Our windows of the steps that have one, by the number of the step."""
    steps = trace.all_steps
    rows = np.flatnonzero((int64(steps, "rank") == rank) & (int64(steps, "start_ns") != NONE))
    numbers, starts, ends = (int64(steps, name)[rows] for name in ("step", "start_ns", "end_ns"))
    return {
        str(number): (start, end)
        for number, start, end in zip(numbers.tolist(), starts.tolist(), ends.tolist())
    }


_OfRank = Callable[[Trace, OfRank, Beside | None], list[Answer]]
#: Every tool by the name that ``--as`` takes.
TOOLS: Mapping[str, tuple[Tool, _OfRank]] = {
    "hta": (hta.TOOL, _hta),
    "tracelens": (tracelens.TOOL, _tracelens),
    "tb": (tensorboard.TOOL, _tensorboard),
}
