"""Who waited how long for whom, collective by collective; and where they lie in time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from commscope.generator.grading.apart import Apart, Key, instance_of
from commscope.generator.grading.clock_rows import device_offsets
from commscope.generator.grading.model import Blame, Numbers, Place, Row, held, not_told
from commscope.generator.grading.pairs import Pair, Pairs
from commscope.generator.grading.tolerances import (
    MOCK_SHARE,
    PER_COLLECTIVE_NS,
    TICK_NS,
    per_mock_ns,
)
from commscope.generator.grading.traces import Traces
from commscope.generator.truth_file import TruthFile


def length_rows(truth: TruthFile, pairs: Pairs) -> Iterator[Row]:
    """Whether collectives take as long as they took, or lie between the events around them."""
    place, every = Place(truth.header.rank), pairs.of("collective")
    own = [pair for pair in every if pair.operation.src == "device"]
    between = [pair for pair in every if pair.operation.src == "event"]
    if own:
        header = truth.header
        longer = 0 if header.is_simulated else per_mock_ns(is_crowded=header.is_crowded)
        yield _own_times(place, own, longer)
    offsets = device_offsets(pairs.of("compute"))
    if between and offsets is None:
        yield not_told("collective times", place, "no kernel ties the clocks to each other")
    elif between and offsets is not None:
        right = sum(_lies_between(p, offsets.at(p.operation.begin_ns)) for p in between)
        says = "collectives do not lie between the events that the job recorded around them"
        numbers = Numbers(len(between), right, unit="count")
        yield held("collective times", place, numbers, Blame("profiler", says))


def _own_times(place: Place, pairs: list[Pair], longer_ns: int) -> Row:
    """In all where they are exact; else the collective in the middle of all deviations."""
    lengths = sorted(
        (
            (p.operation.end_ns - p.operation.begin_ns, p.kernel.end_ns - p.kernel.start_ns)
            for p in pairs
        ),
        key=lambda both: both[1] - both[0],
    )
    true, found = lengths[len(lengths) // 2]
    if not longer_ns:
        true, found = (sum(each) for each in zip(*lengths))
    says = "collectives that took their own times take other ones in the trace"
    tolerance = max(MOCK_SHARE * true, TICK_NS, longer_ns) if longer_ns else 0
    numbers = Numbers(true, found, tolerance)
    return held("collective times", place, numbers, Blame("profiler", says))


def _lies_between(pair: Pair, ahead_ns: int) -> bool:
    begin, end = pair.operation.begin_ns + ahead_ns, pair.operation.end_ns + ahead_ns
    is_behind = pair.kernel.start_ns > begin - PER_COLLECTIVE_NS
    return is_behind and pair.kernel.end_ns < end + PER_COLLECTIVE_NS


def wait_rows(truth: TruthFile, pairs: Pairs, apart: Apart, clock_error_ns: int) -> Iterator[Row]:
    """Whether every collective of a rank waited as long as it did."""
    place = Place(truth.header.rank)
    known = [p for p in pairs.of("collective") if p.operation.wait_ns is not None]
    if not known:
        return
    told = [pair for pair in known if pair.kernel.wait_ns is not None]
    if not told:
        says = "collectives could not be matched across the ranks by what the trace tells of them"
        yield not_told("waits", place, says)
        return
    known_to_ns = 0 if truth.header.is_simulated else PER_COLLECTIVE_NS + clock_error_ns
    beyond = [_beyond(pair, apart, known_to_ns) for pair in told]
    right = sum(ns <= 0 for ns in beyond)
    says = f"{len(told) - right} collectives wait otherwise, by {max(beyond):,} ns more than may be"
    numbers = Numbers(len(told), right, unit="count")
    yield held("waits", place, numbers, Blame("commscope", says))


def _beyond(pair: Pair, apart: Apart, known_to_ns: int) -> int:
    """By how much a wait deviates more than it may; exact ones may not at all."""
    deviation = abs((pair.kernel.wait_ns or 0) - (pair.operation.wait_ns or 0))
    return deviation - (known_to_ns and known_to_ns + apart.instance_ns(pair.operation))


def straggler_rows(
    truths: Mapping[int, TruthFile], every: Mapping[int, Pairs], traces: Traces, apart: Apart
) -> Iterator[Row]:
    """Whether the rank that came last to each collective is named, where the clocks can tell."""
    is_exact = all(truth.header.is_simulated for truth in truths.values())
    known_to_ns = 0 if is_exact else PER_COLLECTIVE_NS + clock_error(traces)
    named = traces.analysis.across.instances.column("straggler").to_pylist()
    right = count = 0
    for key, members in _instances(truths, every).items():
        last, by_ns = _last(truths, members)
        tolerance = known_to_ns and known_to_ns + apart.of_instance.get(key, 0)
        instances = {pair.kernel.instance for pair in members.values()} - {None}
        if by_ns > tolerance and len(instances) == 1:
            count += 1
            right += named[instances.pop() or 0] == last
    if count:
        says = f"{count - right} collectives are said to have waited for another rank"
        numbers = Numbers(count, right, unit="count")
        yield held("stragglers", Place(), numbers, Blame("commscope", says))


def clock_error(traces: Traces) -> int:
    """The largest error of the ranks' clocks that the analysis states."""
    return max((clock.error_ns or 0 for clock in traces.report.clock.ranks), default=0)


def _instances(
    truths: Mapping[int, TruthFile], every: Mapping[int, Pairs]
) -> dict[Key, dict[int, Pair]]:
    """Pairs by rank of each collective whose waits are known."""
    found: defaultdict[Key, dict[int, Pair]] = defaultdict(dict)
    for rank in truths:
        for pair in every[rank].of("collective") if rank in every else ():
            row = pair.operation
            if row.wait_ns is not None and row.coll not in ("send", "recv"):
                found[instance_of(row)][rank] = pair
    return {key: members for key, members in found.items() if len(members) > 1}


def _last(truths: Mapping[int, TruthFile], members: Mapping[int, Pair]) -> tuple[int, int]:
    """The rank that came last, and how long after the last but one."""
    arrivals = {}
    for rank, pair in members.items():
        clock = truths[rank].header.clock
        arrivals[rank] = pair.operation.begin_ns + (clock.monotonic_ns if clock else 0)
    *_, before, last = sorted(arrivals.values())
    return min(rank for rank, at in arrivals.items() if at == last), last - before
