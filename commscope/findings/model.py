"""What rules give: checks of trust, findings, and how each looked."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from commscope.columns import NONE

Grade = Literal["high", "medium", "low"]
#: The gravest first.
SEVERITIES: tuple[Grade, ...] = ("high", "medium", "low")


class Result(str, Enum):
    """How a check ended."""

    PASS = "pass"
    FAIL = "fail"
    NOT_CHECKED = "not_checked"


class Metric(str, Enum):
    """Groups of numbers that a failed check can withhold."""

    OVERLAP = "overlap"  #: hidden and exposed communication, exposed copies, overlap ratio
    IDLE = "idle"
    RANKINGS = "rankings"  #: kernels and families by time
    LAUNCH = "launch"  #: queue delay and depth, launch-bound share, host pauses


#: As the step of what is withheld: the rank's partition over the whole trace, but not its steps.
WHOLE = -1
#: As the step of what is withheld: what belongs to no step. A null step reads as this.
OUTSIDE = NONE


@dataclass(frozen=True, slots=True)
class Withheld:
    """Numbers that the trace cannot support.

    Of one rank (null: all), and of one step of it, of what is in no step (``OUTSIDE``), of its
    whole trace only (``WHOLE``), or of all of these (null).
    """

    metric: Metric
    rank: int | None = None
    step: int | None = None

    def __str__(self) -> str:
        where = "" if self.rank is None else f" of rank {self.rank}"
        if self.step == WHOLE:
            return f"{self.metric.value}{where} over the whole trace"
        if self.step == OUTSIDE:
            return f"{self.metric.value}{where} outside the steps"
        return f"{self.metric.value}{where}" + ("" if self.step is None else f" step {self.step}")


@dataclass(frozen=True, slots=True)
class Check:
    """One rule of trust on one trace. A failed check that withholds nothing informs."""

    rule: str
    title: str
    result: Result
    says: str
    withheld: tuple[Withheld, ...] = ()


@dataclass(frozen=True, slots=True)
class Trust:
    """All checks, and what they come to: ok, limited or unusable."""

    verdict: Literal["ok", "limited", "unusable"]
    checks: tuple[Check, ...]

    def withheld(self, metric: Metric) -> list[Withheld]:
        """Where numbers of a group must not be shown."""
        return [w for check in self.checks for w in check.withheld if w.metric == metric]


@dataclass(frozen=True, slots=True)
class Measured:
    """A number with its unit: ns, bytes, gbps, ratio or count."""

    value: float | int
    unit: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where in the trace a finding can be seen; times on the rank's clock."""

    rank: int
    step: int | None
    t0_ns: int
    t1_ns: int


@dataclass(frozen=True, slots=True)
class Quote:
    """A line of a log. Its text is null until it was looked up, and where it cannot be."""

    file: str
    line: int  #: from 1
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do, why it helps, and where that is known from."""

    do: str
    why: str
    source: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something worth knowing, with what it rests on and what to do.

    ``bound_ns`` is how much shorter the median step would be without it, at most; null for what
    costs no time itself, such as a failed check of trust.
    """

    id: str
    rule: str
    severity: Grade
    confidence: Grade
    title: str
    says: str
    measured: dict[str, Measured] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    bound_ns: int | None = None
    rank: int | None = None  #: the one to look at
    quotes: tuple[Quote, ...] = ()
    advice: tuple[Advice, ...] = ()


@dataclass(frozen=True, slots=True)
class Looked:
    """How a rule ended: it found something, looked and found nothing, or could not look."""

    rule: str
    title: str
    result: Literal["found", "nothing", "could_not_look"]
    says: str  #: the first finding, or why it could not look; empty for nothing
