"""Rules on bandwidth: links slower than they should be, and sizes that fall behind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from commscope.analysis.gaps import TRANSFER
from commscope.analysis.timeline import on_axis
from commscope.columns import Bool, int64, where_equal
from commscope.findings.case import Case
from commscope.findings.model import Advice, Evidence, Measured
from commscope.findings.rule import Draft, Limit, Outcome, Rule
from commscope.units import percent, size, span

_UNKNOWN = "no bandwidth is known: sizes, partners or the links of this GPU are missing"
_ONE_SIZE = "no operation was matched at several sizes"
_SHOWN = 3
#: Collectives that a ring or tree carries, so that buffers and links decide their time.
_BULK = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast")


def _by_size(case: Case) -> list[dict[str, Any]]:
    """Bandwidth by operation, members and size; only of matched collectives."""
    rows = case.analysis.costs.by_size(np.arange(case.analysis.across.calls.num_rows))
    return [row for row in rows if row["transfer_p50_ns"] is not None]


def _expected(case: Case) -> list[dict[str, Any]]:
    """Rows of ``_by_size`` of which the bandwidth to expect is known."""
    return [row for row in _by_size(case) if row["share_of_expected"] is not None]


def _why_unknown(case: Case) -> str:
    """Why no bandwidth can be compared with the one to expect."""
    rows = _by_size(case)
    if rows and all(row["exceeds_links"] for row in rows):
        return "no bandwidth is known: all are more than the links carry"
    return _UNKNOWN


def _gaps_of(case: Case, row: Mapping[str, Any]) -> Bool:
    """Transfers of the collectives that a row of ``_by_size`` is of.

    But for those of which a part is claimed: that they are slow was said before.
    """
    sized = case.calls("bytes")
    rows = case.usable & (case.left_ns == case.gaps.length) & (case.gaps.part == TRANSFER)
    rows &= case.op_is(row["op"])
    members = case.calls("group_size")
    fits = (members == row["group_size"]) | (members < 0)
    return np.asarray(rows & fits & (sized >= row["min_bytes"]) & (sized <= row["max_bytes"]))


def look_slow_link(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """C4: large messages far below what the links should give."""
    rows = _expected(case)
    if not rows:
        return Outcome(unable=_why_unknown(case))
    drafts = []
    for row in rows:
        share = row["share_of_expected"]
        if row["min_bytes"] < limits["min_bytes"] or share >= min(limits["min_expected"], 1):
            continue
        gaps = _gaps_of(case, row)
        saved = case.claim(gaps, but=share)
        says = (
            f"{row['op']} of {size(row['max_bytes'])} over {row['group_size']} ranks reaches "
            f"{_rate(row['busbw_gbps'])}, {percent(share)} of the "
            f"{_rate(row['expected_busbw_gbps'])} to expect{_source(row)}; at that rate "
            f"{case.spoken(case.a_step(saved))} less would be exposed"
        )
        measured = {
            "busbw": Measured(row["busbw_gbps"], "gbps"),
            "expected": Measured(row["expected_busbw_gbps"], "gbps"),
        }
        drafts.append(Draft(says, saved, gaps, measured=measured))
    return Outcome(tuple(drafts))


def _source(row: Mapping[str, Any]) -> str:
    """Where the expectation is from, if it was measured on this machine."""
    told = row["expected_from"]
    return "" if told is None or told.startswith("model ") else f" ({told})"


def _rate(gbps: float) -> str:
    return f"{gbps:,.0f} GB/s" if gbps >= 100 else f"{gbps:.3g} GB/s"


def look_buffers(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """C8: shares of a message per rank that exceed the library's buffer, below expectation."""
    rows = _expected(case)
    if not rows:
        return Outcome(unable=_why_unknown(case))
    drafts = []
    for row in rows:
        share, each = row["share_of_expected"], row["min_bytes"] / row["group_size"]
        is_slow = share < min(limits["min_expected"], 1)
        if row["op"] not in _BULK or each <= limits["buffer_bytes"] or not is_slow:
            continue
        gaps = _gaps_of(case, row)
        says = (
            f"{row['op']} of {size(row['min_bytes'])} gives each of {row['group_size']} ranks "
            f"{size(each)}, more than a buffer of the library ({size(limits['buffer_bytes'])}), "
            f"and reaches {percent(share)} of the bandwidth to expect"
        )
        measured = {"share_of_expected": Measured(share, "ratio")}
        saved = case.claim(gaps, but=share)
        drafts.append(Draft(says, saved, gaps, measured=measured, at_most="medium"))
    return Outcome(tuple(drafts))


