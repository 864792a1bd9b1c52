"""O7: gradients that are reduced in every micro-step although the optimizer needs their sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from commscope.analysis.result import Analysis
from commscope.analysis.roles import IN_LINE
from commscope.classify import ActivityClass
from commscope.columns import NONE, Int64, codes, int64, where_word
from commscope.findings import needs
from commscope.findings.case import Case
from commscope.findings.model import Advice, Measured
from commscope.findings.rule import NOTHING, Draft, Limit, Outcome, Rule

_REDUCES = ("all_reduce", "reduce_scatter")
#: The first kernels of a step stand for its begin: micro-steps begin with the same.
_OPENING = 3


def look_accumulation(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """Finds steps that hold the same reductions several times, each behind a new forward pass.

    The forward pass is told by the first kernels of the step: they come again.
    """
    surplus, times = _surplus(case.analysis)
    if not len(surplus):
        return NOTHING
    count = Counter(times).most_common(1)[0][0]
    if count < limits["min_times"]:
        return NOTHING
    rows = case.due_to("dependency", "step_tail", "host_late", "host_sync", "unknown")
    rows &= np.isin(case.gaps.call, surplus)
    mostly = case.main_collective(rows)
    claimed = case.claim(rows)
    a_step = case.a_step(claimed)
    says = (
        f"gradients are reduced {count} times for one step of the optimizer"
        f"{f' (mostly {mostly})' if mostly else ''}; {case.spoken(a_step)} of this are exposed "
        "before the last micro-step"
    )
    measured = {"exposed": Measured(a_step, "ns"), "times": Measured(count, "count")}
    return Outcome((Draft(says, claimed, rows, measured=measured),))


def _surplus(analysis: Analysis) -> tuple[Int64, list[int]]:
    """The reductions that could be deferred, and how often each step that has any reduces."""
    calls = analysis.across.calls
    rows = _reductions(analysis)
    if not len(rows):
        return rows, []
    keys = [int64(calls, name)[rows] for name in ("rank", "step", "communicator")]
    size, start = int64(calls, "bytes")[rows], int64(calls, "start_ns")[rows]
    order = np.lexsort((start, *reversed(keys)))
    changes = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    openings = _Openings(analysis)
    surplus, times = [], []
    for mine in np.split(order, np.flatnonzero(changes) + 1):
        rank, step = int(keys[0][mine[0]]), int(keys[1][mine[0]])
        found = _micro_steps(openings.of(rank, step), start[mine], size[mine].tolist())
        if found > 1:
            surplus.append(rows[mine[: len(mine) - len(mine) // found]])
            times.append(found)
    return np.concatenate([np.empty(0, np.int64), *surplus]), times


def _reductions(analysis: Analysis) -> Int64:
    """The reductions of gradients that belong to a step and tell their size."""
    calls = analysis.across.calls
    of_activations = analysis.across.has_role(int64(calls, "communicator"), *IN_LINE)
    reduces = where_word(calls, "op", _REDUCES.__contains__) & ~of_activations
    return np.flatnonzero(reduces & (int64(calls, "bytes") > 0) & (int64(calls, "step") != NONE))


def _micro_steps(openings: Int64, starts: Int64, sizes: Sequence[int]) -> int:
    """How often the same reductions come, each time behind an opening; 1 where that is not so."""
    before = np.searchsorted(starts, openings)
    places = np.unique(before)
    places = places[places < len(sizes)]
    times = len(places)
    if times < 2 or len(sizes) % times:
        return 1
    each = len(sizes) // times
    is_periodic = list(sizes) == list(sizes[:each]) * times
    return times if is_periodic and places.tolist() == list(range(0, len(sizes), each)) else 1


class _Openings:
    """Where in each step of each rank its first kernels come, in order of launch."""

    def __init__(self, analysis: Analysis) -> None:
        events, found = analysis.trace.events, analysis.timeline.activities
        compute = np.flatnonzero(found.of(ActivityClass.COMPUTE))
        row = found.row[compute]
        self._name, self._start = codes(events, "name")[0][row], found.start_ns[compute]
        self._rank, self._step = (int64(events, name)[row] for name in ("rank", "step"))
        order = np.lexsort((self._start, self._step, self._rank))
        self._name, self._start, self._rank, self._step = (
            of[order] for of in (self._name, self._start, self._rank, self._step)
        )

    def of(self, rank: int, step: int) -> Int64:
        """When the first kernels of a step come, each time, on the rank's clock."""
        low, high = np.searchsorted(self._rank, (rank, rank + 1))
        first, last = low + np.searchsorted(self._step[low:high], (step, step + 1))
        name, start = self._name[first:last], self._start[first:last]
        if len(name) < _OPENING:
            return np.empty(0, np.int64)
        alike = [name[i : len(name) - _OPENING + 1 + i] == name[i] for i in range(_OPENING)]
        return np.asarray(start[: len(name) - _OPENING + 1][np.logical_and.reduce(alike)])


RULES = (
    Rule(
        "O7", "overlap", "Gradients reduced in every micro-step",
        "Are gradients reduced several times for one step of the optimizer?",
        look_accumulation,
        (
            Advice(
                "Wrap all micro-steps but the last in no_sync() (FSDP2: "
                "set_requires_gradient_sync(False)).",
                "Only the sum is needed; deferring costs memory for the unreduced gradients.",
                "https://github.com/huggingface/accelerate/pull/2531",
            ),
        ),
        {"min_times": Limit(2, "count", "reductions of the same gradients in a step")},
        needs=(needs.marked_steps, needs.sizes),
    ),
)  # fmt: skip
