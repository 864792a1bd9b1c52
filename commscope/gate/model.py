"""What a check comes to: one frozen model that feeds every output."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from commscope._version import __version__
from commscope.gate.quantities import Kind
from commscope.sanitize import json_text
from commscope.units import span

SCHEMA = "commscope.check/1"

Result = Literal["pass", "fail", "cannot_judge"]
Scalar = float | str | bool | None

#: What the program ends with: no code of an error (see ``commscope.errors``).
EXIT_CODES: dict[Result, int] = {"pass": 0, "fail": 10, "cannot_judge": 11}


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a baseline allows a further run, and what that rests on; all in the report's units."""

    limit: float
    centre: float  #: mean of the runs
    runs: int
    level: float  #: share of further runs of the same job that stay within
    method: str
    floored: bool  #: whether the least difference that counts set the limit, and not the noise


@dataclass(frozen=True, slots=True)
class Judged:
    """An expression, and whether the run does what it forbids."""

    expression: str
    kind: Kind
    actual: Scalar  #: of several values the worst; null where it is not known
    limit: Scalar  #: null where a baseline cannot tell it
    result: Result
    says: str
    allowed: Allowed | None = None  #: by the baseline

    def to_dict(self) -> dict[str, Any]:
        """As in JSON."""
        rest = {k: v for k, v in asdict(self).items() if k != "allowed"}
        return {**rest, "baseline": self.allowed and asdict(self.allowed)}


@dataclass(frozen=True, slots=True)
class Profiler:
    """The step with the profiler and without it."""

    profiled_step_ns: float
    unprofiled_step_ns: float
    inflation: float

    def __str__(self) -> str:
        if self.inflation < 1:
            return (
                f"the step takes {span(self.unprofiled_step_ns)} without the profiler and "
                f"{span(self.profiled_step_ns)} with it: these are not times of the same job"
            )
        return (
            f"profiling makes the step {self.inflation:.2f} times as long: the time without it "
            "is what counts"
        )


@dataclass(frozen=True, slots=True)
class Check:
    """Everything that a check found. ``watched`` never decides: it tells where to look."""

    run: str
    result: Result
    verdict: str
    gate: tuple[Judged, ...]
    watched: tuple[Judged, ...]
    baseline: tuple[str, ...]  #: its runs; empty without
    profiler: Profiler | None
    notes: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """What the program ends with."""
        return EXIT_CODES[self.result]

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract ``commscope.check/1``."""
        return {
            "schema": SCHEMA,
            "tool": {"name": "commscope", "version": __version__},
            "run": self.run,
            "result": self.result,
            "verdict": self.verdict,
            "gate": [judged.to_dict() for judged in self.gate],
            "watched": [judged.to_dict() for judged in self.watched],
            "baseline": list(self.baseline),
            "profiler": self.profiler and asdict(self.profiler),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """The contract as text: sorted keys, equal bytes for equal input."""
        return json_text(self.to_dict())
