"""Whether a trace tells the time that it was, and whether it is the trace of its rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Literal

from commscope.generator.grading.model import Blame, Numbers, Place, Row, held, not_told
from commscope.generator.grading.pairs import Pair, Pairs
from commscope.generator.grading.tolerances import CLOCK_NS, DRIFT_PPM, KERNEL_NS, TICK_NS
from commscope.generator.truth_file import TruthClock, TruthFile
from commscope.units import span

Domain = Literal["realtime", "boottime", "monotonic"]
_DOMAINS: tuple[Domain, ...] = ("realtime", "boottime", "monotonic")
#: Formats whose times count from the start of the host; the others are on the wall clock.
_BOOTTIME = ("rocprofv3", "rocpd", "pftrace")
#: The share of kernels that must begin on time: a thread may be kept from reading its clock.
_SHARE = 0.9
#: Kernels that fit another rank's truth so much better are of that rank: the least was 64 times.
_BETTER = 10
#: Fewer pairs tell no drift.
_LEAST_PAIRS = 6


@dataclass(frozen=True)
class Offsets:
    """By how much a trace is ahead of the truth, at the times of the truth; in order of time."""

    at_ns: Sequence[int]
    ahead_ns: Sequence[int]

    @cached_property
    def typical_ns(self) -> int:
        """The median."""
        return round(median(self.ahead_ns))

    @cached_property
    def drift_ppm(self) -> float | None:
        """How much the trace gains; null where too little is known."""
        third = len(self.at_ns) // 3
        if len(self.at_ns) < _LEAST_PAIRS:
            return None
        early, late = slice(None, third), slice(-third, None)
        length = median(self.at_ns[late]) - median(self.at_ns[early])
        gained = median(self.ahead_ns[late]) - median(self.ahead_ns[early])
        return gained / length * 1e6 if length else None

    def from_ns(self, expected_ns: int, *, exact: bool) -> int:
        """How far the median is from what is expected; where all is exact, the farthest."""
        if not exact:
            return self.typical_ns - expected_ns
        return max((ahead - expected_ns for ahead in self.ahead_ns), key=abs)

    def at(self, time_ns: int) -> int:
        """By how much it is ahead at a time, on the line that offset and drift make."""
        slope = (self.drift_ppm or 0) / 1e6
        return self.typical_ns + round(slope * (time_ns - self._middle_ns))

    @cached_property
    def _middle_ns(self) -> float:
        return median(self.at_ns)

    def apart_ns(self) -> int:
        """How far nine of ten are from that line, at most."""
        apart = sorted(abs(ahead - self.at(at)) for at, ahead in zip(self.at_ns, self.ahead_ns))
        return apart[int(_SHARE * (len(apart) - 1))]


def device_offsets(pairs: Sequence[Pair]) -> Offsets | None:
    """Of begins on the device, by times that the operations took themselves."""
    known = [
        (p.operation.begin_ns, p.kernel.start_ns) for p in pairs if p.operation.src == "device"
    ]
    return _offsets(known)


def host_offsets(pairs: Sequence[Pair]) -> Offsets | None:
    """Of launching calls."""
    return _offsets(
        [
            (pair.operation.host_ns, pair.kernel.launch_ns)
            for pair in pairs
            if pair.operation.host_ns is not None and pair.kernel.launch_ns is not None
        ]
    )


def _offsets(known: Sequence[tuple[int, int]]) -> Offsets | None:
    if not known:
        return None
    ordered = sorted(known)
    return Offsets([at for at, _ in ordered], [found - at for at, found in ordered])


def shift_ns(truth: TruthFile, form: str) -> int | None:
    """From the monotonic clock of the truth to that of a trace of this format."""
    clock = truth.header.clock
    return None if clock is None else _shift(clock, domain_of(form))


def domain_of(form: str) -> Domain:
    """The clock of a format of traces."""
    return "boottime" if form.startswith(_BOOTTIME) else "realtime"


def _shift(clock: TruthClock, domain: Domain) -> int:
    told: int = getattr(clock, f"{domain}_ns")
    return told - clock.monotonic_ns


def clock_rows(truth: TruthFile, form: str, pairs: Pairs) -> Iterator[Row]:
    """Whether the clock of the trace is right: by launching calls, and by begins on the device."""
    place, clock = Place(truth.header.rank), truth.header.clock
    every = pairs.of("compute", "collective", "copy")
    found = {"launching calls": host_offsets(every)}
    if truth.header.tells_begin:
        found["begins on the device"] = device_offsets(every)
    known = {name: offsets for name, offsets in found.items() if offsets is not None}
    if clock is None or not known:
        says = "the truth has no clocks" if clock is None else "no operation could be paired"
        yield not_told("clock", place, f"absolute times: {says}")
        return
    tolerance = 0 if truth.header.is_simulated else CLOCK_NS
    for name, offsets in known.items():
        since = clock.monotonic_ns if name.startswith("begins") else 0
        ahead = offsets.from_ns(since + _shift(clock, domain_of(form)), exact=not tolerance)
        numbers, blame = Numbers(0, ahead, tolerance), shifted(ahead, clock, form)
        yield held("clock", place._replace(what=name), numbers, blame)


def shifted(ahead_ns: int, clock: TruthClock, form: str) -> Blame:
    """Who is to blame for a clock that is wrong; another clock of the host may be the right one."""
    mine = domain_of(form)
    way = "ahead of" if ahead_ns > 0 else "behind"
    says = f"the trace is {span(abs(ahead_ns))} {way} the host's clock ({mine})"
    for other in _DOMAINS:
        apart = abs(ahead_ns + _shift(clock, mine) - _shift(clock, other))
        if other != mine and apart <= CLOCK_NS:
            return Blame("profiler", f"{says}: it is on the clock {other}")
    return Blame(
        "profiler", f"{says}: the profiler's clock is wrong, or the trace is of another run"
    )


def fit_rows(truth: TruthFile, pairs: Pairs, others: Mapping[int, TruthFile]) -> Iterator[Row]:
    """Whether the clock drifts, and whether each kernel begins when the truth says that it did."""
    place, offsets = Place(truth.header.rank), device_offsets(pairs.of("compute", "collective"))
    if offsets is None:
        yield not_told("kernel times", place, "no operation that took its own times was paired")
        return
    exact = truth.header.is_simulated
    if offsets.drift_ppm is not None:
        length = max(offsets.at_ns[-1] - offsets.at_ns[0], 1)
        tolerance = 0 if exact else DRIFT_PPM + 1e6 * TICK_NS / length
        says = "the clock of the trace goes at another rate than that of the device"
        numbers = Numbers(0.0, round(offsets.drift_ppm, 3), round(tolerance, 3), "ppm")
        yield held("drift", place, numbers, Blame("profiler", says))
    yield _fit(pairs, others, offsets.apart_ns(), 0 if exact else KERNEL_NS)


def _fit(pairs: Pairs, others: Mapping[int, TruthFile], apart_ns: int, tolerance_ns: float) -> Row:
    """Whether the kernels fit the truth of their rank, and no other one better by far."""
    other = _fits_better(pairs, others, apart_ns) if apart_ns > TICK_NS else None
    if other is not None:
        says = f"the kernels fit the truth of rank {other}; were traces or truths exchanged?"
        numbers = Numbers(f"of rank {pairs.rank}", f"of rank {other}", unit="words")
    else:
        says = "kernels do not begin when the truth says, whatever the offset of the clock"
        numbers = Numbers(0, apart_ns, tolerance_ns)
    return held("kernel times", Place(pairs.rank), numbers, Blame("profiler", says))


def _fits_better(pairs: Pairs, others: Mapping[int, TruthFile], apart_ns: int) -> int | None:
    """The rank whose truth the kernels fit ten times as well."""
    mine = pairs.of("compute")
    kernels, steps = [pair.kernel for pair in mine], {pair.operation.step for pair in mine}
    for rank, truth in sorted(others.items()):
        theirs = [row for row in truth.operations if row.op == "compute" and row.step in steps]
        if rank != pairs.rank and len(theirs) == len(kernels):
            offsets = device_offsets([Pair(*pair) for pair in zip(theirs, kernels)])
            if offsets is not None and _BETTER * offsets.apart_ns() < apart_ns:
                return rank
    return None
