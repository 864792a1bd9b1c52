"""What a grade is made of: rows that hold one number or word each against its truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from commscope._version import __version__

SCHEMA = "commscope.grade/1"

Result = Literal["pass", "fail", "not_told"]
Suspect = Literal["truth", "profiler", "fabric", "commscope"]
Unit = Literal["ns", "count", "ppm", "words"]
Value = int | float | str | None

#: Every check, in the order of causes: what fails first explains what fails behind it.
CHECKS = (
    "run",
    "truth file",
    "truth adds up",
    "trace",
    "steps",
    "clock",
    "drift",
    "kernel times",
    "compute kernels",
    "collectives",
    "copies",
    "order",
    "sizes",
    "collective times",
    "compute",
    "communication",
    "hidden comm",
    "exposed comm",
    "exposed wait",
    "exposed copy",
    "idle",
    "window",
    "waits",
    "stragglers",
    "causes",
)
#: What is asked of truth files alone, or of traces only whether they are there.
_OF_TRUTH = ("run", "truth file", "truth adds up", "trace")
EXIT_CODES: dict[Literal["pass", "fail"], int] = {"pass": 0, "fail": 10}


class Place(NamedTuple):
    """Where something is held against its truth; null: on all ranks, or in all steps.

    ``what`` tells apart what one check compares.
    """

    rank: int | None = None
    step: int | None = None
    what: str = ""


class Numbers(NamedTuple):
    """The truth, what was found, and how far apart they may be."""

    truth: Value
    found: Value
    tolerance: float = 0
    unit: Unit = "ns"

    @property
    def deviation(self) -> float | None:
        """What was found less the truth; null for words, and where either is not known."""
        if isinstance(self.truth, (int, float)) and isinstance(self.found, (int, float)):
            return self.found - self.truth
        return None

    @property
    def agree(self) -> bool:
        """Whether they are as near to each other as they may be."""
        deviation = self.deviation
        return self.truth == self.found if deviation is None else abs(deviation) <= self.tolerance


class Blame(NamedTuple):
    """Who is to be looked at where it fails, and what that means."""

    suspect: Suspect
    says: str


@dataclass(frozen=True, slots=True)
class Row:
    """One number or word against its truth; ``says`` and ``suspect`` only where it failed.

    Of what the trace does not tell, ``says`` is why that is so.
    """

    check: str
    place: Place
    numbers: Numbers
    result: Result
    says: str = ""
    suspect: Suspect | None = None

    def to_dict(self) -> dict[str, Any]:
        """As in JSON."""
        return {
            "check": self.check,
            **self.place._asdict(),
            **self.numbers._asdict(),
            "deviation": self.numbers.deviation,
            "result": self.result,
            "says": self.says,
            "suspect": self.suspect,
        }


def held(check: str, place: Place, numbers: Numbers, blame: Blame) -> Row:
    """A row that passes where the numbers agree, and blames somebody where they do not."""
    if numbers.agree:
        return Row(check, place, numbers, "pass")
    return Row(check, place, numbers, "fail", blame.says, blame.suspect)


def failed(check: str, place: Place, blame: Blame) -> Row:
    """A row for what is wrong as such."""
    return Row(check, place, Numbers(None, None, unit="words"), "fail", blame.says, blame.suspect)


def not_told(check: str, place: Place, says: str) -> Row:
    """A row for what cannot be held against the truth, which is no failure."""
    return Row(check, place, Numbers(None, None, unit="words"), "not_told", says)


@dataclass(frozen=True, slots=True)
class Tally:
    """How the rows of one check ended."""

    check: str
    passed: int
    failed: int
    not_told: int

    @property
    def result(self) -> Result:
        """A single row that fails is enough."""
        if self.failed:
            return "fail"
        return "pass" if self.passed else "not_told"


@dataclass(frozen=True, slots=True)
class Grade:
    """A run held against its truth; ``rows`` are in the order of ``CHECKS``."""

    run: str
    scenario: str | None
    engine: str | None
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def result(self) -> Literal["pass", "fail"]:
        """Passed if nothing failed, and something of the traces was compared."""
        if self.failures:
            return "fail"
        compared = (row.check not in _OF_TRUTH for row in self.rows if row.result == "pass")
        return "pass" if any(compared) else "fail"

    @property
    def tallies(self) -> list[Tally]:
        """Every check that was made, in order."""
        counted = []
        for check in CHECKS:
            ends = [row.result for row in self.rows if row.check == check]
            if ends:
                counts = (ends.count("pass"), ends.count("fail"), ends.count("not_told"))
                counted.append(Tally(check, *counts))
        return counted

    @property
    def failures(self) -> list[Row]:
        """The rows that failed."""
        return [row for row in self.rows if row.result == "fail"]

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract ``commscope.grade/1`` of one run."""
        return {
            "run": self.run,
            "scenario": self.scenario,
            "engine": self.engine,
            "result": self.result,
            "verdict": verdict(self),
            "checks": [asdict(tally) | {"result": tally.result} for tally in self.tallies],
            "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
        }


_WHO: dict[Suspect, str] = {
    "truth": "what the job says of itself",
    "profiler": "the profiler",
    "fabric": "the fabric",
    "commscope": "commscope",
}


def verdict(grade: Grade) -> str:
    """What a grade comes to, in a sentence; of what failed, the first explains the most."""
    compared = [row for row in grade.rows if row.result != "not_told"]
    if grade.result == "pass":
        return f"passed: {len(compared):,} comparisons with the truth, all within their tolerances"
    if not grade.failures:
        return "failed: the traces tell nothing that could be compared with the truth"
    first = grade.failures[0]
    return (
        f"failed: {len(grade.failures):,} of {len(compared):,} comparisons; look first at "
        f"{_WHO[first.suspect or 'commscope']}: {sentence(first)}"
    )


def sentence(row: Row) -> str:
    """What is wrong, where."""
    where = place_in_words(row.place)
    return f"{row.check}{where and f' ({where})'}: {row.says}"


def place_in_words(place: Place) -> str:
    """``idle of rank 1, step 3``; empty for all of them."""
    names = (("rank", place.rank), ("step", place.step))
    where = ", ".join(f"{name} {number}" for name, number in names if number is not None)
    return f"{place.what} of {where}" if place.what and where else place.what or where


def in_order(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows in the order of ``CHECKS``; of one check in the order in which they come."""
    return tuple(sorted(rows, key=lambda row: CHECKS.index(row.check)))


def exit_code(grades: Sequence[Grade]) -> int:
    """What the program ends with: all have to pass."""
    return EXIT_CODES["fail" if any(grade.result == "fail" for grade in grades) else "pass"]


def grades_dict(grades: Sequence[Grade]) -> dict[str, Any]:
    """The JSON contract ``commscope.grade/1``."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "commscope", "version": __version__},
        "result": "fail" if exit_code(grades) else "pass",
        "runs": [grade.to_dict() for grade in grades],
    }
