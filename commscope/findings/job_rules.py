"""Rules that need a trace and the logs of its job: slow routes, lost operations, placement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from commscope.analysis.gaps import TRANSFER
from commscope.analysis.timeline import on_axis
from commscope.columns import Bool, Int64, at, int64
from commscope.findings.case import Case
from commscope.findings.log_sources import NCCL_ENV, USAGE_TIPS
from commscope.findings.model import Advice, Evidence, Finding, Measured, Quote
from commscope.findings.rule import NOTHING, Draft, Limit, Outcome, Rule
from commscope.joined.result import Joined, Stretch
from commscope.joined.transports import Route
from commscope.topology import Order, order_inside
from commscope.units import percent, size, size_range
from commscope.wording import counted

_MOST_SHOWN = 3
_MOST_RANKS = 64
#: Rules on logs that say why data takes a slower way.
_ON_TRANSPORT = ("C5a", "C5b", "C5c")


def logs(case: Case) -> str | None:
    """Logs of the same run."""
    if case.joined is None:
        return "no log of RCCL or NCCL was given (--log)"
    if not case.joined.is_joined:
        return next(iter(case.joined.processes.notes), "no communicator is in the logs")
    return None


def _joined(case: Case) -> Joined:
    if case.joined is None:
        raise TypeError("a rule that needs logs was asked without")
    return case.joined


def _is_detour(route: Route) -> bool:
    """Whether data goes through host memory or sockets: slower than between the GPUs."""
    sockets = any(transport.startswith("NET/Socket") for transport in route.transports)
    staged = any(transport.startswith("SHM") for transport in route.transports)
    return staged or sockets or route.gpu_direct is False


def look_detour(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """C5: transfers over host memory or sockets, below what the links between the GPUs give."""
    joined = _joined(case)
    detours = [number for number, route in enumerate(joined.routes) if _is_detour(route)]
    if not detours:
        return NOTHING
    calls = np.flatnonzero(np.isin(joined.route, detours))
    rows = case.analysis.costs.by_size(calls)
    known = [row for row in rows if row["share_of_expected"] and row["transfer_p50_ns"]]
    if not known:
        return Outcome(unable="it is not known what the links between these GPUs give")
    slow = [row for row in known if row["share_of_expected"] < min(limits["min_expected"], 1)]
    if not slow:
        return NOTHING
    over = np.isin(at(joined.route, case.gaps.call, 0), detours) & (case.gaps.call >= 0)
    saved, gaps = _claimed(case, over, slow)
    largest = max(slow, key=lambda row: int(row["max_bytes"]))
    routes = [joined.routes[number] for number in detours]
    measured = {
        "busbw": Measured(largest["busbw_gbps"], "gbps"),
        "expected": Measured(largest["expected_busbw_gbps"], "gbps"),
    }
    quotes = tuple(Quote(r.file, r.line) for r in routes[:1] if r.file is not None and r.line)
    sizes = size_range(largest["min_bytes"], largest["max_bytes"])
    says = (
        f"{_why(case, routes)}: {largest['op']} of {sizes} reaches "
        f"{largest['busbw_gbps']:.3g} GB/s, {percent(largest['share_of_expected'])} of the "
        f"{largest['expected_busbw_gbps']:.3g} GB/s that the links between these GPUs give; at "
        f"that rate {case.spoken(case.a_step(saved))} less would be exposed"
    )
    told = _told(case)
    quotes = (*(told.quotes if told else ()), *quotes)
    draft = Draft(
        says, saved, gaps, measured=measured, quotes=tuple(dict.fromkeys(quotes)),
        advice=told.advice if told else (),
    )  # fmt: skip
    return Outcome((draft,))


def _claimed(case: Case, over: Bool, slow: Sequence[Mapping[str, Any]]) -> tuple[Int64, Bool]:
    """Claims transfers over these gaps as far as they take longer than at the expected rate."""
    saved, claimed = np.zeros(len(case.counts), np.int64), np.zeros(len(over), np.bool_)
    sized = case.calls("bytes")
    for row in slow:
        fits = (sized >= row["min_bytes"]) & (sized <= row["max_bytes"])
        gaps = over & fits & case.usable & (case.gaps.part == TRANSFER) & case.op_is(row["op"])
        saved += case.claim(gaps, but=row["share_of_expected"])
        claimed |= gaps
    return saved, claimed


def _told(case: Case) -> Finding | None:
    """What the logs say on the transport, if they do: the worst of it."""
    return next((found for found in case.log_findings if found.rule in _ON_TRANSPORT), None)


def not_repeated(told: Sequence[Finding], found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings of logs but those that one of the trace says again, with what it costs."""
    said = {quote for finding in found for quote in finding.quotes}
    return tuple(
        one for one in told if one.rule not in _ON_TRANSPORT or not said.issuperset(one.quotes)
    )


