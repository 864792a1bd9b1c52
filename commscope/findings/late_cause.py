"""Why a rank is late, in numbers and in words: what it did longer than its peers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from commscope.analysis.groups import group_sums
from commscope.analysis.host import ACTIONS, ALLOCATION, COPY, INPUT, SYNC
from commscope.analysis.lateness import COMPUTE, HOST
from commscope.analysis.lateness import COPY as COPIED
from commscope.columns import NONE, Bool, Int64
from commscope.findings.case import Case
from commscope.findings.model import Evidence
from commscope.units import span

_DID = {
    INPUT: "loading input",
    ALLOCATION: "allocating or freeing memory",
    SYNC: "in a synchronising call",
    COPY: "in a blocking copy",
}


class LateCause:
    """What made a rank late, in those instances that gaps are due to.

    ``weights`` is how long the gaps of each instance are in all; in ``origins``, instances too, the
    rank was late for the reason of most of them. ``excess_ns`` has an entry a window.
    """

    def __init__(self, case: Case, root: int, rows: Bool) -> None:
        self.case, self.root = case, root
        lateness = case.analysis.lateness
        self.instances, place = np.unique(case.instance[rows], return_inverse=True)
        self.weights = group_sums(place.reshape(-1), case.gaps.length[rows], len(self.instances))
        origin = lateness.origin[self.instances]
        self.reason, self.action = self._heaviest(origin)
        self.origins = np.unique(origin[lateness.reason[origin] == self.reason])
        self.excess_ns = self._excess()

    def _heaviest(self, origin: Int64) -> tuple[int, int]:
        """Reason and action of most of the waiting; comparison with peers goes first."""
        lateness = self.case.analysis.lateness
        compared = lateness.is_compared[origin]
        chosen = compared if compared.any() else np.ones(len(origin), np.bool_)
        weights: Counter[tuple[int, int]] = Counter()
        pairs = zip(lateness.reason[origin].tolist(), lateness.action[origin].tolist())
        for pair, weight, counts in zip(pairs, self.weights.tolist(), chosen.tolist()):
            weights[pair] += weight if counts else 0
        return weights.most_common(1)[0][0]

    def _excess(self) -> Int64:
        """For each window of the late rank, how much longer it took for that reason.

        Collectives compared from the same time on have the same lateness, not one each; so have
        those of several communicators.
        """
        lateness, matching = self.case.analysis.lateness, self.case.analysis.across.matching
        since: dict[tuple[int, int, int], int] = defaultdict(int)
        for origin, window in zip(self.origins.tolist(), self._windows().tolist()):
            key = (window, int(matching.communicator[origin]), int(lateness.begin[origin]))
            since[key] = max(since[key], int(lateness.excess_ns[origin]))
        by_group: Counter[tuple[int, int]] = Counter()
        for (window, communicator, _), excess in since.items():
            by_group[window, communicator] += excess
        found = np.zeros(len(self.case.step), np.int64)
        for (window, _), excess in by_group.items():
            found[window] = max(int(found[window]), excess if window >= 0 else 0)
        return found

    def _windows(self) -> Int64:
        """The window in which the late rank arrived, for each origin; -1 for none."""
        arrival = self.case.analysis.lateness.arrival[self.origins]
        return self.case.analysis.windows.at(self.case.analysis.timeline, arrival)

    def a_step(self) -> int:
        """The median over the steps of the late rank."""
        case = self.case
        mine = case.counts & (case.analysis.windows.rank == self.root)
        return round(float(np.median(self.excess_ns[mine]))) if mine.any() else 0

    def says(self) -> str:
        """What it did, in words."""
        if not self.a_step() or self.reason not in (COMPUTE, COPIED, HOST):
            return "why, the trace does not tell"
        longer = f"{self.case.spoken(self.a_step())} longer than its peers"
        if self.reason == COMPUTE:
            return f"before it arrives it computes {longer}"
        if self.reason == COPIED:
            return f"before it arrives it copies {longer}"
        piece = f"up to {span(self._silence())} at a time"
        return f"before it arrives its GPU idles {longer}' ({piece}){self._host()}"

    def _host(self) -> str:
        """What the late rank's host did meanwhile, if the trace shows hosts."""
        activities, host = self.case.analysis.timeline.activities, self.case.analysis.host
        if not (host.launch[activities.rank == self.root] != NONE).any():
            return "; what its host did, the trace does not tell: it has no launches"
        did = _DID.get(ACTIONS[self.action]) if self.action >= 0 else None
        return (
            f" while its host is {did}"
            if did
            else (" while its host launches nothing and shows no call")
        )

    def _silence(self) -> int:
        """The longest time without activity before it arrives."""
        lateness = self.case.analysis.lateness
        times = zip(lateness.begin[self.origins].tolist(), lateness.arrival[self.origins].tolist())
        pieces = [_longest_idle(self.case, begin, end) for begin, end in times]
        return max(end - begin for begin, end in pieces)

    def path(self) -> str:
        """How the waiting is passed on, where it goes through other communicators."""
        case, across = self.case, self.case.analysis.across
        chains: Counter[tuple[int, ...]] = Counter()
        for instance, weight in zip(self.instances.tolist(), self.weights.tolist()):
            chain = case.analysis.lateness.chain(instance)
            ranks = (int(across.matching.straggler[i]) for i in chain)
            groups = (int(across.matching.communicator[i]) for i in chain)
            chains[tuple(x for pair in zip(ranks, groups) for x in pair)] += weight
        longest = max(chains, key=lambda chain: (len(chain), chains[chain]))
        if len(longest) <= 2:
            return ""
        parts = [
            f"rank {case.ranks[rank]} (last in {across.labels[group]})"
            for rank, group in zip(longest[::2], longest[1::2])
        ]
        return "; passed on: " + ", which waited for ".join(parts)

    def evidence(self) -> Sequence[Evidence]:
        """The longest time of idling, or from where it is compared to its arrival."""
        lateness = self.case.analysis.lateness
        order = self.origins[np.argsort(-lateness.excess_ns[self.origins], kind="stable")]
        found = []
        for origin in order[:2].tolist():
            begin, end = int(lateness.begin[origin]), int(lateness.arrival[origin])
            if self.reason == HOST:
                begin, end = _longest_idle(self.case, begin, end)
            found.append(self.case.moment(begin, end))
        return found


def _longest_idle(case: Case, begin: int, end: int) -> tuple[int, int]:
    """The longest time between two on the axis in which nothing runs."""
    busy = case.analysis.timeline.busy
    low, high = np.searchsorted(busy.ends, begin, "right"), np.searchsorted(busy.starts, end)
    starts = np.concatenate(([begin], busy.ends[low:high]))
    ends = np.concatenate((busy.starts[low:high], [end]))
    longest = int((np.minimum(ends, end) - np.maximum(starts, begin)).argmax())
    return max(int(starts[longest]), begin), min(int(ends[longest]), end)
