"""Compute that runs slower while a collective runs on the same device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from commscope.generator.schedule import Communication, Compute
from commscope.generator.simulation import RankRun

#: How long kernels take, by rank and correlation, where it is not what the schedule says.
Durations = Mapping[tuple[int, int], int]
_Span = tuple[int, int]


def stretched(runs: Sequence[RankRun], contention: tuple[int, int]) -> Durations:
    """How long kernels of compute take beside the collectives as they ran in these runs."""
    found = {}
    for rank, run in enumerate(runs if contention != (1, 1) else ()):
        busy = _communication(run)
        for activity in run.activities:
            if isinstance(activity.operation, Compute):
                work = activity.operation.duration_ns
                duration = _duration_ns(activity.start_ns, work, busy, contention)
                if duration != work:
                    found[rank, activity.correlation] = duration
    return found


def _communication(run: RankRun) -> list[_Span]:
    """When a rank communicates: intervals that are apart, in order."""
    spans: list[_Span] = []
    for start, end in sorted(
        (a.start_ns, a.end_ns) for a in run.activities if isinstance(a.operation, Communication)
    ):
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return spans


def _duration_ns(
    start_ns: int, work_ns: int, busy: Iterable[_Span], contention: tuple[int, int]
) -> int:
    """From the start until the work is done, of which less gets done while it is busy."""
    slow, fast = contention
    now, left = start_ns, work_ns
    for begin, end in busy:
        if end <= now:
            continue
        if begin >= now + left:
            break
        left -= max(begin - now, 0)
        now = max(begin, now)
        needed = -(-left * slow // fast)
        if now + needed <= end:
            return now + needed - start_ns
        left -= (end - now) * fast // slow
        now = end
    return now + left - start_ns
