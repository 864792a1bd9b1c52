"""The bandwidth to expect of this very machine, from measurements of nccl-tests or rccl-tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from commscope.analysis.factors import bus_factor
from commscope.units import size

_Float64 = npt.NDArray[np.float64]
_Key = tuple[str, int, int]

#: Operations in which each rank passes on to the next what it got.
_RINGS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")
_END = {False: "smallest size measured", True: "largest size measured"}


@dataclass(frozen=True, slots=True)
class Expected:
    """A bandwidth to expect, and what it is from; it is null where nothing tells it."""

    busbw_gbps: float | None
    source: str | None


@dataclass(frozen=True, slots=True)
class Curve:
    """Bandwidth by size of one operation on one number of ranks; sizes ascend, none is twice."""

    log_bytes: _Float64
    log_gbps: _Float64

    def at(self, size_bytes: int) -> float:
        """Between measured sizes along a straight line of logarithms.

        Larger messages get the bandwidth of the largest one, smaller ones take as long as the
        smallest one.
        """
        wanted = float(np.log(size_bytes))
        gbps = float(np.exp(np.interp(wanted, self.log_bytes, self.log_gbps)))
        return gbps * float(np.exp(min(0.0, wanted - self.log_bytes[0])))

    @property
    def largest(self) -> int:
        """The largest measured size."""
        return round(float(np.exp(self.log_bytes[-1])))

    def beyond(self, size_bytes: int) -> str | None:
        """The measured size that stands for one outside; null for one inside."""
        low, high = (round(float(np.exp(end))) for end in self.log_bytes[[0, -1]])
        if low <= size_bytes <= high:
            return None
        return size(low if size_bytes < low else high)


@dataclass(frozen=True, slots=True)
class Reference:
    """Measurements of a machine: a curve for each operation and number of ranks."""

    name: str
    curves: Mapping[tuple[str, int], Curve]

    def expected_busbw(self, op: str, ranks: int, size_bytes: int) -> Expected:
        """The bus bandwidth of a message.

        Of an operation that was not measured it is that of another one of the same pattern, as bus
        bandwidths compare; null where there is none on so many ranks.
        """
        measured = next((it for it in _likened(op) if (it, ranks) in self.curves), None)
        if measured is None or size_bytes <= 0:
            return Expected(None, None)
        curve = self.curves[measured, ranks]
        end = curve.beyond(size_bytes)
        notes = (
            *([] if measured in (op, "send") else [f"of {measured}"]),
            *([] if end is None else [f"of {end}, the {_END[size_bytes > curve.largest]}"]),
        )
        return Expected(curve.at(size_bytes), " ".join([self.name, *notes]))


def reference_of(measured: pa.Table) -> Reference | None:
    """The curves in a table BENCHMARKS; null where no measurement is of use.

    Rows out of place stand before those in place; of several of one size the median counts. The
    bandwidth is worked out from the time, as printed it has few digits for small messages.
    """
    halves: dict[_Key, dict[bool, list[float]]] = {}
    rows = measured.to_pylist()
    for row in rows:
        gbps = _busbw(row)
        if gbps:
            key = (row["op"], row["ranks"], row["bytes"])
            halves.setdefault(key, {}).setdefault(row["in_place"], []).append(gbps)
    sizes: defaultdict[tuple[str, int], dict[int, float]] = defaultdict(dict)
    for (op, ranks, size_bytes), half in halves.items():
        sizes[op, ranks][size_bytes] = float(np.median(half.get(False) or half[True]))
    names = dict.fromkeys(row["file"].rpartition("/")[2] for row in rows)
    curves = {key: _curve(gbps) for key, gbps in sizes.items()}
    return Reference(", ".join(names), curves) if curves else None


def _busbw(row: dict[str, Any]) -> float:
    """The bus bandwidth of a row of BENCHMARKS; 0 where it tells none."""
    factor = bus_factor(row["op"], row["ranks"] or 0)
    time = row["time_us"]
    return row["bytes"] / time / 1e3 * factor if factor and time and time > 0 else 0.0


def _curve(gbps: Mapping[int, float]) -> Curve:
    ordered = sorted(gbps)
    values = [gbps[size_bytes] for size_bytes in ordered]
    return Curve(np.log(np.array(ordered, np.float64)), np.log(np.array(values)))


def _likened(op: str) -> tuple[str, ...]:
    """An operation and those whose bus bandwidth may stand for its own, the closest first."""
    if op in _RINGS:
        return (op, *_RINGS)
    return ("send",) if op == "recv" else (op,)
