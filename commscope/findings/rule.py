"""What a rule is: a question to a trace, with thresholds, advice, and where both are from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from commscope.columns import Bool, Int64
from commscope.findings.model import Advice, Evidence, Grade, Measured

if TYPE_CHECKING:
    from commscope.findings.case import Case

Family = Literal["overlap", "collectives", "host"]


@dataclass(frozen=True, slots=True)
class Limit:
    """A threshold: its default, its unit, and what it decides."""

    value: float
    unit: str
    says: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rule found, before it is weighed.

    ``claimed_ns`` is how much of each window it is about, and ``gaps`` which gaps show it (null:
    ``evidence`` does). ``rank`` is the one to look at. ``at_most`` caps the severity. ``bound_ns``
    is used instead of the bound of what is claimed. A draft that claims nothing informs.
    """

    says: str
    claimed_ns: Int64
    gaps: Bool | None = None
    evidence: tuple[Evidence, ...] = ()
    rank: int | None = None
    measured: Mapping[str, Measured] = field(default_factory=dict)
    at_most: Grade = "high"
    confidence: Grade = "high"
    bound_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rule found. ``unable`` says why it could not look, if it could not."""

    drafts: tuple[Draft, ...] = ()
    unable: str | None = None


NOTHING = Outcome()

#: Looks at a case with the thresholds that hold, by their names.
Look = Callable[["Case", Mapping[str, float]], Outcome]
#: Null, or why a rule cannot look: see ``commscope.findings.needs``.
Need = Callable[["Case"], "str | None"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of one family; ``asks`` is what it looks for, in a sentence.

    The advice goes with every finding of the rule. It looks only where the trace has all that it
    needs.
    """

    id: str
    family: Family
    title: str
    asks: str
    look: Look
    advice: tuple[Advice, ...] = ()
    limits: Mapping[str, Limit] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()

    def thresholds(self, given: Mapping[str, float]) -> dict[str, float]:
        """The values that hold: those given as ``RULE.NAME``, else the defaults."""
        return {
            name: given.get(f"{self.id}.{name}", limit.value) for name, limit in self.limits.items()
        }
