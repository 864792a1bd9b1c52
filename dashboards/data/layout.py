"""What the timeline is made of: lanes, ranks, groups of ranks, categories and clocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from commscope.analysis.result import Analysis
from commscope.dashboards.data.categories import CATEGORIES
from commscope.dashboards.data.lanes import Lane
from commscope.report.model import Clock, Report
from commscope.sanitize import shortened

#: Roles by which ranks are grouped, where communicators have them.
_ROLES = ("dp", "tp", "pp", "ep")
_LABEL = 200


@dataclass(frozen=True, slots=True)
class Clocks:
    """How times of different ranks can be compared."""

    method: str
    error_ns: int | None
    text: str


@dataclass(frozen=True, slots=True)
class RankGroup:
    """Ranks that belong together, and those with least, median and most exposed communication.

    ``least``, ``median`` and ``most`` are null where no rank's overlap is known.
    """

    id: str
    label: str
    by: str  #: host, dp, tp, pp or ep
    ranks: tuple[int, ...]
    least: int | None
    median: int | None
    most: int | None


@dataclass(frozen=True, slots=True)
class RankOfLayout:
    """One rank; the share is null where its overlap is withheld."""

    rank: int
    label: str
    host: str | None
    gpu: str | None
    exposed_share: float | None
    lanes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LaneOfLayout:
    """One lane; ``parent`` is the lane of which it is a part. Threads belong to the steps."""

    id: int
    rank: int
    kind: str
    label: str
    depth: int
    parent: int | None


@dataclass(frozen=True, slots=True)
class Layout:
    """All that the timeline needs before any data; times are ns since the origin."""

    run: int
    name: str
    origin_ns: int
    t0: int
    t1: int
    clocks: Clocks
    groups: tuple[RankGroup, ...]
    ranks: tuple[RankOfLayout, ...]
    lanes: tuple[LaneOfLayout, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON; the origin is text, as browsers have no integers of 64 bits."""
        return {
            **asdict(self),
            "origin_ns": str(self.origin_ns),
            "categories": [asdict(category) for category in CATEGORIES],
        }


def layout_of(
    analysis: Analysis, report: Report, name: str, lanes: Sequence[Lane], span: tuple[int, int]
) -> Layout:
    """The layout of a run, as number 0 of those that are shown."""
    ranks = analysis.timeline.ranks.tolist()
    shares = _exposed_shares(report)
    of_rank: dict[int, list[int]] = {index: [] for index in range(len(ranks))}
    for lane in lanes:
        of_rank[lane.rank].append(lane.id)
    return Layout(
        run=0, name=_label(name), origin_ns=report.origin_ns, t0=span[0], t1=span[1],
        clocks=_clocks(report.clock),
        groups=tuple(_groups(analysis, report, shares)),
        ranks=tuple(_ranks(report, shares, dict(zip(ranks, of_rank.values())))),
        lanes=tuple(
            LaneOfLayout(of.id, ranks[of.rank], of.kind, _label(of.label), of.depth, of.parent)
            for of in lanes
        ),
    )  # fmt: skip


def _label(text: str) -> str:
    return shortened(text, _LABEL)


def _clocks(clock: Clock) -> Clocks:
    errors = [rank.error_ns for rank in clock.ranks if rank.error_ns is not None]
    error = max(errors) if errors else None
    within = "" if error is None else f", to within {error / 1e3:,.1f} us"
    return Clocks(clock.method, error, f"{clock.method}{within}")


def _exposed_shares(report: Report) -> dict[int, float | None]:
    """Of each rank's time from its first activity to its last; null where withheld."""
    return {
        row["rank"]: None
        if row["exposed_comm_ns"] is None or not row["window_ns"]
        else row["exposed_comm_ns"] / row["window_ns"]
        for row in report.ranks
    }


def _ranks(
    report: Report, shares: Mapping[int, float | None], lanes: Mapping[int, Sequence[int]]
) -> Iterator[RankOfLayout]:
    for row in report.ranks:
        rank = row["rank"]
        host, gpu = (None if row[of] is None else _label(row[of]) for of in ("host", "gpu"))
        yield RankOfLayout(rank, f"rank {rank}", host, gpu, shares[rank], tuple(lanes[rank]))


def _groups(
    analysis: Analysis, report: Report, shares: Mapping[int, float | None]
) -> Iterator[RankGroup]:
    there = analysis.timeline.ranks.tolist()
    hosts = analysis.across.matching.clocks.host
    names = {row["rank"]: row["host"] for row in report.ranks}
    for number in np.unique(hosts).tolist():
        ranks = [rank for rank, host in zip(there, hosts.tolist()) if host == number]
        name = names[ranks[0]] or f"host of rank {ranks[0]}"
        yield _group(f"host:{number}", name, "host", ranks, shares)
    communicators = analysis.across.matching.communicators.found
    for number, (role, label) in enumerate(zip(analysis.across.roles, analysis.across.labels)):
        ranks = sorted(set(communicators[number].members) & set(there))
        if role in _ROLES and len(ranks) > 1:
            yield _group(f"{role}:{number}", label, role, ranks, shares)


def _group(
    number: str, label: str, by: str, ranks: Sequence[int], shares: Mapping[int, float | None]
) -> RankGroup:
    known = sorted((share, rank) for rank in ranks if (share := shares[rank]) is not None)
    least, median, most = (
        (known[0][1], known[len(known) // 2][1], known[-1][1]) if known else (None, None, None)
    )
    return RankGroup(number, _label(label), by, tuple(ranks), least, median, most)
