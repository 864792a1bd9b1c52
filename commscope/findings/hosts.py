"""Rules on the host: what kept it from launching in time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from commscope.analysis.host import (
    ACTIONS,
    ALLOCATION,
    COPY,
    FILLS,
    INPUT,
    LAUNCH,
    SYNC,
    fills,
)
from commscope.classify import ActivityClass
from commscope.columns import NONE, Bool, at, int64
from commscope.findings import needs
from commscope.findings.case import Case
from commscope.findings.model import Advice, Measured, Metric
from commscope.findings.rule import NOTHING, Draft, Limit, Outcome, Rule
from commscope.findings.withheld import is_withheld
from commscope.intervals import EMPTY, Intervals, difference, intersection, measure, union
from commscope.units import percent
from commscope.wording import rank_list

_DEVICE_WIDE = re.compile(r"DeviceSynchronize|CtxSynchronize")
#: A copy blocks its host if the call returns no earlier than this before the copy ends.
_RETURNS_NS = 5_000
_MEANWHILE = {
    SYNC: "it is in a synchronising call",
    LAUNCH: "it is busy launching what comes before",
}


def _blocked_in(case: Case, action: str) -> Bool:
    """Gaps in which the host is blocked on the communication, in a call that does this."""
    is_it = case.analysis.causes.call_action == ACTIONS.index(action)
    return np.asarray(case.due_to("host_sync") & is_it)


def _late_by(case: Case, action: str) -> Bool:
    """Gaps in which the host is late since it does this for most of the time."""
    begin, end = case.analysis.causes.until_launch(case.gaps)
    is_busy = fills(case.analysis.host.doing[action], begin, end, end - begin)
    return case.due_to("host_late") & is_busy


def _idle_while(case: Case, action: str) -> Intervals:
    """When the device is idle while a host does this, and no earlier action."""
    doing = case.analysis.host.doing[action]
    for other in ACTIONS[: ACTIONS.index(action)]:
        doing = difference(doing, case.analysis.host.doing[other])
    return intersection(doing, case.analysis.timeline.idle)


def _idle_after(case: Case, action: str) -> Intervals:
    """Idle times during which a host does this, as a whole.

    A call that waits for the device to be idle returns after that: until the next launch arrives,
    nothing runs.
    """
    idle = case.analysis.timeline.idle
    touched = measure(case.analysis.host.doing[action], idle.starts, idle.ends) > 0
    return Intervals(idle.starts[touched], idle.ends[touched])


def _outcome(case: Case, rows: Bool, idle: Intervals, says: str, **words: str) -> Outcome[Draft]:
    """One draft of gaps and of idle time.

    In the text stand ``{time}`` for what both are together, ``{ranks}`` for which have it, and
    names of more words: those of a trace may hold braces themselves.
    """
    gaps = case.claim(rows)
    claimed = gaps + case.claim_idle(idle)
    if not claimed.any():
        return NOTHING
    a_step, ranks = case.a_step(claimed), case.ranks_of(claimed)
    text = says.format(time=case.spoken(a_step), ranks=_on(case, ranks), **words)
    measured = {"lost": Measured(a_step, "ns"), "exposed": Measured(case.a_step(gaps), "ns")}
    shown = case.evidence(rows, idle)
    return Outcome((Draft(text, claimed, rows, shown, _only(ranks), measured),))


def _only(ranks: Sequence[int]) -> int | None:
    return ranks[0] if len(ranks) == 1 else None


def _on(case: Case, ranks: Sequence[int]) -> str:
    """Which ranks, unless it is all of them."""
    if len(case.ranks) == 1 or len(ranks) == len(case.ranks):
        return ""
    return f" on {rank_list(ranks)}"


def look_device_sync(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """H7: a synchronise of the whole device where one event would do."""
    wide = [bool(_DEVICE_WIDE.search(name)) for name in case.analysis.host.names]
    is_wide = at(np.array(wide, np.bool_), case.analysis.causes.call_name, missing=False)
    rows = case.due_to("host_sync") & is_wide
    idle = _idle_while(case, SYNC) if rows.any() else EMPTY
    says = (
        "{time}{ranks} go by while the host waits in a synchronise of the whole device for "
        "communication to end, and launches nothing"
    )
    return _outcome(case, rows, idle, says)


def look_allocation(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """H9: memory allocated or freed inside steps."""
    rows = _blocked_in(case, ALLOCATION) | _late_by(case, ALLOCATION)
    says = "{time}{ranks} go by while the host allocates or frees memory of the device inside steps"
    return _outcome(case, rows, _idle_after(case, ALLOCATION), says)


def look_pageable(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """H8: copies that block their host, as those from pageable memory do."""
    rows = _blocked_in(case, COPY) | _late_by(case, COPY)
    copies, idle = _exposed_copies(case), _idle_after(case, COPY)
    copied = np.where(case.counts, case.inside(copies), 0)
    claimed = copied + case.claim(rows) + case.claim_idle(idle)
    if not claimed.any():
        return NOTHING
    a_step, ranks = case.a_step(claimed), case.ranks_of(claimed)
    says = (
        f"{case.spoken(a_step)}{_on(case, ranks)} go by in copies that block the host until they "
        "end, as those from pageable memory do"
    )
    measured = {"lost": Measured(a_step, "ns"), "copies": Measured(case.a_step(copied), "ns")}
    shown = case.evidence(rows, copies, idle)
    return Outcome((Draft(says, claimed, rows, shown, _only(ranks), measured),))


def _exposed_copies(case: Case) -> Intervals:
    """When nothing runs but copies whose call returns only as they end."""
    timeline, host = case.analysis.timeline, case.analysis.host
    start, end = timeline.activities_on_axis()
    is_copy = timeline.activities.of(ActivityClass.COPY)
    blocks = is_copy & (host.returned >= end - _RETURNS_NS)
    blocks &= (host.launch != NONE) & (host.returned != NONE)
    return intersection(union(start[blocks], end[blocks]), timeline.exposed_copy)


def look_input(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """H1: waiting for input."""
    rows, idle = _late_by(case, INPUT), _idle_while(case, INPUT)
    lost = case.left_of(rows) + np.minimum(case.inside(idle), case.idle_left_ns)
    if case.a_step(lost) <= limits["min_share"] * case.step_ns:
        return NOTHING
    says = "{time}{ranks} go by while the host loads input and the GPU has nothing to do"
    return _outcome(case, rows, idle, says)


def look_host_sync(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """H6: the host waits for communication, and launches nothing meanwhile."""
    rows = case.due_to("host_sync")
    names = case.analysis.causes.call_name[rows]
    if not len(names):
        return NOTHING
    call = case.analysis.host.names[int(np.bincount(names[names >= 0]).argmax())]
    says = (
        "{time}{ranks} go by while the host waits for communication ({call}) instead of launching "
        "what comes next"
    )
    return _outcome(case, rows, EMPTY, says, call=call)


def look_launch_bound(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """H3: the device waits for the host most of the time."""
    share = _launch_bound(case)
    if np.isnan(share).all():
        return Outcome(unable="the launch-bound share is withheld: see Trust")
    bound = np.nan_to_num(share) > limits["min_launch_bound"]
    chosen = bound[case.analysis.windows.rank] & case.counts
    idle = _idle_of(case, bound)
    if case.inside(idle)[chosen].sum() <= limits["min_idle"] * case.length[chosen].sum():
        return NOTHING
    rows = case.due_to("host_late", "kernel_gap") & bound[case.gaps.rank]
    rows &= ~_late_by(case, SYNC)
    least, most = (float(of(share[bound])) for of in (np.min, np.max))
    says = (
        "the GPU waits {time}{ranks} for launches: {share} of the kernels find their stream empty "
        "as the host launches them"
    )
    share_in_words = f"{'at least ' if least < most else ''}{percent(least)}"
    return _outcome(case, rows, idle, says, share=share_in_words)


def _idle_of(case: Case, ranks: Bool) -> Intervals:
    """When the devices of these ranks are idle."""
    idle = case.analysis.timeline.idle
    mine = ranks[case.analysis.timeline.rank_at(idle.starts)]
    return Intervals(idle.starts[mine], idle.ends[mine])


def _launch_bound(case: Case) -> npt.NDArray[np.float64]:
    """The launch-bound share of each rank; NaN where it is not known, or withheld."""
    table = case.analysis.launch
    share = np.asarray(table.column("launch_bound_share").to_numpy(zero_copy_only=False), float)
    of_rank = np.full(len(case.ranks), np.nan)
    of_rank[case.analysis.timeline.index_of(int64(table, "rank"))] = np.where(
        is_withheld(table, case.trust, Metric.LAUNCH), np.nan, share
    )
    return of_rank


def look_host_late(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """H10: the next kernel is launched only after communication has become exposed."""
    rows = case.due_to("host_late")
    says = "{time}{ranks} are exposed before the host launches the next kernel: {meanwhile}"
    return _outcome(case, rows, EMPTY, says, meanwhile=_meanwhile(case, rows))


def _meanwhile(case: Case, rows: Bool) -> str:
    """What hosts do for most of the time of gaps in which they are late."""
    spent = {
        action: int(case.left_ns[rows & _late_by(case, action)].sum()) for action in _MEANWHILE
    }
    most = max(spent, key=lambda action: spent[action])
    if spent[most] <= FILLS * case.left_ns[rows].sum():
        return "the trace shows no call that holds it up"
    return _MEANWHILE[most]


_TORCH = "https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html"
RULES = (
    Rule(
        "H7", "host", "Device-wide synchronise",
        "Does the host wait for the whole device where an event would do?",
        look_device_sync,
        (
            Advice(
                "Wait on the work handle (work.wait()) or an event instead.",
                "A synchronise of the device stops the host from launching anything ahead.",
                _TORCH,
            ),
        ),
        needs=(needs.launches,),
    ),
    Rule(
        "H9", "host", "Memory allocated inside steps",
        "Does the host call hipMalloc or hipFree inside steps?",
        look_allocation,
        (
            Advice(
                "Keep the memory: larger allocator segments (expandable_segments), static shapes, "
                "no empty_cache() in the loop.",
                "Freeing waits until the device is idle, and stops all launches.",
                "https://pytorch.org/docs/stable/notes/cuda.html",
            ),
        ),
        needs=(needs.launches,),
    ),
    Rule(
        "H1", "host", "Input stall",
        "Does the GPU wait for input?",
        look_input,
        (
            Advice(
                "More or persistent loader workers, prefetch_factor, pinned memory.",
                "The step cannot begin without its batch.",
                "https://github.com/nerfstudio-project/gsplat/issues/1058",
            ),
        ),
        {"min_share": Limit(0.05, "ratio", "of the median step")},
        needs=(needs.launches,),
    ),
    Rule(
        "H8", "host", "Copies that block the host",
        "Does the host wait in copies, as from pageable memory?",
        look_pageable,
        (
            Advice(
                "pin_memory=True and non_blocking=True; keep .item() out of the loop.",
                "A copy from pageable memory returns only when it has ended.",
                _TORCH,
            ),
        ),
        needs=(needs.launches,),
    ),
    Rule(
        "H6", "host", "Host blocked on communication",
        "Does the host wait for communication instead of launching ahead?",
        look_host_sync,
        (
            Advice(
                "Let the stream wait (work.wait() of an asynchronous collective), not the host.",
                "What the host would have launched meanwhile could have run beside it.",
                "https://pytorch.org/docs/stable/distributed.html",
            ),
        ),
        needs=(needs.launches,),
    ),
    Rule(
        "H3", "host", "Launch-bound",
        "Does the GPU wait for launches most of the time?",
        look_launch_bound,
        (
            Advice(
                "Fewer and larger kernels, torch.compile, graphs. Check the step without the "
                "profiler: it slows launches.",
                "A stream that is empty at each launch runs at the host's pace.",
                "https://github.com/pytorch/pytorch/issues/82793",
            ),
        ),
        {
            "min_launch_bound": Limit(0.5, "ratio", "of kernels that find their stream empty"),
            "min_idle": Limit(0.2, "ratio", "of the time in steps, idle"),
        },
        needs=(needs.launches,),
    ),
    Rule(
        "H10", "host", "Host late",
        "Is the next kernel launched too late to hide communication?",
        look_host_late,
        (
            Advice(
                "Find what the host does then (with_stack=True for one step): Python, garbage "
                "collection, logging, other processes on its cores.",
                "Nothing can run that has not been launched.",
                "https://github.com/pytorch/pytorch/issues/82793",
            ),
        ),
        needs=(needs.launches,),
    ),
)  # fmt: skip
