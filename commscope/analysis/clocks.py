"""The clocks of the hosts, from collectives that end together on all members (DEFINITIONS 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from commscope.analysis.alignment import SAME_CLOCK_NS
from commscope.columns import Int64

#: A drift is taken for real if it leaves less than this share of the residuals' spread.
DRIFT_GAIN = 0.5
#: Fewer pairs say nothing on drift.
MIN_PAIRS_FOR_DRIFT = 8
#: Clocks of GPUs on one host, which are derived from one another, drift apart less than this.
LEAST_DRIFT = 1e-6
#: Ends this many times further off than the median do not count, if they are few: where records
#: are lost, operations stand beside their neighbours' partners until clocks are known.
OUTLIER = 10
MIN_AGREEMENT = 0.6
#: The spread of the residuals that is stated as error: this share of them is within it.
ERROR_PERCENTILE = 95
#: The least error between two hosts: kernels of one rank that always end some microseconds later
#: than those of another, as they do on real hardware, look like a clock that is ahead.
MIN_ERROR_NS = 10_000


#: With a greater error there is no common clock: the ends contradict each other.
MAX_ERROR_NS = 1_500_000


@dataclass(frozen=True, slots=True)
class Ends:
    """Ends of matched collectives on two ranks (indices), on their own clocks.

    ``firm``: of synchronising operations. Messages, whose two sides need not end together, are
    only asked of hosts that share nothing else.
    """

    one: int
    other: int
    one_ns: Int64
    other_ns: Int64
    firm: bool = True


@dataclass(frozen=True, slots=True)
class Correction:
    """What to take off a clock: ``offset_ns + drift * (t - origin_ns)``."""

    offset_ns: int = 0
    drift: float = 0.0
    origin_ns: int = 0

    def aligned(self, times: Int64) -> Int64:
        """Times of this clock on the common one."""
        drifted = np.rint((times - self.origin_ns) * self.drift).astype(np.int64)
        return np.asarray(times - self.offset_ns - drifted)


@dataclass(frozen=True, slots=True)
class Clocks:
    """For each rank (index) its host, the correction of its clock and the error of that.

    Hosts that no collective connects are in different parts, and have no common clock: only
    times of ranks in one ``part`` can be compared. The error is that against the first rank of
    the part; a part is called by the lowest of its ranks.
    """

    host: Int64
    part: Int64
    corrections: tuple[Correction, ...]
    error_ns: Int64

    def share(self, ranks: list[int]) -> bool:
        """Whether times of these ranks can be compared."""
        return bool((self.part[ranks] == self.part[ranks[0]]).all())

    def aligned(self, rank: Int64, times: Int64) -> Int64:
        """Times of ranks (indices) on the common clock."""
        result: Int64 = times.copy()
        for index, correction in enumerate(self.corrections):
            if correction.offset_ns or correction.drift:
                mine = rank == index
                result[mine] = correction.aligned(times[mine])
        return result


def find_clocks(ranks: int, ends: Sequence[Ends], hosts: Sequence[str | None]) -> Clocks:
    """Hosts, offsets and errors from matched ends; ``hosts`` are names where they are known."""
    host = _hosts(ranks, ends, hosts)
    links = [_Link.of(pair, host) for pair in ends if host[pair.one] != host[pair.other]]
    known: dict[int, _Known] = {}
    for first in np.unique(host).tolist():
        if first in known:
            continue
        known[first] = _Known(first, Correction(), 0)
        while (bridge := _next_bridge(links, known)) is not None:
            new = _corrected(bridge, known)
            if new.error_ns <= MAX_ERROR_NS:
                known[bridge[0].other] = new
            else:
                links = [link for link in links if not link.joins(bridge[0], known)]
    within = _within_hosts(ends, host)
    errors = [
        max(known[h].error_ns, within.get(h, 0), within.get(known[h].part, 0))
        for h in host.tolist()
    ]
    return Clocks(
        host,
        np.array([known[h].part for h in host.tolist()], np.int64),
        tuple(known[h].correction for h in host.tolist()),
        np.array(errors, np.int64),
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """The clock of a host against that of the host by which its part is called."""

    part: int
    correction: Correction
    error_ns: int


@dataclass(frozen=True, slots=True)
class _Link:
    """Ends on two hosts."""

    one: int
    other: int
    one_ns: Int64
    other_ns: Int64
    firm: bool

    @staticmethod
    def of(pair: Ends, host: Int64) -> _Link:
        one, other = int(host[pair.one]), int(host[pair.other])
        return _Link(one, other, pair.one_ns, pair.other_ns, pair.firm)

    def joins(self, bridge: _Link, known: Mapping[int, _Known]) -> bool:
        """Whether it is one of the links that lead, like the bridge, to its new host."""
        ends = {self.one, self.other}
        return self.firm == bridge.firm and bridge.other in ends and len(ends & known.keys()) == 1

    def turned(self) -> _Link:
        """The same link from its other side."""
        return _Link(self.other, self.one, self.other_ns, self.one_ns, self.firm)


def _next_bridge(links: Sequence[_Link], known: dict[int, _Known]) -> list[_Link] | None:
    """The links from hosts with a correction to the next one: that with most pairs, firm first."""
    bridges: dict[tuple[bool, int], list[_Link]] = {}
    for link in links:
        if (link.one in known) != (link.other in known):
            outward = link if link.one in known else link.turned()
            bridges.setdefault((link.firm, outward.other), []).append(outward)
    if not bridges:
        return None
    weight = {key: sum(len(link.one_ns) for link in of) for key, of in bridges.items()}
    return bridges[max(bridges, key=lambda key: (key[0], weight[key], -key[1]))]


def _corrected(bridge: Sequence[_Link], known: dict[int, _Known]) -> _Known:
    """The clock of the host that the links lead to."""
    own = np.concatenate([link.other_ns for link in bridge])
    common = np.concatenate([known[link.one].correction.aligned(link.one_ns) for link in bridge])
    correction, spread = _fit_of_most(own, common)
    before = max(known[link.one].error_ns for link in bridge)
    return _Known(known[bridge[0].one].part, correction, before + max(spread, MIN_ERROR_NS))


def _hosts(ranks: int, ends: Sequence[Ends], names: Sequence[str | None]) -> Int64:
    """Ranks of one host: the same name, else raw ends that agree."""
    host = np.arange(ranks)

    def join(a: int, b: int) -> None:
        low, high = sorted((int(host[a]), int(host[b])))
        host[host == high] = low

    for pair in ends:
        known = names[pair.one] is not None and names[pair.other] is not None
        if not known and _agree(pair):
            join(pair.one, pair.other)
    by_name: dict[str, int] = {}
    for rank, name in enumerate(names):
        if name is not None:
            join(by_name.setdefault(name, rank), rank)
    return host


def _agree(pair: Ends) -> bool:
    """Whether raw ends say that two ranks share a clock: hosts that were set alike drift apart."""
    if abs(np.median(pair.other_ns - pair.one_ns)) >= SAME_CLOCK_NS:
        return False
    return abs(fit(pair.other_ns, pair.one_ns)[0].drift) < LEAST_DRIFT


def _within_hosts(ends: Sequence[Ends], host: Int64) -> dict[int, int]:
    """The median absolute difference of ends on each host: how together its members end."""
    found: dict[int, list[Int64]] = {}
    for pair in ends:
        if host[pair.one] == host[pair.other]:
            difference = np.abs(pair.other_ns - pair.one_ns)
            found.setdefault(int(host[pair.one]), []).append(difference)
    return {h: round(float(np.median(np.concatenate(d)))) for h, d in found.items()}


def _fit_of_most(own: Int64, common: Int64) -> tuple[Correction, int]:
    """The fit to the ends that agree, if they are most: the others are of another piece."""
    correction, spread = fit(own, common)
    residual = np.abs(correction.aligned(own) - common)
    near = residual <= max(OUTLIER * float(np.median(residual)), SAME_CLOCK_NS)
    if near.mean() < MIN_AGREEMENT:
        return correction, spread
    return fit(own[near], common[near])


def fit(own: Int64, common: Int64) -> tuple[Correction, int]:
    """Offset, and drift where the residuals say so, of a clock against the common one; its error.

    The error is the spread of what is left.
    """
    difference = own - common
    origin = int(np.median(own))
    plain = Correction(round(float(np.median(difference - difference[0]))) + int(difference[0]))
    spread = _spread(plain, own, common)
    if len(own) < MIN_PAIRS_FOR_DRIFT:
        return plain, spread
    slope = _slope(own - origin, difference - difference[0])
    level = difference - difference[0] - np.rint((own - origin) * slope).astype(np.int64)
    drifting = Correction(round(float(np.median(level))) + int(difference[0]), slope, origin)
    left = _spread(drifting, own, common)
    return (drifting, left) if left < DRIFT_GAIN * spread else (plain, spread)


def _slope(x: Int64, y: Int64) -> float:
    """The median slope between far pairs: outliers do not move it."""
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    half = len(x) // 2
    run, rise = x[half : 2 * half] - x[:half], y[half : 2 * half] - y[:half]
    return float(np.median(rise[run > 0] / run[run > 0])) if (run > 0).any() else 0.0


def _spread(correction: Correction, own: Int64, common: Int64) -> int:
    residual = np.abs(correction.aligned(own) - common)
    return round(float(np.percentile(residual, ERROR_PERCENTILE)))
