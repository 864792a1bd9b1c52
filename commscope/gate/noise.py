"""The limit that the noise between the runs of a baseline sets."""

from __future__ import annotations

from collections.abc import Sequence

from commscope.compare.noise_band import noise_band
from commscope.gate.model import Allowed
from commscope.gate.quantities import is_share
from commscope.gate.syntax import Expression, FromBaseline

#: How often a check that has nothing to find may fail all the same, all its limits together. Runs
#: are not quite normal, so that what is aimed at is less than the 5 % that may be reached; and a
#: gate is asked at every push.
FALSE_ALARMS = 0.01
#: A difference of less than this part of a step is nothing to stop anybody for.
FLOOR = 0.02
#: Nor is one that the program does not tell apart elsewhere either.
LEAST_NS = 25_000.0

METHODS = {
    "order_statistics": "the extremes of the runs",
    "student_t": "Student's t, as if runs differed normally",
}


def allowed(
    expression: Expression,
    values: Sequence[float],
    *,
    step_ns: float,
    level: float,
    floor: float,
) -> Allowed:
    """What a further run may have of what five or more runs had.

    The limit is where the noise ends, and at least the margin of the expression (without one, the
    floor) away from the mean of the runs. ``step_ns`` is how long their steps take.
    """
    upward = expression.operator in (">", ">=")
    band = noise_band(values, level=level, side="upper" if upward else "lower")
    bound = band.high if upward else band.low
    centre = sum(values) / len(values)
    least = _margin(expression, centre, step_ns, floor)
    floor_at = centre + least if upward else centre - least
    limit = floor_at if bound is None else (max if upward else min)(bound, floor_at)
    return Allowed(limit, centre, band.runs, level, METHODS[band.method], limit == floor_at)


def _margin(expression: Expression, centre: float, step_ns: float, floor: float) -> float:
    limit, name = expression.limit, expression.name
    if isinstance(limit, FromBaseline) and limit.ratio is not None:
        return limit.ratio * abs(centre)
    if isinstance(limit, FromBaseline) and limit.amount is not None:
        return limit.amount
    if name.kind == "time":
        # A part of the step that doubles from nearly nothing is nearly nothing still.
        return max(floor * step_ns, LEAST_NS)
    return floor if is_share(name.keys) else floor * abs(centre)