def _series(rows: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Rows of one operation and group, from small to large, where there are several sizes."""
    groups: defaultdict[tuple[str, int | None], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["op"], row["group_size"]].append(row)
    for series in groups.values():
        if len(series) > 1:
            yield sorted(series, key=lambda row: int(row["min_bytes"]))


def look_cliff(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """C2: a size whose bandwidth is far below that of a smaller one."""
    rows = [row for row in _by_size(case) if row["busbw_gbps"]]
    if not any(True for _ in _series(rows)):
        return Outcome(unable=_ONE_SIZE)
    drafts = []
    for series in _series(rows):
        for number, row in enumerate(series[1:], 1):
            best = max(series[:number], key=lambda other: float(other["busbw_gbps"]))
            share = row["busbw_gbps"] / best["busbw_gbps"]
            if share >= limits["min_share"]:
                continue
            gaps = _gaps_of(case, row)
            says = (
                f"{row['op']} of {size(row['min_bytes'])} reaches {_rate(row['busbw_gbps'])}, but "
                f"{_rate(best['busbw_gbps'])} at {size(best['min_bytes'])}: larger messages are "
                "slower"
            )
            measured = {"share": Measured(share, "ratio")}
            drafts.append(Draft(says, case.claim(gaps, but=share), gaps, measured=measured))
    return Outcome(tuple(drafts))


def look_floor(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """C3: collectives that take the same long time whatever their size."""
    rows = [row for row in _by_size(case) if row["min_bytes"]]
    if not any(True for _ in _series(rows)):
        return Outcome(unable=_ONE_SIZE)
    drafts = []
    for series in _series(rows):
        times = [row["transfer_p50_ns"] for row in series]
        grows = series[-1]["max_bytes"] / series[0]["min_bytes"]
        varies = max(times) / max(min(times), 1) - 1
        if grows < limits["min_growth"] or varies >= limits["max_change"]:
            continue
        if min(times) < limits["min_floor_ns"]:
            continue
        gaps = np.logical_or.reduce([_gaps_of(case, row) for row in series])
        says = (
            f"{series[0]['op']} takes about {span(min(times))} from {size(series[0]['min_bytes'])} "
            f"to {size(series[-1]['max_bytes'])}: a floor that does not depend on the size"
        )
        measured = {"floor": Measured(min(times), "ns")}
        drafts.append(Draft(says, case.claim(gaps), gaps, measured=measured))
    return Outcome(tuple(drafts))


def look_experts(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """C6: some ranks receive far more than others in all_to_all."""
    table = case.analysis.traffic
    if not table.num_rows:
        return Outcome(unable="no all_to_all with split sizes")
    received: defaultdict[tuple[int, int], int] = defaultdict(int)
    for row in table.to_pylist():
        received[row["communicator"], row["receiver"]] += row["bytes"]
    drafts = []
    for number in sorted({communicator for communicator, _ in received}):
        mine = {rank: total for (of, rank), total in received.items() if of == number}
        most = max(mine, key=lambda rank: mine[rank])
        skew = mine[most] * len(mine) / max(sum(mine.values()), 1)
        if skew < limits["min_skew"]:
            continue
        here = case.communicator == number
        gaps = (case.left_ns > 0) & here & case.op_is("all_to_all")
        saved = case.claim(gaps, but=1 / skew)
        says = (
            f"rank {most} receives {skew:.2f} times the mean of "
            f"{case.analysis.across.labels[number]}: the tokens, not the links, decide how long "
            "all_to_all takes"
        )
        measured = {"skew": Measured(skew, "ratio")}
        drafts.append(Draft(says, saved, gaps, measured=measured, rank=most, at_most="medium"))
    return Outcome(tuple(drafts))


def look_impossible(case: Case, _limits: Mapping[str, float]) -> Outcome[Draft]:
    """C7: bandwidth above what the links can carry."""
    rows = _by_size(case)
    wrong = [row for row in rows if row["exceeds_links"]]
    if not wrong and all(row["expected_busbw_gbps"] is None for row in rows):
        return Outcome(unable=_UNKNOWN)
    nothing = np.zeros(len(case.counts), np.int64)
    return Outcome(
        tuple(
            Draft(
                f"{row['op']} of {size(row['max_bytes'])} over {row['group_size']} ranks: "
                f"{row['bandwidth_note']}",
                nothing, evidence=_shortest(case, row), at_most="low", bound_ns=0,
            )
            for row in wrong
        )
    )  # fmt: skip


def _shortest(case: Case, row: Mapping[str, Any]) -> tuple[Evidence, ...]:
    """The shortest collectives that a row of ``_by_size`` is of."""
    calls = case.analysis.across.calls
    sized = int64(calls, "bytes")
    chosen = where_equal(calls, "op", row["op"])
    chosen &= (sized >= row["min_bytes"]) & (sized <= row["max_bytes"])
    _, start, end = on_axis(case.analysis.timeline, calls)
    places = np.flatnonzero(chosen)
    shortest = places[np.argsort((end - start)[places], kind="stable")][:_SHOWN].tolist()
    return tuple(case.moment(int(start[i]), int(end[i])) for i in shortest)


_NCCL_ENV = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
_BAND = (
    Advice(
        "Compare with rccl-tests at this size; look at transport and algorithm in the log "
        "(NCCL_DEBUG=INFO with INIT,GRAPH,TUNING).",
        "A jump at one size is a switch of algorithm or protocol, or a lost link.",
        "https://github.com/ROCm/rccl/issues/1490",
    ),
)
RULES = (
    Rule(
        "C4", "collectives", "Slow link",
        "Do large messages reach the bandwidth of the links?",
        look_slow_link,
        (
            Advice(
                "Look for shared memory or sockets in the log, NCCL_P2P_DISABLE, forced channels, "
                "and the topology of the group.",
                "The library's own model of healthy links gives more at this size.",
                "https://github.com/amd/HPCTrainingExamples",
            ),
        ),
        {
            "min_bytes": Limit(64e6, "bytes", "smaller messages are not judged"),
            "min_expected": Limit(0.6, "ratio", "of the bandwidth to expect"),
        },
    ),
    Rule(
        "C8", "collectives", "Buffers smaller than messages",
        "Are messages far larger than the library's buffers, and slower than expected?",
        look_buffers,
        (
            Advice(
                "Try NCCL_BUFFSIZE=8388608, and 16777216, and compare bandwidth and memory.",
                "A share larger than a buffer is cut into more steps, each with its latency.",
                _NCCL_ENV,
            ),
        ),
        {
            "buffer_bytes": Limit(4 * 2**20, "bytes", "NCCL_BUFFSIZE as the library sets it"),
            "min_expected": Limit(0.6, "ratio", "of the bandwidth to expect"),
        },
    ),
    Rule(
        "C2", "collectives", "Size cliff",
        "Is a larger message slower than a smaller one?",
        look_cliff, _BAND,
        {"min_share": Limit(0.5, "ratio", "of the bandwidth of a smaller size")},
    ),
    Rule(
        "C3", "collectives", "Floor that no size explains",
        "Do collectives take the same long time whatever their size?",
        look_floor,
        (
            Advice(
                "Try NCCL_P2P_DISABLE=1 once, and look at the transport in the log.",
                "A fixed time of milliseconds is a path that stalls, not a transfer.",
                "https://github.com/ROCm/ROCm/issues/6576",
            ),
        ),
        {
            "min_growth": Limit(16, "ratio", "from the smallest size to the largest"),
            "max_change": Limit(0.2, "ratio", "by which the time differs"),
            "min_floor_ns": Limit(1e6, "ns", "shorter times are no floor"),
        },
    ),
    Rule(
        "C6", "collectives", "Uneven all_to_all",
        "Do some ranks receive far more than others?",
        look_experts,
        (
            Advice(
                "Balance the experts (auxiliary loss, capacity factor, placement).",
                "The rank with most tokens ends last, and all wait for it.",
                "https://github.com/deepseek-ai/DeepEP/issues/59",
            ),
        ),
        {"min_skew": Limit(1.5, "ratio", "received by one rank, over the mean")},
    ),
    Rule(
        "C7", "collectives", "Impossible bandwidth",
        "Does a bandwidth exceed what the links can carry?",
        look_impossible,
        (
            Advice(
                "Check sizes and groups in the trace; the number is withheld.",
                "More than the links carry means a wrong size, group, or a clipped kernel.",
                "https://github.com/ROCm/rccl/issues/1562",
            ),
        ),
    ),
)  # fmt: skip
