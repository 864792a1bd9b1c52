"""Why communication was exposed at a place, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.columns import Int64, int64
from commscope.dashboards.data.clock import RankClock
from commscope.dashboards.data.narrow import Narrow, narrow
from commscope.report.causes import CAUSES
from commscope.report.model import Report
from commscope.sanitize import shortened
from commscope.units import span
from commscope.wording import counted

_NAME = 120
_ALONE = "The collectives of this rank are not matched: it may be waiting for another rank."


@dataclass(frozen=True, slots=True)
class GapPart:
    """A piece of an exposure that is due to one thing; times are on the common clock.

    ``cause`` is one of ``analysis.causes.CAUSES``, ``says`` what that means in words.
    """

    t0: int
    t1: int
    part: str  #: wait, transfer or unmatched
    cause: str
    says: str
    step: int | None


@dataclass(frozen=True, slots=True)
class GapDetails:
    """An exposure, of which all parts are told, and why the one asked for is there."""

    rank: int
    t0: int
    t1: int
    asked: int  #: the part that was asked for
    parts: tuple[GapPart, ...]
    collective: str  #: what ran, such as ``all_reduce in default``
    running: int  #: how many collectives did
    waits_for: int | None  #: a rank
    evidence: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class GapBook:
    """The gaps of a report, found by rank and time on the rank's own clock.

    ``table`` is that of ``Report.gaps``; by rank and time, its rows are ``row``, of which
    ``begin`` is the first of each rank (an index).
    """

    ranks: Sequence[int]
    table: pa.Table
    row: Narrow
    start: Int64
    length: Narrow
    begin: Int64

    @classmethod
    def of(cls, report: Report, ranks: Sequence[int]) -> GapBook:
        """The gaps of a report on these ranks, whose numbers ascend."""
        table = report.gaps.arrow
        rank, start, length = (int64(table, name) for name in ("rank", "start_ns", "dur_ns"))
        row = np.lexsort((start, rank))
        begin = np.searchsorted(rank[row], [*ranks, np.iinfo(np.int64).max])
        return cls(ranks, table, narrow(row), start[row], narrow(length[row]), begin)

    def at(self, rank: int, clock: RankClock, t: int) -> GapDetails | None:
        """The exposure of a rank (an index) that holds a time; null where there is none."""
        first, last = self.begin[[rank, rank + 1]].tolist()
        own = clock.own_time(t)
        place = first + int(np.searchsorted(self.start[first:last], np.int64(own), "right")) - 1
        if place < first or self._end(place) <= own:
            return None
        begin, end = place, place + 1
        while begin > first and self._end(begin - 1) == self.start[begin]:
            begin -= 1
        while end < last and self._end(end - 1) == self.start[end]:
            end += 1
        return self._details(rank, clock, (begin, end), place - begin)

    def _end(self, gap: int) -> int:
        return int(self.start[gap]) + int(self.length[gap])

    def _details(
        self, rank: int, clock: RankClock, gaps: tuple[int, int], asked: int
    ) -> GapDetails:
        rows = self.table.take(pa.array(self.row[slice(*gaps)])).to_pylist()
        times = [(int(self.start[gap]), self._end(gap)) for gap in range(*gaps)]
        parts = tuple(
            GapPart(
                clock.common_time(start), clock.common_time(end), row["part"],
                row["cause"], _cause(row), row["step"],
            )
            for row, (start, end) in zip(rows, times)
        )  # fmt: skip
        row = rows[asked]
        return GapDetails(
            self.ranks[rank], parts[0].t0, parts[-1].t1, asked, parts,
            collective=shortened(f"{row['op'] or 'collective'} in {row['communicator']}", _NAME),
            running=row["running"], waits_for=row["straggler"], evidence=_evidence(row),
        )  # fmt: skip


def _cause(row: Mapping[str, Any]) -> str:
    if row["straggler"] is not None:
        return f"waiting for rank {row['straggler']}"
    return CAUSES[row["cause"]] + (", same stream" if row["same_stream"] else "")


def _evidence(row: Mapping[str, Any]) -> str:
    """What shows the cause, in one sentence; and what keeps it from being sure."""
    says = f"{_SAID.get(row['cause'], _unknown)(row)}."
    return f"{says} {_ALONE}" if row["may_be_waiting"] else says


def _next(row: Mapping[str, Any]) -> str:
    return f"next activity ({shortened(row['after'] or 'none', _NAME)})"


def _launched(row: Mapping[str, Any]) -> str:
    """When the next activity was launched, seen from the begin of the exposure."""
    launched = row["after_launch_ns"]
    if launched is None:
        return "at a time that the trace does not tell"
    where = "before" if launched < 0 else "after"
    return f"{span(abs(launched))} {where} communication began to be exposed"


def _wait(row: Mapping[str, Any]) -> str:
    late = "a later member" if row["straggler"] is None else f"rank {row['straggler']}"
    return f"For {span(row['dur_ns'])} every running collective waits for {late} to arrive"


def _pause(row: Mapping[str, Any]) -> str:
    return f"A pause of {span(row['dur_ns'])} between two kernels of one stream: no overlap is lost"


def _late(row: Mapping[str, Any]) -> str:
    doing = f"; meanwhile the host was busy with {row['host']}" if row["host"] else ""
    return f"The {_next(row)} was launched {_launched(row)}{shortened(doing, _NAME)}"


def _sync(row: Mapping[str, Any]) -> str:
    call = shortened(row["host"] or "a call", _NAME)
    return f"The host was blocked by {call}, and the {_next(row)} was launched {_launched(row)}"


def _order(row: Mapping[str, Any]) -> str:
    return (
        f"The {_next(row)} was launched {_launched(row)}, on another stream that shares a "
        "hardware queue with the communication, and begins as it ends"
    )


def _dependency(row: Mapping[str, Any]) -> str:
    where = ", on the stream of the communication itself" if row["same_stream"] else ""
    return (
        f"The {_next(row)} was launched {_launched(row)}{where}, and begins as the "
        "communication ends: it needs the result"
    )


def _tail(_row: Mapping[str, Any]) -> str:
    return "Only the optimizer, or nothing, of this step follows: it is the last communication"


def _unknown(row: Mapping[str, Any]) -> str:
    lacks = shortened(row["missing"] or "the trace lacks what would tell", _NAME)
    also = counted(row["running"], "collective runs", "collectives run")
    return f"Not known: {lacks}; {also} here"


_SAID = {
    "straggler_wait": _wait,
    "kernel_gap": _pause,
    "host_late": _late,
    "host_sync": _sync,
    "stream_order": _order,
    "dependency": _dependency,
    "step_tail": _tail,
}
