"""What one profile holds, however it is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from commscope.parsers.row_builder import RowBuilder


@dataclass(slots=True)
class Counted:
    """A kernel: how often it ran, how long, and the mean of each counter of a dispatch."""

    name: str
    dispatches: int
    timed: int = 0
    total_ns: float | None = None
    median_ns: float | None = None
    counters: dict[str, float] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)  #: of metrics only


@dataclass(frozen=True, slots=True)
class Peak:
    """What a benchmark of the device measured."""

    device: str | None
    roof: str
    peak: float
    unit: str


@dataclass(slots=True)
class Profile:
    """A profile: columns of WORKLOADS, kernels, peaks, and what could not be read."""

    file: str
    facts: dict[str, Any] = field(default_factory=dict)
    kernels: list[Counted] = field(default_factory=list)
    peaks: list[Peak] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    without_peaks: str = ""  #: what is to be said where no peaks of its GPU are found elsewhere

    def add_to(self, tables: dict[str, RowBuilder]) -> None:
        """Adds the rows to the tables of all profiles (``commscope.counter_schema``)."""
        workload = len(tables["WORKLOADS"])
        tables["WORKLOADS"].add(file=self.file, **self.facts)
        for peak in self.peaks:
            tables["ROOFLINES"].add(
                workload=workload,
                device=peak.device,
                roof=peak.roof,
                peak=peak.peak,
                unit=peak.unit,
            )
        for kernel in self.kernels:
            self._add_kernel(tables, workload, kernel)

    @staticmethod
    def _add_kernel(tables: dict[str, RowBuilder], workload: int, kernel: Counted) -> None:
        row = len(tables["COUNTED_KERNELS"])
        tables["COUNTED_KERNELS"].add(
            workload=workload,
            kernel=kernel.name,
            dispatches=kernel.dispatches,
            timed=kernel.timed,
            total_ns=kernel.total_ns,
            median_ns=kernel.median_ns,
        )
        for name, value in kernel.counters.items():
            unit = kernel.units.get(name)
            tables["COUNTERS"].add(kernel=row, counter=name, value=value, unit=unit)
