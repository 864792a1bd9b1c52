"""What a rule is: a question to a case, with thresholds, advice, and where both are from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from commscope.columns import Bool, Int64
from commscope.findings.model import Advice, Evidence, Finding, Grade, Looked, Measured, Quote

if TYPE_CHECKING:
    from commscope.findings.case import Case
    from commscope.findings.log_case import LogCase

Family = Literal["overlap", "collectives", "host", "log"]
CaseT = TypeVar("CaseT")
DraftT = TypeVar("DraftT")


@dataclass(frozen=True, slots=True)
class Limit:
    """A threshold: its default, its unit, and what it decides."""

    value: float
    unit: str
    says: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rule found in a trace, before it is weighed.

    ``claimed_ns`` is how much of each window it is about, and ``gaps`` which gaps show it (null:
    ``evidence`` does). ``rank`` is the one to look at. ``at_most`` caps the severity. ``bound_ns``
    is used instead of the bound of what is claimed. A draft that claims nothing informs.
    ``quotes`` are lines of logs that show it. ``advice`` is of what was found; without it, all that
    the rule has.
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
    quotes: tuple[Quote, ...] = ()
    advice: tuple[Advice, ...] = ()


@dataclass(frozen=True, slots=True)
class LogDraft:
    """What a rule found in the logs; nothing there tells what it costs, so it has its severity.

    ``quotes`` are the lines that show it, the most telling first. ``rank`` is the one to look at.
    ``advice`` is of what was found; without it, all that the rule has.
    """

    says: str
    severity: Grade
    quotes: tuple[Quote, ...]
    rank: int | None = None
    measured: Mapping[str, Measured] = field(default_factory=dict)
    confidence: Grade = "high"
    advice: tuple[Advice, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome(Generic[DraftT]):
    """What a rule found. ``unable`` says why it could not look, if it could not."""

    drafts: tuple[DraftT, ...] = ()
    unable: str | None = None


NOTHING: Outcome[Any] = Outcome()

#: Looks at a case with the thresholds that hold, by their names.
Look: TypeAlias = "Callable[[CaseT, Mapping[str, float]], Outcome[DraftT]]"
#: Null, or why a rule cannot look: see ``commscope.findings.needs``.
Need: TypeAlias = "Callable[[CaseT], str | None]"


@dataclass(frozen=True, slots=True)
class Rule(Generic[CaseT, DraftT]):
    """A rule of one family; ``asks`` is what it looks for, in a sentence.

    The advice goes with every finding of the rule. It looks only where the case has all that it
    needs.
    """

    id: str
    family: Family
    title: str
    asks: str
    look: Look[CaseT, DraftT]
    advice: tuple[Advice, ...] = ()
    limits: Mapping[str, Limit] = field(default_factory=dict)
    needs: tuple[Need[CaseT], ...] = ()

    def thresholds(self, given: Mapping[str, float]) -> dict[str, float]:
        """The values that hold: those given as ``RULE.NAME``, else the defaults."""
        return {
            name: given.get(f"{self.id}.{name}", limit.value) for name, limit in self.limits.items()
        }

    def unable(self, case: CaseT) -> str | None:
        """Why it cannot look at this case; null where it can."""
        reasons = (need(case) for need in self.needs)
        return next((reason for reason in reasons if reason is not None), None)

    def looked(self, found: Sequence[Finding], unable: str | None) -> Looked:
        """How it ended, with these findings or unable to look."""
        if found:
            return Looked(self.id, self.title, "found", found[0].says)
        if unable is not None:
            return Looked(self.id, self.title, "could_not_look", unable)
        return Looked(self.id, self.title, "nothing", "")


#: Looks at a trace.
TraceRule: TypeAlias = "Rule[Case, Draft]"
#: Looks at the logs of a job.
LogRule: TypeAlias = "Rule[LogCase, LogDraft]"
AnyRule: TypeAlias = "Rule[Any, Any]"
