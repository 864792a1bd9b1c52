"""From runs and expressions to a check.

What decides with a baseline is the step time, and what was asked for by name; all that together may
raise a false alarm in one of a hundred checks, whatever its number: each limit gets an equal part
of that (Bonferroni), so that no limit depends on another. The parts of the step are only watched:
judged too, they would either alarm more often or find less of what costs time.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commscope.gate.fitting import Baseline, fitted
from commscope.gate.measures import GateRun
from commscope.gate.model import Check, Judged, Profiler, Result, Scalar
from commscope.gate.noise import FALSE_ALARMS, FLOOR, allowed
from commscope.gate.quantities import in_words
from commscope.gate.selection import Selected, Selection, select
from commscope.gate.syntax import Expression, FromBaseline, parse
from commscope.wording import counted, listed

STEP_TIME = "summary.step_ns.p50"
UNPROFILED = "unprofiled.step_ns"
_WATCHED = (
    *("window_ns", "compute_ns", "exposed_comm_ns", "exposed_wait_ns", "exposed_transfer_ns"),
    "idle_ns",
)
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    ">": operators.gt,
    ">=": operators.ge,
    "<": operators.lt,
    "<=": operators.le,
    "==": operators.eq,
    "!=": operators.ne,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How often all limits of noise together may alarm falsely, and what is too little to count."""

    false_alarms: float = FALSE_ALARMS
    floor: float = FLOOR


@dataclass(frozen=True, slots=True)
class _Against:
    """A baseline, and how sure each of the limits that it sets is to be."""

    baseline: Baseline
    level: float
    floor: float


_DEFAULT = Limits()


def check_run(
    run: GateRun,
    expressions: Sequence[Expression],
    given: Sequence[GateRun] = (),
    limits: Limits = _DEFAULT,
) -> Check:
    """Judges a run by expressions, and by a baseline where one is given."""
    baseline = fitted(run, given) if given else None
    wanted = [*expressions, *_implied(run, expressions, baseline)]
    gate = _judged(wanted, run, baseline, limits)
    can_watch = baseline is not None and not baseline.unfit
    watched = [parse(f"per_step.{part} > baseline") for part in _WATCHED] if can_watch else []
    result = _worst([judged.result for judged in gate])
    return Check(
        run=run.name,
        result=result,
        verdict=_verdict(result, gate),
        gate=gate,
        watched=_judged(watched, run, baseline, limits),
        baseline=tuple(other.name for other in baseline.runs) if baseline else (),
        profiler=_profiler(run),
        notes=_notes(run, baseline),
    )


def _implied(
    run: GateRun, expressions: Sequence[Expression], baseline: Baseline | None
) -> list[Expression]:
    """With a baseline the step time is judged, unless that is asked for in another way."""
    if baseline is None:
        return []
    names = [STEP_TIME, *([UNPROFILED] if _all_unprofiled(run, baseline) else [])]
    asked = {str(expression.name) for expression in expressions if expression.is_relative}
    return [parse(f"{name} > baseline") for name in names if name not in asked]


def _all_unprofiled(run: GateRun, baseline: Baseline) -> bool:
    times = [one.document["unprofiled"]["step_ns"] for one in (run, *baseline.runs)]
    return None not in times


def _judged(
    expressions: Sequence[Expression], run: GateRun, baseline: Baseline | None, limits: Limits
) -> tuple[Judged, ...]:
    """The expressions judged together: those by noise share what may be false of their alarms."""
    relative = sum(expression.is_relative for expression in expressions)
    if baseline is None or not relative:
        return tuple(_plain(expression, run.document) for expression in expressions)
    against = _Against(baseline, 1 - limits.false_alarms / relative, limits.floor)
    return tuple(
        _by_noise(of, run, against) if of.is_relative else _plain(of, run.document)
        for of in expressions
    )


def _plain(expression: Expression, document: Mapping[str, Any]) -> Judged:
    """Judges by a limit that was given."""
    limit, kind = expression.limit, expression.name.kind
    if isinstance(limit, FromBaseline):
        return _unknown(expression, None, "no baseline is given")
    found = select(expression.name, document)
    if found.missing:
        return _unknown(expression, limit, found.missing)
    if not found.values:
        return Judged(expression.text, kind, None, limit, "pass", "there is none")
    broken = [one for one in found.values if _breaks(one.value, expression, limit)]
    if not broken and any(one.value is None for one in found.values):
        return _unknown(expression, limit, _why_unknown(found, document))
    shown = _worst_of(broken or found.values, expression)
    result: Result = "fail" if broken else "pass"
    return Judged(expression.text, kind, shown.value, limit, result, _where(shown, broken, found))


