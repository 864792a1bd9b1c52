"""Rules on waiting: a straggler, ranks that take turns in being late, the pipeline's bubble."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from commscope.analysis.gaps import TRANSFER, WAIT
from commscope.analysis.host import ACTIONS, ALLOCATION, COPY, INPUT, SYNC
from commscope.analysis.lateness import COMPUTE, HOST, REASONS
from commscope.analysis.lateness import COPY as COPIED
from commscope.analysis.pipeline import PIPELINE
from commscope.analysis.stragglers import instance_waits
from commscope.columns import NONE, Bool, Int64, int64
from commscope.findings import needs
from commscope.findings.case import Case
from commscope.findings.model import Advice, Evidence, Measured
from commscope.findings.rule import NOTHING, Draft, Limit, Outcome, Rule
from commscope.units import percent, span

_DID = {
    INPUT: "loading input",
    ALLOCATION: "allocating or freeing memory",
    SYNC: "in a synchronising call",
    COPY: "in a blocking copy",
}
#: A transfer is hidden on the straggler if compute covers this share of it there.
_HIDDEN = 0.8


def _waits(case: Case) -> Bool:
    return case.due_to("straggler_wait") & (case.gaps.call >= 0)


def _instance(case: Case) -> Int64:
    """The instance of the collective of each gap; -1 where it is not matched."""
    return np.append(case.analysis.across.matching.instance, -1)[case.gaps.call]


def _roots(case: Case) -> Int64:
    """For each gap the rank (an index) with the first cause of the waiting; -1 for none."""
    instance = _instance(case)
    origin = np.append(case.analysis.lateness.origin, -1)[instance]
    return np.asarray(np.append(case.analysis.across.matching.straggler, -1)[origin])


def _in_pipeline(case: Case) -> Bool:
    """Gaps in which a stage waits for its neighbour."""
    is_pipeline = np.array([role == PIPELINE for role in case.analysis.across.roles] + [False])
    communicator = np.append(case.analysis.across.matching.communicator, -1)
    return np.asarray(is_pipeline[communicator[_instance(case)]] & (_instance(case) >= 0))


def look_straggler(case: Case, limits: Mapping[str, float]) -> Outcome:
    """C1: one rank causes most of the waiting, by arrival, and in every step."""
    waits, roots = _waits(case) & ~_in_pipeline(case), _roots(case)
    root = _blamed(case, limits)
    if root is None:
        return NOTHING
    for_root = waits & (roots == root)
    if not for_root.any():
        return NOTHING
    share = case.left_ns[for_root].sum() / case.left_ns[waits].sum()
    waiting = case.claim(for_root)
    cause = _Cause(case, root, for_root)
    claimed = waiting + case.claim(_hidden_there(case, for_root, root))
    lost = case.bound(claimed + cause.excess_ns)
    who = _ranks_in_words([r for r in case.ranks_of(waiting) if r != case.ranks[root]])
    says = (
        f"rank {case.ranks[root]} is late: {cause.says()}; {who} up to "
        f"{case.spoken(case.a_step(waiting))} for it, {percent(share)} of all waiting{cause.path()}"
    )
    measured = {
        "waiting": Measured(case.a_step(waiting), "ns"),
        "cause": Measured(cause.a_step(), "ns"),
        "share_of_waiting": Measured(float(share), "ratio"),
    }
    evidence = (*cause.evidence(), *case.evidence(for_root))
    return Outcome(
        (
            Draft(
                says, claimed, evidence=evidence, rank=case.ranks[root], measured=measured,
                bound_ns=min(lost, case.a_step(claimed)),
            ),
        )
    )  # fmt: skip


def _caused(case: Case) -> tuple[Int64, Int64]:
    """For each instance the waiting it cost, and the rank (an index) with the first cause.

    All waiting counts, hidden or not, in open steps too (DEFINITIONS 4), but that in pipelines.
    """
    across = case.analysis.across
    is_pipeline = np.array([role == PIPELINE for role in across.roles], np.bool_)
    waits = np.where(is_pipeline[across.matching.communicator], 0, instance_waits(across.matching))
    return waits, across.matching.straggler[case.analysis.lateness.origin]


def _blamed(case: Case, limits: Mapping[str, float]) -> int | None:
    """The rank that causes enough of all waiting, and of that of every step; null for none."""
    matching = case.analysis.across.matching
    caused, root = _caused(case)
    by_rank = np.bincount(root, caused, minlength=len(case.ranks))
    top = int(by_rank.argmax())
    if not caused.any() or by_rank[top] < limits["min_share"] * caused.sum():
        return None
    error = int(matching.clocks.error_ns.max(initial=0))
    if caused[caused > 0].mean() <= limits["min_errors"] * error:
        return None
    step = np.where(np.isin(_steps(case), case.number[case.counts]), _steps(case), NONE)
    for number in np.unique(step[(caused > 0) & (step != NONE)]):
        mine = np.where(step == number, caused, 0)
        if mine[root == top].sum() <= limits["min_step_share"] * mine.sum():
            return None
    return top


def _steps(case: Case) -> Int64:
    """The step of each instance."""
    across = case.analysis.across
    return int64(across.calls, "step")[across.matching.first_row]


def _hidden_there(case: Case, rows: Bool, root: int) -> Bool:
    """Exposed transfers of what was waited for that compute hides on the late rank itself.

    Had it been in time, compute would have hidden them on the others too.
    """
    calls, matching = case.analysis.across.calls, case.analysis.across.matching
    hidden, length = (np.asarray(calls.column(n).to_numpy()) for n in ("hidden_ns", "dur_ns"))
    rank = np.asarray(calls.column("rank").to_numpy())
    covered = (rank == case.ranks[root]) & (hidden >= _HIDDEN * length) & (matching.instance >= 0)
    instances = np.intersect1d(matching.instance[covered], _instance(case)[rows])
    chosen = np.isin(_instance(case), instances) & (case.gaps.part == TRANSFER)
    return np.asarray(chosen & (case.gaps.rank != root))


class _Cause:
    """What made a rank late, in those instances that gaps are due to."""

    def __init__(self, case: Case, root: int, rows: Bool) -> None:
        self.case, self.root, self.rows = case, root, rows
        lateness = case.analysis.lateness
        instance = _instance(case)[rows]
        origin, length = lateness.origin[instance], case.gaps.length[rows]
        self.reason, self.action = self._heaviest(origin, length)
        mine = lateness.reason[origin] == self.reason
        self.origins = np.unique(origin[mine])
        self.instances, self.weights = instance, length
        self.excess_ns = self._excess()

    def _heaviest(self, origin: Int64, length: Int64) -> tuple[int, int]:
        """Reason and action of most of the waiting; comparison with peers goes first."""
        lateness = self.case.analysis.lateness
        compared = lateness.is_compared[origin]
        chosen = compared if compared.any() else np.ones(len(origin), np.bool_)
        weights: Counter[tuple[int, int]] = Counter()
        pairs = zip(lateness.reason[origin].tolist(), lateness.action[origin].tolist())
        for pair, weight, counts in zip(pairs, length.tolist(), chosen.tolist()):
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
        found = np.zeros(len(self.case.number), np.int64)
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
        longer = self.case.spoken(self.a_step())
        if self.reason == COMPUTE:
            return f"it computes {longer} longer than its peers"
        if self.reason == COPIED:
            return f"it copies {longer} longer than its peers"
        if self.reason != HOST:
            return f"why, the trace does not tell ({REASONS[self.reason]})"
        did = _DID.get(ACTIONS[self.action]) if self.action >= 0 else None
        host = f"its host is {did}" if did else "its host launches nothing and shows no call"
        piece = f"up to {span(self._silence())} at a time"
        return f"its GPU idles {longer} longer than its peers' ({piece}) while {host}"

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


def _ranks_in_words(ranks: Sequence[int]) -> str:
    if len(ranks) == 1:
        return f"rank {ranks[0]} waits"
    shown = ", ".join(map(str, ranks[:4])) + (" and others" if len(ranks) > 4 else "")
    return f"ranks {shown} wait" if ranks else "others wait"


def look_turns(case: Case, _limits: Mapping[str, float]) -> Outcome:
    """C9: what waiting there is besides that for a straggler and in pipelines."""
    rows = _waits(case) & ~_in_pipeline(case)
    if not rows.any():
        return NOTHING
    shares = _shares(case)
    claimed = case.claim(rows)
    says = (
        f"ranks wait up to {case.spoken(case.a_step(claimed))} for each other, and no one rank is "
        f"to blame: the waiting moves between ranks ({shares})"
    )
    measured = {"waiting": Measured(case.a_step(claimed), "ns")}
    return Outcome((Draft(says, claimed, rows, measured=measured, at_most="medium"),))


def _shares(case: Case) -> str:
    """Which ranks cause how much of all waiting; a rank that it is claimed for is left out."""
    waits, roots = _caused(case)
    blamed = case.usable & (case.left_ns == 0) & (case.gaps.part == WAIT) & ~_in_pipeline(case)
    waits = np.where(np.isin(roots, _roots(case)[blamed]), 0, waits)
    caused = np.bincount(roots, waits, len(case.ranks))
    order = np.argsort(-caused, kind="stable")[:4]
    shown = (f"rank {case.ranks[i]} {caused[i] / caused.sum():.0%}" for i in order if caused[i])
    return ", ".join(shown)


def look_bubble(case: Case, _limits: Mapping[str, float]) -> Outcome:
    """P1: waiting for neighbours in a pipeline."""
    rows = _waits(case) & _in_pipeline(case)
    if not rows.any():
        return NOTHING
    claimed = case.claim(rows)
    says = (
        f"stages wait up to {case.spoken(case.a_step(claimed))} for their neighbours in the "
        "pipeline"
    )
    measured = {"waiting": Measured(case.a_step(claimed), "ns")}
    return Outcome((Draft(says, claimed, rows, measured=measured, at_most="medium"),))


RULES = (
    Rule(
        "C1", "collectives", "Straggler",
        "Does one rank cause most of the waiting, and why is it late?",
        look_straggler,
        (
            Advice(
                "Look at what the late rank does before it arrives; the time is not the network's.",
                "A collective lasts until its last member has come: the others only wait.",
                "https://github.com/traceopt-ai/traceml/issues/252",
            ),
        ),
        {
            "min_share": Limit(0.8, "ratio", "of all waiting, caused by the one rank"),
            "min_step_share": Limit(2 / 3, "ratio", "of the waiting of every closed step"),
            "min_errors": Limit(3, "count", "mean wait, in errors of the clocks"),
        },
        needs=(needs.partners,),
    ),
    Rule(
        "P1", "collectives", "Pipeline bubble",
        "Do the stages of a pipeline wait for each other?",
        look_bubble,
        (
            Advice(
                "Use more micro-batches, or an interleaved or zero-bubble schedule.",
                "A stage is idle until the first micro-batch reaches it, and after the last.",
                "https://github.com/sail-sg/zero-bubble-pipeline-parallelism/issues/25",
            ),
        ),
        needs=(needs.pipeline, needs.partners),
    ),
    Rule(
        "C9", "collectives", "Ranks take turns in being late",
        "Do ranks wait for each other without one that is to blame?",
        look_turns,
        (
            Advice(
                "Reduce what varies between ranks: the host's pace, input, the length of samples.",
                "Whoever is last in each collective costs all others the difference.",
                "https://github.com/deepseek-ai/DeepEP/issues/59",
            ),
        ),
        needs=(needs.partners,),
    ),
)  # fmt: skip
