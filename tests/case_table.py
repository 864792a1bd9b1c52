"""The table of all verified figures that ends a test run: ours beside the verified ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field
from typing import Any

HEADER = (
    "ours in us, %, ms or pieces (less the verified figure, = where equal); behind a |, what ours "
    "is more than a figure made by another definition, which is the reason"
)
_SHORT = {"communication": "comm", "kernel_union": "kernels busy", "communication_kernels": "comms"}


@dataclass(frozen=True)
class Row:
    """One figure of one file: ns, percent, ms or a count."""

    figure: str
    ours: float
    verified: float
    definition: str

    @property
    def name(self) -> str:
        """The figure, short."""
        name = self.figure.removesuffix("_ns").removesuffix("_comm").removesuffix("_percent")
        return " ".join(_SHORT.get(word, word) for word in name.split())

    def difference(self, digits: int) -> str:
        """By how much ours is more, as shown."""
        scaled = (self.ours - self.verified) / self._scale
        return "=" if round(scaled, digits) == 0 else f"{scaled:+.{digits}f}"

    @property
    def value(self) -> str:
        """Ours, as shown."""
        is_count = isinstance(self.ours, int) and self._scale == 1
        return f"{self.ours}" if is_count else f"{self.ours / self._scale:.3f}"

    @property
    def _scale(self) -> int:
        return 1000 if self.figure.endswith("_ns") else 1


@dataclass
class CaseTable:
    """Collects rows while the tests run."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    withheld: Counter[str] = field(default_factory=Counter)
    tables: list[str] = field(default_factory=list)  #: of jobs with known answers

    def note(self, table: str) -> None:
        """A table that is shown as it is."""
        self.tables.append(table)

    def add(self, file: str, row: Row) -> None:
        """One more figure of a file."""
        self.rows.setdefault(file, []).append(row)

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain lists and dictionaries."""
        rows = {file: [astuple(row) for row in rows] for file, rows in self.rows.items()}
        return {"rows": rows, "withheld": dict(self.withheld), "tables": self.tables}

    def take(self, other: dict[str, Any]) -> None:
        """Adds what another process collected."""
        for file, rows in other["rows"].items():
            self.rows.setdefault(file, []).extend(Row(*row) for row in rows)
        self.withheld.update(other["withheld"])
        self.tables += other["tables"]

    def lines(self) -> Iterator[str]:
        """One line a file."""
        for file, rows in sorted(self.rows.items()):
            parts = [file.removesuffix(".json.gz")]
            parts += [f"{one.name} {one.value} ({one.difference(3)})" for one in _ours(rows)]
            yield "  ".join([*parts, *_others(rows)])
        for path, count in sorted(self.withheld.items()):
            yield f"{path}  {count} numbers withheld, as its trust section says"


def _ours(rows: list[Row]) -> list[Row]:
    return [one for one in rows if one.definition == "commscope"]


def _others(rows: list[Row]) -> Iterator[str]:
    for name in sorted({one.definition for one in rows} - {"commscope"}):
        theirs = (f"{one.name} {one.difference(1)}" for one in rows if one.definition == name)
        yield f"| {name}: {', '.join(theirs)}"
