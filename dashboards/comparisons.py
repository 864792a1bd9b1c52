"""Comparisons of the runs that are open, each made when it is asked for first."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock

import pyarrow as pa

from commscope.analysis.result import Analysis
from commscope.compare.build import compare_runs
from commscope.compare.model import Comparison
from commscope.compare.scope import Examined
from commscope.report.model import Report

_CODEC = "zstd"


@dataclass(frozen=True, slots=True)
class PackedRun:
    """A run whose analysis is packed: a comparison alone needs it, and most are never made."""

    name: str
    report: Report
    packed: bytes
    size: int  #: of the analysis, unpacked

    @classmethod
    def of(cls, name: str, report: Report, analysis: Analysis) -> PackedRun:
        """The run, without the calls of its hosts: those are not compared one by one."""
        trace = replace(analysis.trace, host=analysis.trace.host.schema.empty_table())
        whole = pickle.dumps(replace(analysis, trace=trace), pickle.HIGHEST_PROTOCOL)
        return cls(name, report, pa.compress(whole, codec=_CODEC, asbytes=True), len(whole))

    def unpacked(self) -> Examined:
        """The run as it is compared."""
        whole = pa.decompress(self.packed, decompressed_size=self.size, codec=_CODEC)
        analysis: Analysis = pickle.loads(whole)
        return Examined(self.name, self.report, analysis)


class Comparisons:
    """Any two of several runs."""

    def __init__(self, runs: Sequence[PackedRun]) -> None:
        self._runs = tuple(runs)
        self._made: dict[tuple[int, int], Comparison] = {}
        self._lock = Lock()

    def of(self, base: int, new: int) -> Comparison:
        """The comparison of two runs by their numbers."""
        with self._lock:
            if (base, new) not in self._made:
                sides = (self._runs[number].unpacked() for number in (base, new))
                self._made[base, new] = compare_runs(*([side] for side in sides))
            return self._made[base, new]
