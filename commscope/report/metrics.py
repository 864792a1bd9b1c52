"""The numbers of a report: what each means, how it is made, and what it leaves out.

The definitions are those that the whole program keeps; ``docs/metrics.md`` shows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from commscope.report.model import Report

Unit = Literal["ns", "ratio", "gbps", "count"]


@dataclass(frozen=True, slots=True)
class Value:
    """A number of this run; null where it is not known or withheld."""

    where: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Metric:
    """A number by its name in JSON, the rules of trust it rests on, and where a report has it."""

    name: str
    unit: Unit
    definition: str
    formula: str
    inputs: str
    leaves_out: tuple[str, ...]
    rests_on: tuple[str, ...]  #: rules of trust
    values: Callable[[Report], Iterable[Value]]
    of_closed_steps: bool = False  #: steps without an end do not count


def metric_named(name: str) -> Metric | None:
    """The metric of a name, which may lack its unit and have the sections of JSON before it."""
    wanted = re.sub(r"^(summary|ranks|steps|launch|collectives)(\[\])?\.", "", name.casefold())
    wanted = re.sub(r"^partition\.|(?<=^step_ns)\.(p50|p95|max)$", "", wanted)
    wanted = re.sub(r"^upper_bound\.exposed_hidden_ns$", "upper_bound_ns", wanted)
    for metric in METRICS:
        if wanted in (metric.name, re.sub("_(ns|gbps)$", "", metric.name)):
            return metric
    return None


def _of_ranks(column: str) -> Callable[[Report], Iterator[Value]]:
    def values(report: Report) -> Iterator[Value]:
        for row in report.ranks:
            yield Value(f"rank {row['rank']}, whole trace", row[column])

    return values


def _of_launch(column: str) -> Callable[[Report], Iterator[Value]]:
    def values(report: Report) -> Iterator[Value]:
        for row in report.launch:
            yield Value(f"rank {row['rank']}", row[column])

    return values


def _of_collectives(column: str) -> Callable[[Report], Iterator[Value]]:
    def values(report: Report) -> Iterator[Value]:
        for row in report.collectives:
            yield Value(_class_of(row), row[column])

    return values


def _class_of(row: dict[str, Any]) -> str:
    size = "unknown size" if row["bytes"] is None else f"{row['bytes']:,} bytes"
    return f"{row['op'] or 'collective'} of {size} in {row['communicator']}"


def _share(name: str) -> Callable[[Report], Iterator[Value]]:
    def values(report: Report) -> Iterator[Value]:
        shares = report.summary.shares
        yield Value("all ranks, steps", None if shares is None else getattr(shares, name))

    return values


def _step_times(report: Report) -> Iterator[Value]:
    times = report.summary.step_times
    for name in ("p50", "p95", "max"):
        yield Value(name, None if times is None else getattr(times, f"{name}_ns"))


def _bound(report: Report) -> Iterator[Value]:
    bound = report.summary.upper_bound
    yield Value("the median step", None if bound is None else bound.exposed_hidden_ns)


def _skew(report: Report) -> Iterator[Value]:
    skews = [row["skew_ns"] for row in report.instances]
    yield Value("median of all instances", median(skews) if skews else None)
    yield Value("longest", max(skews, default=None))


def _lateness(report: Report) -> Iterator[Value]:
    for row in report.stragglers:
        yield Value(f"rank {row['rank']} in {row['communicator']}", row["mean_lateness_ns"])


_ACTIVITIES = "begin and end of every kernel, copy and memset of the GPU"
_BROKEN = "activities without length or with impossible times (Q4)"
_OPEN = "open steps, whose end nothing shows"
_OVERLAP = ("Q1", "Q4", "Q7", "Q11")
_MATCHED = (*_OVERLAP, "Q12")

#: All that ``commscope explain`` knows.
METRICS: tuple[Metric, ...] = (
    Metric(
        "compute_ns", "ns",
        "Time in which at least one compute kernel of the rank ran.",
        "length of the union of the compute kernels, clipped to the window",
        _ACTIVITIES, (_BROKEN,), ("Q4", "Q7", "Q11"), _of_ranks("compute_ns"),
    ),
    Metric(
        "communication_ns", "ns",
        "Time in which at least one communication kernel ran; two at once count once.",
        "length of the union of the communication kernels, clipped to the window",
        _ACTIVITIES, (_BROKEN, "communication by copies, which no kernel shows"),
        ("Q4", "Q7", "Q11"), _of_ranks("communication_ns"),
    ),
    Metric(
        "exposed_comm_ns", "ns",
        "Time in which communication ran and compute did not.",
        "length of (union of communication minus union of compute)",
        _ACTIVITIES,
        (_BROKEN, "copies hide nothing", "a second collective hides nothing"),
        _OVERLAP, _of_ranks("exposed_comm_ns"),
    ),
    Metric(
        "hidden_comm_ns", "ns",
        "Time in which communication and compute ran.",
        "communication_ns - exposed_comm_ns",
        _ACTIVITIES, (_BROKEN,), _OVERLAP, _of_ranks("hidden_comm_ns"),
    ),
    Metric(
        "exposed_wait_ns", "ns",
        "Part of the exposed communication in which every collective that ran waited for a rank "
        "that had not arrived.",
        "length of (exposed communication within the waiting instants of all running collectives)",
        "matched collectives of all ranks, on one clock",
        ("collectives that could not be matched: they are in exposed_unmatched_ns",),
        _MATCHED, _of_ranks("exposed_wait_ns"),
    ),
    Metric(
        "exposed_transfer_ns", "ns",
        "Part of the exposed communication in which a matched collective had all its members.",
        "exposed_comm_ns - exposed_wait_ns - exposed_unmatched_ns",
        "matched collectives of all ranks, on one clock",
        ("collectives that could not be matched: they are in exposed_unmatched_ns",),
        _MATCHED, _of_ranks("exposed_transfer_ns"),
    ),
    Metric(
        "exposed_unmatched_ns", "ns",
        "Part of the exposed communication of collectives that could not be matched across ranks.",
        "length of the exposed communication in which no matched collective ran",
        "all collectives, and which of them were matched", (), _MATCHED,
        _of_ranks("exposed_unmatched_ns"),
    ),
    Metric(
        "exposed_copy_ns", "ns",
        "Time in which a copy or memset ran and no kernel did.",
        "length of (union of copies minus union of kernels)",
        _ACTIVITIES, (_BROKEN,), ("Q1", "Q4", "Q7"), _of_ranks("exposed_copy_ns"),
    ),
    Metric(
        "idle_ns", "ns",
        "Time in which nothing ran on the GPU.",
        "window_ns - length of the union of all activities",
        _ACTIVITIES, (_BROKEN,), ("Q1", "Q4", "Q7"), _of_ranks("idle_ns"),
    ),
    Metric(
        "overlap_ratio", "ratio",
        "Hidden part of the communication.",
        "hidden_comm_ns / communication_ns; null where there was no communication",
        _ACTIVITIES, (_BROKEN,), _OVERLAP, _of_ranks("overlap_ratio"),
    ),
    Metric(
        "shares.compute", "ratio",
        "Share of the time in steps in which compute ran, of all ranks together.",
        "sum of compute_ns / sum of window_ns, over the closed steps of all ranks",
        "the partition of every closed step",
        (_OPEN, "time outside the steps"), _OVERLAP,
        _share("compute"), of_closed_steps=True,
    ),
    Metric(
        "shares.exposed_comm", "ratio",
        "Share of the time in steps in which communication was exposed, of all ranks together.",
        "sum of exposed_comm_ns / sum of window_ns, over the closed steps of all ranks",
        "the partition of every closed step",
        (_OPEN, "time outside the steps"), _OVERLAP,
        _share("exposed_comm"), of_closed_steps=True,
    ),
    Metric(
        "shares.idle", "ratio",
        "Share of the time in steps in which the GPU was idle, of all ranks together.",
        "sum of idle_ns / sum of window_ns, over the closed steps of all ranks",
        "the partition of every closed step",
        (_OPEN, "time outside the steps"), _OVERLAP,
        _share("idle"), of_closed_steps=True,
    ),
    Metric(
        "step_ns", "ns",
        "Length of a step's device window: from the first activity launched in it to the first "
        "one launched in the next.",
        "percentiles over the closed steps of all ranks",
        "launches, and where the steps begin on the host",
        (_OPEN,), ("Q1", "Q3"), _step_times,
        of_closed_steps=True,
    ),
    Metric(
        "upper_bound_ns", "ns",
        "By how much the median step would shorten if all exposed communication were hidden and "
        "nothing else moved.",
        "median over closed steps of exposed_comm_ns on the slowest rank of the step: the one with "
        "most time besides exposed communication",
        "the partition of every closed step",
        (_OPEN, "what else would get faster or slower"), _OVERLAP, _bound, of_closed_steps=True,
    ),
    Metric(
        "busbw_gbps", "gbps",
        "Rate at which a collective moved data, made comparable with the speed of the links.",
        "algbw_gbps times the operation's factor: all_reduce 2(n-1)/n; all_gather, reduce_scatter, "
        "gather, scatter and all_to_all (n-1)/n; others 1",
        "size of every collective, and the shortest transfer of its members",
        ("waiting for late ranks", "collectives without size, or that were not matched"),
        ("Q5", "Q12"), _of_collectives("busbw_gbps"),
    ),
    Metric(
        "algbw_gbps", "gbps",
        "Size of a collective by the time that its transfer took.",
        "bytes / median over instances of transfer_ns",
        "size of every collective, and the shortest transfer of its members",
        ("waiting for late ranks", "collectives without size, or that were not matched"),
        ("Q5", "Q12"), _of_collectives("algbw_gbps"),
    ),
    Metric(
        "skew_ns", "ns",
        "Time between the first and the last arrival at a collective.",
        "last_arrival_ns - first arrival, on one clock",
        "begin of every matched communication kernel on all members",
        ("collectives that could not be matched",), ("Q2", "Q12"), _skew,
    ),
    Metric(
        "lateness_ns", "ns",
        "How much later than the others a rank arrives at the collectives at which it is the last.",
        "mean over instances at which it is the last of (arrival - mean arrival of the others)",
        "begin of every matched communication kernel on all members",
        ("collectives that could not be matched",), ("Q2", "Q12"), _lateness,
    ),
    Metric(
        "launch_bound_share", "ratio",
        "Share of the kernels whose stream was empty when they were launched.",
        "kernels launched after the last activity of their stream had ended / kernels with launch",
        "launch of every kernel, and what ran on its stream before",
        ("kernels without launch in the file", "kernels in graphs"), ("Q1", "Q8", "Q9"),
        _of_launch("launch_bound_share"),
    ),
    Metric(
        "queue_delay_p50_ns", "ns",
        "Time that a kernel waits between its launch and its begin.",
        "median over kernels of start_ns - launch_ns",
        "launch and begin of every kernel",
        ("kernels without launch in the file",), ("Q1", "Q9"), _of_launch("queue_delay_p50_ns"),
    ),
    Metric(
        "host_pause_ns", "ns",
        "Idle time of the GPU at whose begin nothing had been launched yet.",
        "length of the idle time before activities that were launched after it began",
        "launch and begin of every activity",
        ("kernels without launch in the file",), ("Q1", "Q9"), _of_launch("host_pause_ns"),
    ),
)  # fmt: skip
