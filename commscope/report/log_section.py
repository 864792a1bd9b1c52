"""What the logs of the job add to the report: how each collective was run, and over what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from commscope.analysis.gaps import PARTS
from commscope.analysis.groups import group_rows, group_sums
from commscope.analysis.result import Analysis
from commscope.columns import Bool, Int64, int64, where_equal
from commscope.findings.model import Trust
from commscope.joined.classes import CallClass
from commscope.joined.result import Joined
from commscope.joined.transports import Route
from commscope.logs.summary import channels_used
from commscope.report.gaps import shown_gaps
from commscope.report.model import LogSection, ReportTable

_EXPOSED = ("exposed_ns", *(f"exposed_{part}_ns" for part in PARTS))
_TIMES = tuple((name, pa.int64()) for name in _EXPOSED)
_ROUTE = (
    ("transport", pa.string()),
    ("link", pa.string()),
    ("net_devices", pa.list_(pa.int64())),
    ("gpu_direct", pa.bool_()),
)
_COMMUNICATORS = pa.schema(
    [
        ("communicator", pa.string()),
        ("name", pa.string()),
        ("nranks", pa.int64()),
        ("channels", pa.list_(pa.int64())),
        ("ring", pa.list_(pa.int64())),
        ("network", pa.list_(pa.string())),
        ("note", pa.string()),
    ]
)
_PATHS = pa.schema(
    [
        ("communicator", pa.string()),
        ("op", pa.string()),
        ("bytes", pa.int64()),
        ("shown", pa.int64()),
        ("logged", pa.int64()),
        ("algorithm", pa.string()),
        ("protocol", pa.string()),
        ("channels", pa.int64()),
        ("choices", pa.int64()),
        *_ROUTE,
        *_TIMES,
        ("note", pa.string()),
    ]
)
_TRANSPORTS = pa.schema(
    [*_ROUTE, ("ranks", pa.list_(pa.int64())), ("collectives", pa.int64()), *_TIMES]
)
_STRETCHES = pa.schema(
    [
        ("rank", pa.int64()),
        ("communicator", pa.string()),
        ("shown", pa.int64()),
        ("logged", pa.int64()),
        ("shifts", pa.int64()),
        ("lacking", pa.int64()),
    ]
)


def log_section(analysis: Analysis, trust: Trust, joined: Joined) -> LogSection:
    """The section; times that trust withholds are left out of its sums."""
    tables = _Tables(analysis, joined, shown_gaps(analysis, trust))
    return LogSection(
        files=tuple(file.file for file in joined.logs.files),
        joined_by=joined.processes.by,
        notes=(*joined.processes.notes, *joined.places.notes),
        communicators=ReportTable(_communicators(analysis, joined)),
        paths=ReportTable(tables.paths()),
        transports=ReportTable(tables.transports()),
        stretches=ReportTable(_stretches(analysis, joined)),
    )


def _communicators(analysis: Analysis, joined: Joined) -> pa.Table:
    rows = []
    for label, group in zip(analysis.across.labels, joined.groups):
        known = None if group.number is None else joined.grouped.communicators[group.number]
        rows.append(
            {
                "communicator": label,
                "name": known and known.name,
                "nranks": known and known.nranks,
                "channels": known and known.coll_channels,
                "ring": _ring(joined, tuple(group.rows.values())),
                "network": known and known.networks,
                "note": group.note or None,
            }
        )
    return pa.Table.from_pylist(rows, schema=_COMMUNICATORS)


def _ring(joined: Joined, comms: Sequence[int]) -> list[int] | None:
    """The order of the first ring that any member printed whole, in ranks of the communicator."""
    graphs = joined.logs.tables["GRAPHS"]
    rings = where_equal(graphs, "kind", "ring_list") & np.isin(int64(graphs, "comm"), comms)
    first = graphs.column("ranks").take(pa.array(np.flatnonzero(rings)[:1])).to_pylist()
    return first[0] if first else None


class _Tables:
    """Sums over the gaps that are shown, by class of collective and by route."""

    def __init__(self, analysis: Analysis, joined: Joined, shown: Bool) -> None:
        self._analysis, self._joined = analysis, joined
        self._routes, self._route = _by_look(joined)
        gaps = analysis.gaps
        rows = np.flatnonzero(shown & (gaps.call >= 0))
        self._call, self._part, self._length = gaps.call[rows], gaps.part[rows], gaps.length[rows]

    def paths(self) -> pa.Table:
        """See ``LogSection``."""
        group, first = group_rows([self._joined.classes.of_row, self._route])
        labels = self._analysis.across.labels
        shown = np.bincount(group, minlength=len(first)).tolist()
        rows = [
            {
                **_of_class(self._joined.classes.found[self._joined.classes.of_row[row]], labels),
                **self._routes[self._route[row]],
                **times,
                "shown": count,
            }
            for row, count, times in zip(first.tolist(), shown, self._sums(group, len(first)))
        ]
        return _most_exposed_first(rows, _PATHS)

    def transports(self) -> pa.Table:
        """See ``LogSection``."""
        group, first = group_rows([self._route])
        rank = int64(self._analysis.across.calls, "rank")
        rows = [
            {
                **self._routes[self._route[row]],
                **times,
                "ranks": np.unique(rank[group == number]).tolist(),
                "collectives": int((group == number).sum()),
            }
            for number, (row, times) in enumerate(
                zip(first.tolist(), self._sums(group, len(first)))
            )
        ]
        return _most_exposed_first(rows, _TRANSPORTS)

    def _sums(self, group: Int64, count: int) -> list[dict[str, int]]:
        """The exposed times of each group of collectives."""
        of_gap = group[self._call]
        whole = group_sums(of_gap, self._length, count)
        parts = [
            group_sums(of_gap, np.where(self._part == part, self._length, 0), count)
            for part in range(len(PARTS))
        ]
        return [dict(zip(_EXPOSED, row)) for row in zip(*(s.tolist() for s in (whole, *parts)))]


def _by_look(joined: Joined) -> tuple[list[dict[str, Any]], Int64]:
    """Routes that look alike are one, whichever line tells them; and each collective's."""
    known: dict[str, int] = {}
    looks: list[dict[str, Any]] = []
    numbers = []
    for route in joined.routes:
        look = _look(route)
        if str(look) not in known:
            known[str(look)] = len(looks)
            looks.append(look)
        numbers.append(known[str(look)])
    return looks, np.array(numbers, np.int64)[joined.route]


