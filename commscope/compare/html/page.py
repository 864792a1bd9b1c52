"""From the comparison to the page: views are made here, the templates only place them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from commscope.compare.html.bars import change_bars, part_bars
from commscope.compare.html.tables import (
    causes_table,
    collectives_table,
    environment_table,
    kernel_tables,
    parts_table,
    ranks_table,
    runs_table,
    steps_table,
)
from commscope.compare.model import ComparedRun, Comparison, FindingPair
from commscope.report.html.document import document, sentences
from commscope.report.html.step_picture import StepPicture, step_picture
from commscope.report.html.tables import present
from commscope.report.model import WorstStep
from commscope.sanitize import shortened
from commscope.units import span
from commscope.wording import counted, listed

_PACKAGE = "commscope.compare.html"
_MOST_NAME = 40
_MOST_FINDINGS = 40
_MOST_TEXT = 1_000
#: Which sides have a finding, and the class of the style sheet.
_MARKS = (("only new", "high"), ("only base", "ok"), ("both", "low"))
_TRUST = ("ok", "limited", "unusable")
#: How each outcome of the test is headed, and the class of the style sheet.
_OUTCOMES = {
    "significant": ("More than noise", "ok"),
    "not_significant": ("Not more than noise", "low"),
    "cannot_judge": ("Cannot judge", "limited"),
}


@dataclass(frozen=True, slots=True)
class FindingText:
    """What a rule found on either side, and which has it (``mark``)."""

    anchor: str
    rule: str
    title: str
    mark: str
    severity: str  #: class of the style sheet
    says: tuple[tuple[str, str, str], ...]  #: side, text, and what it can win at most


def render(found: Comparison, *, title: str | None = None) -> str:
    """The comparison as one HTML file that needs nothing from outside, equal for equal input.

    ``title`` heads the page; the names of both sides by default.
    """
    views = {**_head(found), **_pictures(found), **_tables(found)}
    return document("compare.html", title or _title(found), views, package=_PACKAGE)


def _title(found: Comparison) -> str:
    return f"From {_names(found.base)} to {_names(found.new)}"


def _names(runs: Sequence[ComparedRun]) -> str:
    return listed([shortened(run.name, _MOST_NAME) for run in runs], 1)


def _head(found: Comparison) -> dict[str, Any]:
    return {
        "about": _about(found),
        "verdict": sentences(found.verdict),
        "outcome": outcome(found),
        "judged_by": found.judged_by,
        "trust": trust(found),
        "findings": findings(found),
        "findings_left_out": max(len(found.findings) - _MOST_FINDINGS, 0),
        "not_compared": [_sentence(note) for note in found.not_compared],
    }


def _about(found: Comparison) -> list[str]:
    ranks = [counted(len(side[0].ranks), "rank") for side in (found.base, found.new)]
    told = [" and ".join(dict.fromkeys(ranks))]
    if found.units is not None:
        told.append(str(found.units))
    return told


def outcome(found: Comparison) -> tuple[str, str] | None:
    """Whether the step differs by more than noise; null where that is not asked."""
    return None if found.judgement is None else _OUTCOMES[found.judgement.verdict]


def trust(found: Comparison) -> tuple[str, str]:
    """The worst of all runs, and which runs have it."""
    runs = (*found.base, *found.new)
    worst = max((run.trust for run in runs), key=_TRUST.index)
    if worst == "ok":
        return worst, "all runs."
    names = listed([shortened(run.name, _MOST_NAME) for run in runs if run.trust == worst])
    return worst, f"{names}; see the report of the run."


def findings(found: Comparison) -> list[FindingText]:
    """What only the new side has first, then what is gone; of each what can win most."""
    ordered = sorted(
        found.findings, key=lambda pair: (_MARKS.index(_mark(pair)), -_most_to_win(pair))
    )
    unit = " a step" if found.steps else ""
    return [_finding(pair, at, unit) for at, pair in enumerate(ordered[:_MOST_FINDINGS], start=1)]


def _mark(pair: FindingPair) -> tuple[str, str]:
    return _MARKS[0 if pair.base is None else 1 if pair.new is None else 2]


def _most_to_win(pair: FindingPair) -> int:
    return max(pair.base_bound_ns or 0, pair.new_bound_ns or 0)


def _finding(pair: FindingPair, place: int, unit: str) -> FindingText:
    mark, severity = _mark(pair)
    sides = (("Base", pair.base, pair.base_bound_ns), ("New", pair.new, pair.new_bound_ns))
    return FindingText(
        anchor=f"finding-{place}",
        rule=pair.rule,
        title=shortened(pair.title, 120),
        mark=mark,
        severity=severity,
        says=tuple(
            (side, _sentence(says), f"At most {span(bound)}{unit} to win." if bound else "")
            for side, says, bound in sides
            if says
        ),
    )


def _sentence(text: str) -> str:
    says = shortened(text, _MOST_TEXT)
    return says[:1].upper() + says[1:] + ("" if says.endswith(".") else ".")


def _pictures(found: Comparison) -> dict[str, Any]:
    return {
        "parts": part_bars(found),
        "changes": change_bars(found),
        "timelines": timelines(found),
    }


def timelines(found: Comparison) -> list[StepPicture]:
    """The worst step of each side that has one, all to the same scale."""
    sides = (("base", found.base_worst, found.base), ("new", found.new_worst, found.new))
    there = [(name, worst, runs[0].name) for name, worst, runs in sides if worst is not None]
    length = max((worst.end_ns - worst.start_ns for _, worst, _ in there), default=0)
    return [_timeline(name, worst, run, length) for name, worst, run in there]


def _timeline(name: str, worst: WorstStep, run: str, length_ns: int) -> StepPicture:
    drawn = step_picture(worst, name=name, length_ns=length_ns)
    what = "the whole trace" if worst.step is None else f"step {worst.step}"
    title = f"{name.capitalize()}: {what} of {shortened(run, _MOST_NAME)}"
    numbers = drawn.numbers and replace(drawn.numbers, caption=f"{name.capitalize()} in numbers")
    return replace(drawn, title=title, numbers=numbers)


def _tables(found: Comparison) -> dict[str, Any]:
    return {
        "parts_table": parts_table(found),
        "causes_table": causes_table(found),
        "run_tables": present(steps_table(found), ranks_table(found)),
        "collectives": collectives_table(found),
        "kernel_tables": kernel_tables(found),
        "environment_tables": present(runs_table(found), environment_table(found)),
    }
