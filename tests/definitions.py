"""How others define the figures that are verified in the real cases.

Each definition gives the figures of one recording, calculated on top of the independent reference
and never on top of commscope. Where a verified figure differs from ours, the definition it was made
by must give exactly it: then the difference is one of definition and of nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace

import reference
from reference import COMMUNICATION, COMPUTE, COPY, Activity, Partition, Recording

Figures = dict[str, int]


def _figures(partition: Partition) -> Figures:
    return asdict(partition) | {
        "busy_ns": partition.window_ns - partition.idle_ns,
        "kernel_union_ns": partition.compute_ns + partition.exposed_comm_ns,
    }


def _swept(
    activities: Iterable[Activity], class_of: Callable[[Activity], str] = reference.classify
) -> Figures:
    chosen = list(activities)
    return _figures(reference.sweep(chosen, reference.window_of(chosen), class_of))


def _is_kernel(activity: Activity) -> bool:
    return activity.kind == "kernel"


def commscope(recording: Recording) -> Figures:
    """Ours."""
    copies = [one for one in recording.activities if reference.classify(one) == COPY]
    alone = reference.sweep(copies, reference.window_of(recording.activities))
    return _swept(recording.activities) | {"copy_ns": alone.exposed_copy_ns}


def every_kernel_computes(recording: Recording) -> Figures:
    """The copy kernels of ROCm are compute, since they are kernels."""
    return _swept(recording.activities, _by_category)


def _by_category(activity: Activity) -> str:
    if not _is_kernel(activity):
        return COPY
    return COMMUNICATION if reference.COLLECTIVE_NAME.search(activity.name) else COMPUTE


def kernels_only(recording: Recording) -> Figures:
    """There are no copies: the window runs from the first kernel to the last."""
    return _swept(filter(_is_kernel, recording.activities))


def copies_hide_too(recording: Recording) -> Figures:
    """Communication is hidden by copies as well as by compute."""
    return _swept(recording.activities, _busy_or_communication)


def _busy_or_communication(activity: Activity) -> str:
    return COMMUNICATION if reference.classify(activity) == COMMUNICATION else COMPUTE


def sum_of_durations(recording: Recording) -> Figures:
    """Kernels that run at the same time count several times."""
    kernels = filter(_is_kernel, recording.activities)
    return {"kernel_sum_ns": sum(one.end_ns - one.start_ns for one in kernels)}


def tracelens(recording: Recording) -> Figures:
    """TraceLens over every GPU event: memset is compute, and so are the copy kernels of ROCm."""
    return _swept(recording.activities, _memset_computes)


def _memset_computes(activity: Activity) -> str:
    return COMPUTE if activity.kind == "memset" else _by_category(activity)


def tracelens_linked(recording: Recording) -> Figures:
    """TraceLens' report: of these, what an arrow from the host leads to."""
    return _swept((one for one in recording.activities if one.flow), _memset_computes)


def hta(recording: Recording) -> Figures:
    """HolisticTraceAnalysis without rounding.

    Annotations and operators that carry a stream are compute, and synchronisations are not idle.
    The last of several steps is dropped, and so is all that has no launch.
    """
    return _swept(_seen_by_hta(recording), _hta_class)


def _seen_by_hta(recording: Recording) -> list[Activity]:
    seen = [*recording.activities, *recording.others]
    if len(recording.annotations) < 2:
        return seen
    last = recording.annotations[-1]
    # Work on stream 0, where ROCm computes, gets no step and so cannot be dropped with one.
    on_stream_0 = any(one.stream == "0" for one in recording.activities)
    until = last.end_ns if on_stream_0 else last.start_ns
    return [one for one in seen if one.launch_ns is not None and one.launch_ns < until]


def _hta_class(activity: Activity) -> str:
    if activity.kind in ("memcpy", "memset", "cuda_sync"):
        return COPY
    return COMMUNICATION if reference.COLLECTIVE_NAME.search(activity.name) else COMPUTE


def hta_whole_us(recording: Recording) -> Figures:
    """HolisticTraceAnalysis as shipped: the same after rounding starts up and ends down to 1 us."""
    rounded = [_to_whole_us(one) for one in _seen_by_hta(recording)]
    found = _swept(rounded, _hta_class)
    compute = [one for one in rounded if _hta_class(one) == COMPUTE]
    return found | {"compute_ns": _hta_union(compute)}


def _to_whole_us(activity: Activity) -> Activity:
    start, end = -(-activity.start_ns // 1000) * 1000, activity.end_ns // 1000 * 1000
    return replace(activity, start_ns=start, end_ns=end)


def _hta_union(activities: Iterable[Activity]) -> int:
    """A union to which a kernel of less than 1 us that was rounded inside out adds -1 us."""
    total, group = 0, (0, 0)
    for one in sorted(activities, key=lambda one: (one.start_ns, one.end_ns)):
        if one.start_ns > group[1]:
            total += group[1] - group[0]
            group = (one.start_ns, one.end_ns)
        else:
            group = (group[0], max(group[1], one.end_ns))
    return total + group[1] - group[0]


DEFINITIONS: dict[str, Callable[[Recording], Figures]] = {
    one.__name__: one
    for one in (
        commscope,
        every_kernel_computes,
        kernels_only,
        copies_hide_too,
        sum_of_durations,
        tracelens,
        tracelens_linked,
        hta,
        hta_whole_us,
    )
}
