"""What collectives cost: waiting, transfer, and bandwidth against what the links give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from commscope.analysis.across import Across
from commscope.analysis.bandwidth import Message, bandwidth_of
from commscope.analysis.groups import group_rows
from commscope.analysis.hardware import Part, part_of
from commscope.analysis.instances import Matching
from commscope.analysis.percentiles import percentiles
from commscope.analysis.reference import Reference, reference_of
from commscope.columns import NONE, Int64, codes, int64, parts
from commscope.trace import Trace


@dataclass(frozen=True, slots=True)
class Costs:
    """What bandwidth rests on; arrays have an entry a collective (a row of ``Across.calls``)."""

    matching: Matching
    part: Part | None  #: the GPU, whose links are known; null: they are not
    one_host: bool
    op: Int64  #: place in ``ops``; -1: not known
    ops: list[str]
    size: Int64  #: in bytes; ``NONE``: not known
    group_size: Int64  #: as the trace tells it; ``NONE``: it does not
    duration: Int64  #: in ns
    reference: Reference | None = None  #: what was measured on this machine

    def of_kind(self, rows: Int64) -> dict[str, Any]:
        """Waiting, transfer and bandwidth of collectives of one operation and size."""
        matched = rows[self.matching.instance[rows] >= 0]
        times = self._transfers(matched)
        p50, p95 = percentiles(times, (50, 95)) if len(times) else (None, None)
        size = int(self.size[rows[0]])
        return {
            "matched": len(matched),
            "wait_ns": int(self.matching.wait_ns[matched].sum()) if len(matched) else None,
            "transfer_p50_ns": p50,
            "transfer_p95_ns": p95,
            **self._bandwidth(rows, None if size == NONE else size, p50),
        }

    def by_size(self, rows: Int64) -> list[dict[str, Any]]:
        """Bandwidth by operation, number of members, and size from a power of two to the next.

        It is that of the median size in the median time.
        """
        rows = rows[(self.size[rows] > 0) & (self.op[rows] >= 0)]
        magnitude = np.frexp(self.size[rows].astype(np.float64))[1].astype(np.int64)
        group, _ = group_rows([self.op[rows], self.group_size[rows], magnitude])
        return [self._of_size(rows[places]) for _, places in parts(group)]

    def _of_size(self, rows: Int64) -> dict[str, Any]:
        times = self._transfers(rows[self.matching.instance[rows] >= 0])
        p50 = percentiles(times, (50,))[0] if len(times) else None
        return {
            "op": self._op(rows),
            "min_bytes": int(self.size[rows].min()),
            "max_bytes": int(self.size[rows].max()),
            "count": len(rows),
            "transfer_p50_ns": p50,
            **self._bandwidth(rows, percentiles(self.size[rows], (50,))[0], p50),
        }

    def _op(self, rows: Int64) -> str | None:
        place = int(self.op[rows[0]])
        return None if place < 0 else self.ops[place]

    def _transfers(self, matched: Int64) -> Int64:
        """The transfer of each instance of the rows, where it has one."""
        times = self.matching.transfer_of_ns[np.unique(self.matching.instance[matched])]
        return np.asarray(times[times != NONE])

    def _bandwidth(self, rows: Int64, size: int | None, time_ns: int | None) -> dict[str, Any]:
        members = self._members(rows)
        message = Message(
            op=self._op(rows),
            size_bytes=size,
            members=members,
            time_ns=time_ns or int(self.duration[rows].min()),
            is_matched=time_ns is not None,
            one_host=self.one_host,
        )
        found = bandwidth_of(message, self.part, self.reference)
        busbw, expected = found.busbw_gbps, found.expected_busbw_gbps
        return {
            "group_size": members,
            "algbw_gbps": found.algbw_gbps,
            "busbw_gbps": busbw,
            "expected_busbw_gbps": expected,
            "expected_from": found.expected_from,
            "share_of_expected": busbw / expected if busbw and expected else None,
            "bandwidth_note": found.note,
            "exceeds_links": found.exceeds_links,
        }

    def _members(self, rows: Int64) -> int | None:
        """Number of members as the trace tells it, or as they were found."""
        told = int(self.group_size[rows[0]])
        if told != NONE:
            return told
        instances = self.matching.instance[rows]
        found = self.matching.members[instances[instances >= 0]]
        return int(found.max()) if len(found) else None


def costs_of(trace: Trace, across: Across) -> Costs:
    """Those of all collectives; the links are known if all GPUs are of one kind."""
    reference = None if trace.reference is None else reference_of(trace.reference)
    parts = {part_of(gpu) for gpu in trace.ranks.column("gpu").to_pylist()}
    part = parts.pop() if len(parts) == 1 else None
    op, words = codes(across.calls, "op")
    size, group_size, duration = (
        int64(across.calls, name) for name in ("bytes", "group_size", "dur_ns")
    )
    one_host = across.hosts == 1
    return Costs(across.matching, part, one_host, op, words, size, group_size, duration, reference)
