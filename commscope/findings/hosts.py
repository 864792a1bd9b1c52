"""Rules on the host: what kept it from launching in time."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from commscope.analysis.host import ACTIONS, ALLOCATION, COPY, INPUT, SYNC
from commscope.classify import ActivityClass
from commscope.columns import NONE, Bool, Int64, int64
from commscope.findings.case import Case
from commscope.findings.model import Advice, Measured
from commscope.findings.rule import NOTHING, Draft, Limit, Outcome, Rule
from commscope.intervals import Intervals, difference, intersection, measure, union
from commscope.units import percent, span

_NO_LAUNCHES = "the files have no launches: nothing shows what the hosts did"
_DEVICE_WIDE = re.compile(r"DeviceSynchronize|CtxSynchronize")
_ALLOCATES = re.compile(r"Malloc|Free|HostAlloc|HostRegister")
_COPIES = re.compile(r"Memcpy")
#: A copy blocks its host if the call returns no earlier than this before the copy ends.
_RETURNS_NS = 5_000
_FILLS = 0.5


def _has_launches(case: Case) -> bool:
    return bool((case.analysis.host.launch != NONE).any())


def _blocked_in(case: Case, pattern: re.Pattern[str]) -> Bool:
    """Gaps in which the host is blocked on the communication, in a call of such a name."""
    wanted = np.array([bool(pattern.search(name)) for name in case.analysis.host.names] + [False])
    return np.asarray(case.due_to("host_sync") & wanted[case.analysis.causes.call_name])


def _late_by(case: Case, action: str) -> Bool:
    """Gaps in which the host is late since it does this for most of the time."""
    begin = case.gaps.exposures.start[case.gaps.exposure]
    end = np.maximum(case.analysis.causes.next_launch, begin)
    spent = measure(case.analysis.host.doing[action], begin, end)
    return np.asarray(case.due_to("host_late") & (spent > _FILLS * np.maximum(end - begin, 1)))


def _idle_while(case: Case, action: str) -> Int64:
    """How long in each window the device is idle while a host does this, and no earlier action."""
    doing = case.analysis.host.doing[action]
    for other in ACTIONS[: ACTIONS.index(action)]:
        doing = difference(doing, case.analysis.host.doing[other])
    windows = case.analysis.windows.axis(case.analysis.timeline)
    busy = intersection(doing, case.analysis.timeline.busy)
    return measure(doing, *windows) - measure(busy, *windows)


def _outcome(case: Case, rows: Bool, idle: Int64, says: str) -> Outcome:
    """One draft of gaps and of idle time; ``{time}`` in the text is what both are together."""
    gaps = case.claim(rows)
    claimed = gaps + case.claim_idle(idle)
    if not claimed.any():
        return NOTHING
    a_step = case.a_step(claimed)
    ranks = case.ranks_of(claimed)
    text = says.format(time=f"{span(a_step)} a step", ranks=_on(case, ranks))
    measured = {"lost": Measured(a_step, "ns"), "exposed": Measured(case.a_step(gaps), "ns")}
    rank = ranks[0] if len(ranks) == 1 else None
    return Outcome((Draft(text, claimed, rows, measured=measured, rank=rank),))


def _on(case: Case, ranks: list[int]) -> str:
    if len(case.ranks) == 1 or len(ranks) == len(case.ranks):
        return ""
    shown = ", ".join(map(str, ranks[:4])) + (" and others" if len(ranks) > 4 else "")
    return f" on rank{'s' if len(ranks) > 1 else ''} {shown}"


def look_device_sync(case: Case, _limits: Mapping[str, float]) -> Outcome:
    """H7: a synchronise of the whole device where one event would do."""
    if not _has_launches(case):
        return Outcome(unable=_NO_LAUNCHES)
    rows = _blocked_in(case, _DEVICE_WIDE)
    idle = _idle_while(case, SYNC) if rows.any() else np.zeros(len(case.counts), np.int64)
    says = (
        "{time}{ranks} go by while the host waits in a synchronise of the whole device for "
        "communication to end, and launches nothing"
    )
    return _outcome(case, rows, idle, says)


def look_allocation(case: Case, _limits: Mapping[str, float]) -> Outcome:
    """H9: memory allocated or freed inside steps."""
    if not _has_launches(case):
        return Outcome(unable=_NO_LAUNCHES)
    rows = _blocked_in(case, _ALLOCATES) | _late_by(case, ALLOCATION)
    says = "{time}{ranks} go by while the host allocates or frees memory of the device inside steps"
    return _outcome(case, rows, _after(case, ALLOCATION), says)


def _after(case: Case, action: str) -> Int64:
    """Idle time of each window that begins while the host does this, up to its end.

    A call that waits for the device to be idle returns after that: until the next launch arrives,
    nothing runs.
    """
    timeline, doing = case.analysis.timeline, case.analysis.host.doing[action]
    every = Intervals(timeline.first_ns + timeline.shift_ns, timeline.last_ns + timeline.shift_ns)
    idle = difference(every, timeline.busy)
    touched = measure(doing, idle.starts, idle.ends) > 0
    windows = case.analysis.windows.axis(timeline)
    return measure(Intervals(idle.starts[touched], idle.ends[touched]), *windows)


def look_pageable(case: Case, _limits: Mapping[str, float]) -> Outcome:
    """H8: copies that block their host, as those from pageable memory do."""
    if not _has_launches(case):
        return Outcome(unable=_NO_LAUNCHES)
    rows = _blocked_in(case, _COPIES) | _late_by(case, COPY)
    copies = _exposed_copies(case)
    gaps = case.claim(rows)
    idle = case.claim_idle(_after(case, COPY))
    claimed = np.where(case.counts, copies, 0) + gaps + idle
    if not claimed.any():
        return NOTHING
    a_step = case.a_step(claimed)
    says = (
        f"{span(a_step)} a step go by in copies that block the host until they end, as those from "
        f"pageable memory do{_on(case, case.ranks_of(claimed))}"
    )
    measured = {"lost": Measured(a_step, "ns"), "copies": Measured(case.a_step(copies), "ns")}
    return Outcome((Draft(says, claimed, rows, measured=measured),))


def _exposed_copies(case: Case) -> Int64:
    """How long in each window nothing runs but copies whose call returns only as they end."""
    timeline, host = case.analysis.timeline, case.analysis.host
    found = timeline.activities
    shift = timeline.shift_ns[found.rank]
    start, end = found.start_ns + shift, found.end_ns + shift
    blocks = found.of(ActivityClass.COPY) & (host.returned >= end - _RETURNS_NS)
    blocks &= (host.launch != NONE) & (host.returned != NONE)
    exposed = difference(union(start[blocks], end[blocks]), timeline.kernels)
    return measure(exposed, *case.analysis.windows.axis(timeline))


def look_input(case: Case, limits: Mapping[str, float]) -> Outcome:
    """H1: waiting for input."""
    if not _has_launches(case):
        return Outcome(unable=_NO_LAUNCHES)
    rows, idle = _late_by(case, INPUT), _idle_while(case, INPUT)
    lost = case.time_of(rows) + idle
    if case.a_step(lost) <= limits["min_share"] * case.step_ns:
        return NOTHING
    says = "{time}{ranks} go by while the host loads input and the GPU has nothing to do"
    return _outcome(case, rows, idle, says)


def look_host_sync(case: Case, _limits: Mapping[str, float]) -> Outcome:
    """H6: the host waits for communication, and launches nothing meanwhile."""
    if not _has_launches(case):
        return Outcome(unable=_NO_LAUNCHES)
    rows = case.due_to("host_sync")
    names = case.analysis.causes.call_name[rows]
    if not len(names):
        return NOTHING
    call = case.analysis.host.names[int(np.bincount(names[names >= 0]).argmax())]
    says = (
        "{time}{ranks} go by while the host waits for communication "
        f"({call}) instead of launching what comes next"
    )
    return _outcome(case, rows, np.zeros(len(case.counts), np.int64), says)


def look_launch_bound(case: Case, limits: Mapping[str, float]) -> Outcome:
    """H3: the device waits for the host most of the time."""
    if not _has_launches(case):
        return Outcome(unable=_NO_LAUNCHES)
    idle = case.length - measure(
        case.analysis.timeline.busy, *case.analysis.windows.axis(case.analysis.timeline)
    )
    idle = np.where(case.counts, idle, 0)
    bound = _launch_bound(case) > limits["min_launch_bound"]
    chosen = bound[case.analysis.windows.rank] & case.counts
    if idle[chosen].sum() <= limits["min_idle"] * max(int(case.length[chosen].sum()), 1):
        return NOTHING
    rows = case.due_to("host_late", "kernel_gap") & bound[case.gaps.rank]
    rows &= ~_late_by(case, SYNC)
    share = _launch_bound(case)[bound].min()
    says = (
        f"{{time}}{{ranks}} the GPU is idle since its stream is empty when the host launches: "
        f"{percent(float(share))} of the kernels or more find it so"
    )
    return _outcome(case, rows, np.where(chosen, idle, 0), says)


def _launch_bound(case: Case) -> np.ndarray:
    """The launch-bound share of each rank; 0 where it is not known."""
    table = case.analysis.launch
    share = table.column("launch_bound_share").to_numpy(zero_copy_only=False)
    of_rank = np.zeros(len(case.ranks))
    known = np.nan_to_num(np.asarray(share, np.float64))
    of_rank[case.analysis.timeline.index_of(int64(table, "rank"))] = known
    return of_rank


def look_host_late(case: Case, _limits: Mapping[str, float]) -> Outcome:
    """H10: the next kernel is launched only after communication has become exposed."""
    if not _has_launches(case):
        return Outcome(unable=_NO_LAUNCHES)
    says = (
        "{time}{ranks} are exposed since the host launches the next kernel only after that; the "
        "trace shows no call that holds it up"
    )
    return _outcome(case, case.due_to("host_late"), np.zeros(len(case.counts), np.int64), says)


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
    ),
)  # fmt: skip
