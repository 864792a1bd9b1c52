"""The comparison: one frozen model, computed once, that feeds every output.

Times are whole ns, of the base and of the new side: means over the runs of a side, over the steps
of a run, and over its ranks, as only means add up. A difference is always new less base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from commscope.compare.statistics import Judgement, Units
from commscope.report.model import WorstStep
from commscope.sanitize import json_text

SCHEMA = "commscope.compare/1"
#: The part that is all of the step.
STEP = "step"

#: What times and counts are of: the closed steps, or the whole traces where there are none.
Unit = Literal["step", "trace"]


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One run of a side: what was given, and what of it is compared."""

    name: str  #: as it was given, without folders above it
    files: tuple[str, ...]
    trust: str  #: ok, limited or unusable
    ranks: tuple[int, ...]
    steps: tuple[int, ...]  #: numbers of those compared; empty where the whole trace is
    step_ns: int | None  #: mean over steps and ranks
    unprofiled_step_ns: int | None


@dataclass(frozen=True, slots=True)
class StepTime:
    """The mean length of a step over steps and ranks, and the median over steps."""

    base_ns: int
    new_ns: int
    base_p50_ns: int
    new_p50_ns: int

    @property
    def change_ns(self) -> int:
        """By how much the mean step grew."""
        return self.new_ns - self.base_ns

    @property
    def ratio(self) -> float | None:
        """The change as a share of the base."""
        return self.change_ns / self.base_ns if self.base_ns else None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the step (``STEP`` is all of it): null where a side cannot tell it."""

    name: str
    base_ns: int | None
    new_ns: int | None
    judgement: Judgement | None  #: null without steps on both sides

    @property
    def change_ns(self) -> int | None:
        """By how much it grew."""
        return None if self.base_ns is None or self.new_ns is None else self.new_ns - self.base_ns


@dataclass(frozen=True, slots=True)
class StepPair:
    """The n-th step that is compared of each side's first run, parts as means over ranks."""

    base_step: int | None
    new_step: int | None
    base_ns: dict[str, int] | None
    new_ns: dict[str, int] | None


@dataclass(frozen=True, slots=True)
class RankPair:
    """A rank on both sides: parts as means over its steps."""

    rank: int
    base_ns: dict[str, int] | None
    new_ns: dict[str, int] | None


@dataclass(frozen=True, slots=True)
class CausePart:
    """A piece of the change, all of one kind.

    ``detail`` is a family of kernels, a collective, why a rank was late, or why the GPU idled.
    ``rank`` is the one waited for, or whose own time it is; null: all of the rest. What is due to a
    changed number of kernels or collectives is in ``by_count_ns``, what to the time of each in
    ``by_each_ns``; null where nothing is counted. Numbers are per step and rank.
    """

    part: str
    detail: str
    rank: int | None
    base_ns: int
    new_ns: int
    base_count: float | None
    new_count: float | None
    by_count_ns: int | None
    by_each_ns: int | None

    @property
    def change_ns(self) -> int:
        """By how much it grew."""
        return self.new_ns - self.base_ns


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause of the change with all its pieces; causes add up to the change, exactly.

    ``share`` is of the change of the step time, null where that is nothing. ``base_pause_ns`` and
    ``new_pause_ns`` are of a rank that is late: the longest time at once for which its GPU idled as
    its host launched nothing.
    """

    name: str
    says: str
    rank: int | None
    base_ns: int
    new_ns: int
    share: float | None
    parts: tuple[CausePart, ...]
    base_pause_ns: int | None = None
    new_pause_ns: int | None = None

    @property
    def change_ns(self) -> int:
        """By how much it grew."""
        return self.new_ns - self.base_ns


@dataclass(frozen=True, slots=True)
class CollectiveFacts:
    """Collectives of one kind on one side; counts are per step (or trace) and rank."""

    count: float
    each_ns: int  #: mean length of the kernel
    running_ns: int  #: sum of their lengths, per step and rank
    exposed_ns: int | None  #: likewise, where no compute ran; null: withheld
    wait_ns: int | None
    transfer_p50_ns: int | None
    busbw_gbps: float | None
    bandwidth_note: str | None


@dataclass(frozen=True, slots=True)
class CollectivePair:
    """Collectives matched by what their communicator is for, operation and size."""

    group: str  #: role of the communicator, or its name where the role is not known
    op: str | None
    bytes: int | None
    base: CollectiveFacts | None  #: null: only on the other side
    new: CollectiveFacts | None


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """Kernels of one family or name on one side, per step (or trace) and rank, by launch."""

    count: float
    total_ns: int

    @property
    def each_ns(self) -> float:
        """The mean length of one."""
        return self.total_ns / self.count if self.count else 0.0


@dataclass(frozen=True, slots=True)
class KernelPair:
    """A family or kernel on both sides; null: only on the other one."""

    name: str
    family: str
    base: KernelFacts | None
    new: KernelFacts | None

    @property
    def change_ns(self) -> int:
        """By how much its time grew."""
        return (self.new.total_ns if self.new else 0) - (self.base.total_ns if self.base else 0)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something of the environment; null: that side does not tell."""

    name: str
    base: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class FindingPair:
    """What a rule found on each side; null: it found nothing there."""

    rule: str
    title: str
    base: str | None
    new: str | None
    base_bound_ns: int | None
    new_bound_ns: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that is known of two sides.

    ``causes`` is null where the change cannot be explained; ``not_compared`` says why. The worst
    steps are those of the first run of each side: see ``WorstStep``.
    """

    verdict: str
    base: tuple[ComparedRun, ...]
    new: tuple[ComparedRun, ...]
    unit: Unit
    step_time: StepTime | None
    units: Units | None  #: what significance rests on
    judged_by: str
    parts: tuple[Part, ...]
    causes: tuple[Cause, ...] | None
    steps: tuple[StepPair, ...]
    ranks: tuple[RankPair, ...]
    collectives: tuple[CollectivePair, ...]
    families: tuple[KernelPair, ...]
    kernels: tuple[KernelPair, ...] | None  #: by name; null: of other platforms, or withheld
    environment: tuple[Fact, ...]  #: only what differs
    findings: tuple[FindingPair, ...]
    not_compared: tuple[str, ...]
    base_worst: WorstStep | None
    new_worst: WorstStep | None

    @property
    def judgement(self) -> Judgement | None:
        """Of the step time; null without steps on both sides."""
        return next((part.judgement for part in self.parts if part.name == STEP), None)

    @property
    def is_significant(self) -> bool:
        """Whether the step time differs by more than noise."""
        return self.judgement is not None and self.judgement.is_significant

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract ``commscope.compare/1``."""
        from commscope.compare.json import comparison_dict  # noqa: PLC0415 - a renderer of this

        return comparison_dict(self)

    def to_json(self) -> str:
        """The contract as text: sorted keys, equal bytes for equal input."""
        return json_text(self.to_dict())

    def to_text(self, width: int = 120) -> str:
        """What ``commscope compare`` prints, without colours."""
        from commscope.compare.text import comparison_text  # noqa: PLC0415

        return comparison_text(self, width)

    def to_markdown(self) -> str:
        """The comparison as Markdown, as for a comment in a pull request."""
        from commscope.compare.markdown import comparison_markdown  # noqa: PLC0415

        return comparison_markdown(self)

    def to_html(self) -> str:
        """The comparison as one HTML file, with both timelines."""
        from commscope.compare.html import render  # noqa: PLC0415

        return render(self)

    def __str__(self) -> str:
        return self.verdict