def _look(route: Route) -> dict[str, Any]:
    return {
        "transport": " + ".join(route.transports) or None,
        "link": route.link,
        "net_devices": list(route.net_devices),
        "gpu_direct": route.gpu_direct,
    }


def _of_class(found: CallClass, labels: Sequence[str]) -> dict[str, Any]:
    used = found.choices[0] if found.choices else None
    return {
        "communicator": labels[found.communicator],
        "op": found.op,
        "bytes": found.bytes,
        "logged": found.logged,
        "algorithm": used and used.algorithm,
        "protocol": used and used.protocol,
        "channels": used and channels_used(used.first_channel, used.last_channel),
        "choices": len(found.choices),
        "note": found.note or None,
    }


def _most_exposed_first(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    rows.sort(key=lambda row: (-row["exposed_ns"], str(row)))
    return pa.Table.from_pylist(rows, schema=schema)


def _stretches(analysis: Analysis, joined: Joined) -> pa.Table:
    labels = analysis.across.labels
    rows = [
        {
            "rank": one.rank,
            "communicator": labels[one.communicator],
            "shown": one.shown,
            "logged": one.logged,
            "shifts": one.shifts,
            "lacking": len(one.lacking),
        }
        for one in joined.stretches
    ]
    return pa.Table.from_pylist(rows, schema=_STRETCHES)