def _breaks(value: Scalar, expression: Expression, limit: Scalar) -> bool:
    return value is not None and _COMPARE[expression.operator](value, limit)


def _worst_of(values: Sequence[Selected], expression: Expression) -> Selected:
    if expression.operator in ("==", "!="):
        return values[0]
    pick = max if expression.operator in (">", ">=") else min
    return pick(values, key=_as_number)


def _as_number(one: Selected) -> float:
    return one.value if isinstance(one.value, (int, float)) else 0.0


def _where(shown: Selected, broken: Sequence[Selected], found: Selection) -> str:
    if len(found.values) == 1:
        return shown.where
    return f"{shown.where}; {len(broken):,} of {len(found.values):,} do" if broken else shown.where


def _by_noise(expression: Expression, run: GateRun, against: _Against) -> Judged:
    """Judges by what the baseline allows; an expression of this kind names one value."""
    baseline, kind = against.baseline, expression.name.kind
    if baseline.unfit:
        return _unknown(expression, None, listed(baseline.unfit, most=2))
    values = [(one.name, _number(expression, one)) for one in (run, *baseline.runs)]
    if lacking := [name for name, value in values if value is None]:
        return _unknown(expression, None, f"it is not known of {listed(lacking)}")
    actual, *earlier = [value for _, value in values if value is not None]
    found = allowed(
        expression,
        earlier,
        step_ns=_mean_step_ns(baseline),
        level=against.level,
        floor=against.floor,
    )
    result: Result = "fail" if _breaks(actual, expression, found.limit) else "pass"
    says = f"{_change(actual, found.centre)} of the mean of {found.runs} runs, "
    says += in_words(found.centre, kind)
    return Judged(expression.text, kind, actual, found.limit, result, says, found)


def _mean_step_ns(baseline: Baseline) -> float:
    steps: list[int] = [one.document["summary"]["step_ns"]["p50"] for one in baseline.runs]
    return sum(steps) / len(steps)


def _change(actual: float, centre: float) -> str:
    return f"{actual / centre - 1:+.1%}" if centre else f"{actual:+,.0f}"


def _number(expression: Expression, run: GateRun) -> float | None:
    values = select(expression.name, run.document).values
    value = values[0].value if len(values) == 1 else None
    return float(value) if isinstance(value, (int, float)) else None


def _unknown(expression: Expression, limit: Scalar, says: str) -> Judged:
    return Judged(expression.text, expression.name.kind, None, limit, "cannot_judge", says)


def _why_unknown(found: Selection, document: Mapping[str, Any]) -> str:
    nulls = sum(one.value is None for one in found.values)
    of = f"{nulls:,} of {len(found.values):,} values are" if len(found.values) > 1 else "it is"
    rules = [
        c["rule"] for c in document["trust"]["checks"] if c["result"] == "fail" and c["withheld"]
    ]
    why = f" (rule {listed(rules)} withholds numbers)" if rules else ""
    return f"{of} not known{why}"


def _worst(results: Sequence[Result]) -> Result:
    if "fail" in results:
        return "fail"
    return "cannot_judge" if "cannot_judge" in results else "pass"


def _verdict(result: Result, gate: Sequence[Judged]) -> str:
    if result == "pass":
        return f"pass: {counted(len(gate), 'limit')} kept"
    of = [judged for judged in gate if judged.result == result]
    first = of[0]
    more = f" (and {len(of) - 1:,} more)" if len(of) > 1 else ""
    if result == "cannot_judge":
        return f"cannot judge: {first.expression}: {first.says}{more}"
    actual, limit = (in_words(value, first.kind) for value in (first.actual, first.limit))
    return f"fail: {first.expression}: {actual}, the limit is {limit}{more}"


def _profiler(run: GateRun) -> Profiler | None:
    unprofiled, inflation = (run.document["unprofiled"][name] for name in ("step_ns", "inflation"))
    if inflation is None:
        return None
    return Profiler(run.document["summary"]["step_ns"]["p50"], unprofiled, inflation)


def _notes(run: GateRun, baseline: Baseline | None) -> tuple[str, ...]:
    if baseline is None:
        return ()
    is_told = run.document["unprofiled"]["step_ns"] is not None
    if not is_told or _all_unprofiled(run, baseline):
        return baseline.notes
    says = (
        "the step time without the profiler is not judged, as not every run of the baseline has "
        "one; save them with --unprofiled-step-ms"
    )
    return (*baseline.notes, says)
