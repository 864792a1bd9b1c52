"""The tables of one file of results, however it is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from commscope.parsers.perf_tests.operation import by_numbers, word_in
from commscope.parsers.row_builder import RowBuilder

#: Below this a printed bandwidth has too few digits to tell anything.
_LEAST_GBPS = 1.0


@dataclass(slots=True)
class Run:
    """One run of a test: its devices and its measurements, as columns of the tables."""

    op: str | None = None  #: as its program says
    devices: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def ranks(self) -> int | None:
        """Ranks of each of its communicators.

        Programs that do not know of each other all say that they are rank 0.
        """
        first = self.devices[0].get("group") if self.devices else None
        members = {d["rank"] for d in self.devices if d.get("group") == first}
        return len(members) or None


@dataclass(frozen=True, slots=True)
class Benchmarks:
    """What a file of results holds."""

    runs: tuple[Run, ...]
    version: str | None  #: of the library, where it is said
    torn: int = 0  #: rows that could not be read

    @property
    def rows(self) -> int:
        """The number of measurements."""
        return sum(len(run.rows) for run in self.runs)

    def add_to(self, benchmarks: RowBuilder, devices: RowBuilder, label: str) -> None:
        """Adds the rows to tables of all files."""
        for run in self.runs:
            op = run.op or word_in(label.rpartition("/")[2]) or _concluded(run)
            for device in run.devices:
                devices.add(file=label, **device)
            for row in run.rows:
                benchmarks.add(file=label, op=op, ranks=run.ranks, **row)


def _concluded(run: Run) -> str | None:
    ratios = [
        row["busbw_gbps"] / row["algbw_gbps"]
        for row in run.rows
        if (row["algbw_gbps"] or 0) >= _LEAST_GBPS and row["busbw_gbps"]
    ]
    return by_numbers(
        ratios,
        run.ranks,
        reduces=_any(run.rows, "reduction"),
        rooted=_any(run.rows, "root"),
    )


def _any(rows: Iterable[dict[str, Any]], name: str) -> bool:
    return any(row[name] is not None for row in rows)