def _why(case: Case, routes: Sequence[Route]) -> str:
    """Why data goes this way, as the logs tell it; else over what it goes."""
    told = _told(case)
    if told is not None:
        return told.says.rstrip(".")
    return "communication goes over " + ", ".join(dict.fromkeys(map(str, routes)))


def look_lacking(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """C10: calls that the log holds between those that the trace shows."""
    joined = _joined(case)
    compared = [one for one in joined.stretches if one.logged and one.shifts]
    unlogged = _unlogged(case)
    if not compared and not unlogged:
        return Outcome(unable="no stretch of the log's calls fits the collectives of the trace")
    nothing = np.zeros(len(case.counts), np.int64)
    drafts = [
        Draft(
            _lacking(joined, worst, others), nothing, evidence=_followed(case, worst),
            rank=worst.rank, at_most="low", bound_ns=0, quotes=_lines(joined, worst),
            confidence="high" if worst.shifts == 1 else "medium",
        )
        for worst, others in _worst(compared, limits["min_calls"])
    ]  # fmt: skip
    return Outcome((*drafts, *unlogged))


def _unlogged(case: Case) -> list[Draft]:
    """Collectives whose operation and size the log does not hold, though it holds others' calls."""
    joined, nothing = _joined(case), np.zeros(len(case.counts), np.int64)
    labels = case.analysis.across.labels
    return [
        Draft(
            f"the trace shows {counted(one.shown, 'collective')} in {labels[one.communicator]} "
            f"({one.op} of {size(one.bytes or 0)}) that the log does not hold: it is cut, or they "
            "ran in a captured graph, whose replays print nothing",
            nothing, evidence=_first_of(case, number), at_most="low", bound_ns=0,
        )
        for number, one in enumerate(joined.classes.found)
        if one.op is not None and one.bytes is not None and not one.logged and not one.note
    ]  # fmt: skip


def _first_of(case: Case, number: int) -> tuple[Evidence, ...]:
    """Where collectives of a class are first seen."""
    _, start, end = on_axis(case.analysis.timeline, case.analysis.across.calls)
    rows = np.flatnonzero(_joined(case).classes.of_row == number)[:_MOST_SHOWN].tolist()
    return tuple(case.moment(int(start[row]), int(end[row])) for row in rows)


def _worst(compared: Sequence[Stretch], least: float) -> Iterator[tuple[Stretch, int]]:
    """Of each communicator the rank whose trace lacks most, and how many others lack calls too."""
    found: dict[int, list[Stretch]] = {}
    for one in compared:
        if len(one.lacking) >= least:
            found.setdefault(one.communicator, []).append(one)
    for stretches in found.values():
        yield max(stretches, key=lambda one: len(one.lacking)), len(stretches) - 1


def _lacking(joined: Joined, one: Stretch, others: int) -> str:
    calls = joined.logs.tables["CALLS"].take(one.lacking[:_MOST_SHOWN]).to_pylist()
    named = ", ".join(f"{row['op']} of {size(row['bytes'])}" for row in calls)
    more = len(one.lacking) - len(calls)
    named += f" and {more} more" if more > 0 else ""
    same = f"; so do those of {counted(others, 'other rank')}" if others else ""
    return (
        f"the log of rank {one.rank} holds {counted(len(one.lacking), 'call')} between those that "
        f"its trace shows ({named}): kernels are missing in the trace{same}"
    )


def _followed(case: Case, one: Stretch) -> tuple[Evidence, ...]:
    """The collectives that the missing ones follow."""
    _, start, end = on_axis(case.analysis.timeline, case.analysis.across.calls)
    rows = one.before[:_MOST_SHOWN].tolist()
    return tuple(case.moment(int(start[row]), int(end[row])) for row in rows)


def _lines(joined: Joined, one: Stretch) -> tuple[Quote, ...]:
    rows = joined.logs.tables["CALLS"].take(one.lacking[:_MOST_SHOWN]).to_pylist()
    return tuple(Quote(row["file"], row["line"]) for row in rows)


@dataclass(frozen=True, slots=True)
class _Kind:
    """Communicators of one role and size, and the bytes that each member of one moves."""

    label: str
    groups: tuple[tuple[int, ...], ...]
    bytes_each: int


def look_placement(case: Case, limits: Mapping[str, float]) -> Outcome[Draft]:
    """P2: the heaviest groups leave hosts or links though another order of ranks keeps them in."""
    places = _joined(case).places.of_job()
    if places is None:
        return Outcome(unable="the logs do not tell the host of every rank")
    kinds = sorted(_kinds(case, len(places)), key=lambda kind: -kind.bytes_each)
    groups = [group for kind in kinds for group in kind.groups]
    weights = [kind.bytes_each * len(group) for kind in kinds for group in kind.groups]
    order = order_inside(groups, places, _joined(case).places.topology)
    if order is None:
        return NOTHING
    now, then = (
        sum(weights[number] for number in (*found.nodes, *found.links))
        for found in (order.before, order.after)
    )
    heaviest = kinds[0]
    outside = [n for n in (*order.before.nodes, *order.before.links) if n < len(heaviest.groups)]
    if not outside or then > now * (1 - limits["min_saving"]):
        return NOTHING
    leave = "cross hosts" if order.before.nodes else "leave the links between GPUs"
    says = (
        f"{len(outside)} of {counted(len(heaviest.groups), 'group')} of {heaviest.label}, which "
        f"move most ({size(heaviest.bytes_each)} a rank), {leave}; another order of ranks moves "
        f"{percent(1 - then / now)} less that way: {_spoken(order)}"
    )
    nothing, gaps = np.zeros(len(case.counts), np.int64), _transfers(case, heaviest)
    measured = {"outside": Measured(now, "bytes"), "saved": Measured(now - then, "bytes")}
    # Other rules may say why this time is not hidden: it is not claimed.
    bound = case.bound(case.left_of(gaps))
    return Outcome((Draft(says, nothing, gaps, measured=measured, bound_ns=bound),))


def _kinds(case: Case, ranks: int) -> Iterator[_Kind]:
    """Kinds of communicators that do not hold all ranks, where their members are known."""
    across = case.analysis.across
    sent = int64(across.calls, "bytes")
    communicator, rank = (int64(across.calls, name) for name in ("communicator", "rank"))
    by_kind: dict[tuple[str, int], list[int]] = {}
    for number, found in enumerate(across.matching.communicators.found):
        if 1 < len(found.members) < ranks and not found.by_stream:
            kind = across.roles[number] or across.labels[number], len(found.members)
            by_kind.setdefault(kind, []).append(number)
    for (label, _), numbers in by_kind.items():
        mine = np.isin(communicator, numbers) & (sent > 0)
        moved = int(sent[mine].sum()) // max(len(np.unique(rank[mine])), 1)
        groups = {across.matching.communicators.found[number].members for number in numbers}
        yield _Kind(label, tuple(sorted(groups)), moved)


def _spoken(order: Order) -> str:
    """Hosts with their ranks; of large jobs the first hosts."""
    hosts = sorted({place.host for place in order.places.values()})
    parts: list[str] = []
    shown = 0
    for host in hosts:
        ranks = order.ranks_of(host)
        if shown + len(ranks) > _MOST_RANKS and parts:
            return "; ".join(parts) + f"; and {len(hosts) - len(parts)} more hosts likewise"
        parts.append(f"{host}: {' '.join(map(str, ranks))}")
        shown += len(ranks)
    return "; ".join(parts)


def _transfers(case: Case, heaviest: _Kind) -> Bool:
    """Transfers of the communicators of this kind that nothing claims."""
    found = case.analysis.across.matching.communicators.found
    numbers = [number for number, one in enumerate(found) if one.members in heaviest.groups]
    is_left = (case.left_ns > 0) & (case.gaps.part == TRANSFER)
    return np.asarray(np.isin(case.communicator, numbers) & is_left)


RULES = (
    Rule(
        "C5", "collectives", "Transport",
        "Do transfers go through host memory or sockets, and what does that cost?",
        look_detour,
        (
            Advice(
                "Remove what keeps the GPUs from reaching each other: the setting or warning that "
                "is quoted.",
                "Host memory and sockets give a fraction of what the links between GPUs do.",
                NCCL_ENV,
            ),
        ),
        {"min_expected": Limit(0.6, "ratio", "share of the bandwidth to expect that is enough")},
        (logs,),
    ),
    Rule(
        "C10", "collectives", "Trace and log differ",
        "Does the log hold calls that the trace lacks between its own, or lack what it shows?",
        look_lacking,
        (
            Advice(
                "Record again with a shorter window; replays of a captured graph, and dropped "
                "buffers, leave holes.",
                "What a trace lacks counts as idle, and nothing in it says so.",
                "https://github.com/pytorch/kineto/issues",
            ),
        ),
        {"min_calls": Limit(1, "calls", "missing calls that are worth saying")},
        (logs,),
    ),
    Rule(
        "P2", "collectives", "Placement of ranks",
        "Do the groups that move most leave hosts or links though another order keeps them in?",
        look_placement,
        (
            Advice(
                "Start the ranks in the order given, or make this dimension the innermost one of "
                "the device mesh.",
                "Links inside a host give several times the bandwidth of the network.",
                USAGE_TIPS,
            ),
        ),
        {"min_saving": Limit(0.2, "ratio", "share of these bytes that another order must save")},
        (logs,),
    ),
)  # fmt: skip
