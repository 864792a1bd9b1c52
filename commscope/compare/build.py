"""From the traces of both sides to the comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import PurePath
from statistics import median

import numpy as np

from commscope.analysis.result import analyse
from commscope.compare.environment import environment_of
from commscope.compare.explain import causes_of
from commscope.compare.means import by_rank, by_step, mean_ns, parts_known
from commscope.compare.model import (
    STEP,
    ComparedRun,
    Comparison,
    FindingPair,
    KernelPair,
    Part,
    RankPair,
    StepPair,
    StepTime,
)
from commscope.compare.scope import Examined, Scope, Sides, scopes_of
from commscope.compare.statistics import Judgement, judge, judged_by
from commscope.compare.tables import collective_pairs, kernel_pairs
from commscope.compare.verdict import cause_in_words, verdict_of
from commscope.errors import UsageError
from commscope.findings.limits import require_known
from commscope.findings.model import Finding
from commscope.findings.plugins import every_rule
from commscope.report.build import NO_LIMITS, report_of
from commscope.trace import Trace

_WINDOW = "window_ns"


def examine(name: str, trace: Trace, limits: Mapping[str, float] = NO_LIMITS) -> Examined:
    """A run ready to be compared; ``name`` is the path that was given, or any other name."""
    require_known(limits, every_rule())
    analysis = analyse(trace)
    return Examined(PurePath(name).name or name, report_of(analysis, limits=limits), analysis)


def compare_runs(base: Sequence[Examined], new: Sequence[Examined]) -> Comparison:
    """Sets new runs against those of the base; of copies of a run, one of each side counts.

    Raises UsageError where a side has no run.
    """
    if not base or not new:
        raise UsageError("comparison: each side needs a run at least")
    base, new, copies = _each_once(base, new)
    sides = scopes_of(base, new)
    known = parts_known(sides.every)
    judgements = _judgements(sides, known)
    families, kernels, kernel_notes = _kernels(sides)
    facts, environment_notes = environment_of(sides)
    step = judgements.get(STEP)
    shortest = min(len(scope.steps) for scope in sides.every)
    found = Comparison(
        verdict="",
        base=tuple(map(_compared, sides.base)),
        new=tuple(map(_compared, sides.new)),
        unit="step" if sides.has_steps else "trace",
        step_time=_step_time(sides) if sides.has_steps else None,
        units=step.units if step else None,
        judged_by=judged_by(step.units, shortest) if step else "",
        parts=_parts(sides, known, judgements),
        causes=causes_of(sides, known) if known and sides.has_steps else None,
        steps=_steps(sides, known) if sides.has_steps else (),
        ranks=_ranks(sides, known),
        collectives=collective_pairs(sides),
        families=families,
        kernels=kernels,
        environment=facts,
        findings=_findings(sides),
        not_compared=(
            *copies,
            *sides.notes,
            *_unexplained(known),
            *kernel_notes,
            *environment_notes,
        ),
        base_worst=base[0].report.worst_step,
        new_worst=new[0].report.worst_step,
    )
    return _with_words(found)


def _each_once(
    base: Sequence[Examined], new: Sequence[Examined]
) -> tuple[list[Examined], list[Examined], list[str]]:
    """Both sides without what is there twice: a copy is no other run; and what was left out."""
    notes = []
    kept: list[dict[frozenset[str] | int, Examined]] = [{}, {}]
    for runs, side in zip(kept, (base, new)):
        for run in side:
            key = run.contents or id(run)
            if key in runs:
                notes.append(f"{run.name}: holds the files of {runs[key].name}, and counts once")
            runs.setdefault(key, run)
    both = [run.name for key, run in kept[1].items() if key in kept[0]]
    notes += [f"{name}: is on both sides" for name in both]
    return list(kept[0].values()), list(kept[1].values()), notes


def _with_words(found: Comparison) -> Comparison:
    """With what its causes and the verdict say: they need all numbers."""
    if found.causes is not None:
        causes = tuple(replace(c, says=cause_in_words(c, found)) for c in found.causes)
        found = replace(found, causes=causes)
    return replace(found, verdict=verdict_of(found))


def _compared(scope: Scope) -> ComparedRun:
    run = scope.run
    return ComparedRun(
        name=run.name,
        files=tuple(file.file for file in run.report.inputs),
        trust=run.report.trust.verdict,
        ranks=scope.ranks,
        steps=scope.steps,
        step_ns=mean_ns([scope], _WINDOW) if scope.steps else None,
        unprofiled_step_ns=run.analysis.trace.unprofiled_step_ns,
    )


def _step_time(sides: Sides) -> StepTime:
    means = [mean_ns(scopes, _WINDOW) for scopes in (sides.base, sides.new)]
    medians = [
        round(median(float(np.median(by_step(scope, _WINDOW))) for scope in scopes))
        for scopes in (sides.base, sides.new)
    ]
    return StepTime(*means, *medians)


def _judgements(sides: Sides, known: Sequence[str]) -> Mapping[str, Judgement]:
    """Of the step and its parts together; of a part that no side has there is nothing to judge."""
    if not sides.has_steps:
        return {}
    series = {
        name: tuple([by_step(scope, part) for scope in of] for of in (sides.base, sides.new))
        for name, part in ((STEP, _WINDOW), *((part, part) for part in known))
    }
    return judge(
        {
            name: (base, new)
            for name, (base, new) in series.items()
            if any(run.any() for run in (*base, *new))
        }
    )


def _parts(
    sides: Sides, known: Sequence[str], judgements: Mapping[str, Judgement]
) -> tuple[Part, ...]:
    columns = ((STEP, _WINDOW), *((part, part) for part in known))
    return tuple(
        Part(name, mean_ns(sides.base, of), mean_ns(sides.new, of), judgements.get(name))
        for name, of in columns
    )


def _steps(sides: Sides, known: Sequence[str]) -> tuple[StepPair, ...]:
    """The steps of the first run of each side, in order."""
    base, new = (_of_steps(scopes[0], known) for scopes in (sides.base, sides.new))
    return tuple(
        StepPair(before[0], after[0], before[1], after[1])
        for before, after in zip_longest(base, new, fillvalue=(None, None))
    )


def _of_steps(scope: Scope, known: Sequence[str]) -> list[tuple[int, dict[str, int]]]:
    """Number and parts of each step."""
    series = {name: by_step(scope, name) for name in (_WINDOW, *known)}
    return [
        (step, {name: round(float(values[place])) for name, values in series.items()})
        for place, step in enumerate(scope.steps)
    ]


def _ranks(sides: Sides, known: Sequence[str]) -> tuple[RankPair, ...]:
    """Every rank on both sides; nothing where no rank corresponds to another."""
    if len({scope.ranks for scope in sides.every}) > 1:
        return ()
    base, new = (_by_rank(scopes, (_WINDOW, *known)) for scopes in (sides.base, sides.new))
    return tuple(map(RankPair, sides.every[0].ranks, base, new))


def _by_rank(scopes: Sequence[Scope], names: Sequence[str]) -> list[dict[str, int]]:
    """The parts of each rank."""
    columns = (by_rank(scopes, name) for name in names)
    return [dict(zip(names, of_rank)) for of_rank in zip(*columns)]


def _kernels(
    sides: Sides,
) -> tuple[tuple[KernelPair, ...], tuple[KernelPair, ...] | None, tuple[str, ...]]:
    """Families, kernels by name, and why either is not compared."""
    withheld = [scope.run.report.kernels.withheld for scope in sides.every]
    rules = sorted({rule for rule in withheld if rule})
    if rules:
        return (), None, (f"kernels: rule {', '.join(rules)} withholds them",)
    families, kernels = kernel_pairs(sides)
    if len({scope.run.report.environment.platform for scope in sides.every} - {None}) > 1:
        note = "kernels by name: the platforms differ, and with them the names; families remain"
        return families, None, (note,)
    return families, kernels, ()


def _unexplained(known: Sequence[str]) -> tuple[str, ...]:
    if not known:
        return ("parts of the step: a run cannot tell what was exposed or idle, see its report",)
    if "exposed_wait_ns" in known:
        return ()
    says = "a run cannot tell them apart, as its collectives are not matched on every rank"
    return (f"waiting and transfer: {says}",)


def _findings(sides: Sides) -> tuple[FindingPair, ...]:
    """What each rule found on either side, those of the new one first."""
    base, new = (_first_by_rule(of) for of in (sides.base, sides.new))
    rules = dict.fromkeys((*new, *base))
    return tuple(_finding_pair(rule, base.get(rule), new.get(rule)) for rule in rules)


def _first_by_rule(scopes: Sequence[Scope]) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    for scope in scopes:
        for finding in scope.run.report.findings:
            found.setdefault(finding.rule, finding)
    return found


def _finding_pair(rule: str, base: Finding | None, new: Finding | None) -> FindingPair:
    title = next(of.title for of in (new, base) if of is not None)
    return FindingPair(
        rule,
        title,
        base=base.says if base else None,
        new=new.says if new else None,
        base_bound_ns=base.bound_ns if base else None,
        new_bound_ns=new.bound_ns if new else None,
    )
