"""Who waited how long for whom, collective by collective; and where they lie in time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from commscope.generator.grading.clock_rows import device_offsets
from commscope.generator.grading.model import Blame, Numbers, Place, Row, held, not_told
from commscope.generator.grading.pairs import Pair, Pairs
from commscope.generator.grading.tolerances import MOCK_SHARE, PER_COLLECTIVE_NS
from commscope.generator.grading.traces import Traces
from commscope.generator.truth_file import TruthFile


def length_rows(truth: TruthFile, pairs: Pairs) -> Iterator[Row]:
    """Whether collectives take as long as they took, or lie between the events around them."""
    place, every = Place(truth.header.rank), pairs.of("collective")
    own = [pair for pair in every if pair.operation.src == "device"]
    between = [pair for pair in every if pair.operation.src == "event"]
    if own:
        yield _own_times(place, own, truth.header.is_simulated)
    offsets = device_offsets(pairs.of("compute"))
    if between and offsets is None:
        yield not_told("collective times", place, "no kernel ties the clocks to each other")
    elif between and offsets is not None:
        ahead, slope = offsets.typical_ns, (offsets.drift_ppm or 0) / 1e6
        middle = offsets.at_ns[len(offsets.at_ns) // 2]
        right = sum(
            _lies_between(p, ahead + round(slope * (p.operation.begin_ns - middle)))
            for p in between
        )
        says = "collectives do not lie between the events that the job recorded around them"
        numbers = Numbers(len(between), right, unit="count")
        yield held("collective times", place, numbers, Blame("profiler", says))


def _own_times(place: Place, pairs: list[Pair], is_exact: bool) -> Row:
    true = sum(pair.operation.end_ns - pair.operation.begin_ns for pair in pairs)
    found = sum(pair.kernel.end_ns - pair.kernel.start_ns for pair in pairs)
    says = "collectives of known length have another one in the trace"
    numbers = Numbers(true, found, 0 if is_exact else MOCK_SHARE * true)
    return held("collective times", place, numbers, Blame("profiler", says))


def _lies_between(pair: Pair, ahead_ns: int) -> bool:
    begin, end = pair.operation.begin_ns + ahead_ns, pair.operation.end_ns + ahead_ns
    is_behind = pair.kernel.start_ns > begin - PER_COLLECTIVE_NS
    return is_behind and pair.kernel.end_ns < end + PER_COLLECTIVE_NS


def wait_rows(truth: TruthFile, pairs: Pairs, clock_error_ns: int) -> Iterator[Row]:
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
    tolerance = 0 if truth.header.is_simulated else PER_COLLECTIVE_NS + clock_error_ns
    apart = [abs((p.kernel.wait_ns or 0) - (p.operation.wait_ns or 0)) for p in told]
    right = sum(deviation <= tolerance for deviation in apart)
    says = f"{len(told) - right} collectives wait otherwise, by {max(apart):,} ns at most"
    numbers = Numbers(len(told), right, unit="count")
    yield held("waits", place, numbers, Blame("commscope", says))


def straggler_rows(
    truths: Mapping[int, TruthFile], every: Mapping[int, Pairs], traces: Traces
) -> Iterator[Row]:
    """Whether the rank that came last to each collective is named, where the clocks can tell."""
    error = clock_error(traces)
    is_exact = all(truth.header.is_simulated for truth in truths.values())
    tolerance = 0 if is_exact else PER_COLLECTIVE_NS + error
    named = traces.analysis.across.instances.column("straggler").to_pylist()
    right = count = 0
    for members in _instances(truths, every):
        last, skew = _last(truths, members)
        instances = {pair.kernel.instance for pair in members.values()} - {None}
        if skew > tolerance and len(instances) == 1:
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
) -> list[dict[int, Pair]]:
    """Pairs by rank of each collective whose waits are known."""
    found: defaultdict[tuple[str, int, str], dict[int, Pair]] = defaultdict(dict)
    for rank in truths:
        for pair in every[rank].of("collective") if rank in every else ():
            row = pair.operation
            if row.wait_ns is not None and row.coll not in ("send", "recv"):
                found[row.comm, row.seq, row.coll][rank] = pair
    return [members for members in found.values() if len(members) > 1]


def _last(truths: Mapping[int, TruthFile], members: Mapping[int, Pair]) -> tuple[int, int]:
    """The rank that came last, and how long after the first."""
    arrivals = {}
    for rank, pair in members.items():
        clock = truths[rank].header.clock
        arrivals[rank] = pair.operation.begin_ns + (clock.monotonic_ns if clock else 0)
    last = max(arrivals.values())
    return min(r for r, at in arrivals.items() if at == last), last - min(arrivals.values())
