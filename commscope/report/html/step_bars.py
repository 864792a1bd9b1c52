"""The steps as bars and as a map of ranks: at most 400 of them, side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from commscope.report.html.axis import Tick, name_ticks, time_ticks
from commscope.report.model import Report
from commscope.units import percent, span

MOST_BARS = 400
_HEIGHT = 1000
_WIDE, _GAP = 10, 1
#: Class of the style sheet, column, and name of each part, the lowest first.
PARTS = (
    ("compute", "compute_ns", "compute"),
    ("exposed", "exposed_comm_ns", "exposed communication"),
    ("copy", "exposed_copy_ns", "exposed copy"),
    ("idle", "idle_ns", "idle"),
)
Rows = Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step, on all of its ranks."""

    step: int
    is_open: bool
    rows: Rows

    @property
    def window_ns(self) -> float:
        """Mean length over the ranks."""
        return mean_of(self.rows, "window_ns")


@dataclass(frozen=True, slots=True)
class Bars:
    """A picture of bars: paths by class, hover texts, and the ticks of both axes."""

    width: int
    height: int
    count: int
    paths: tuple[tuple[str, str], ...]
    hover: tuple[tuple[int, str], ...]
    times: tuple[Tick, ...]
    steps: tuple[Tick, ...]
    says: str
    note: str


def shown_steps(report: Report) -> list[ShownStep]:
    """What the pictures have room for: of each few steps in a row, the longest."""
    of_step: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in report.steps:
        if row["window_ns"] is not None:
            of_step[row["step"]].append(row)
    every = [
        ShownStep(step, any(row["open"] for row in rows), rows)
        for step, rows in sorted(of_step.items())
    ]
    size = in_a_bar(len(every))
    groups = (every[start : start + size] for start in range(0, len(every), size))
    return [max(group, key=lambda column: column.window_ns) for group in groups]


def in_a_bar(steps: int) -> int:
    """How many steps share a bar."""
    return max(-(-steps // MOST_BARS), 1)


def bars(report: Report, shown: Sequence[ShownStep]) -> Bars | None:
    """The steps by length and parts, each the mean over its ranks; null without steps."""
    if report.summary.step_source == "whole_trace" or not shown:
        return None
    longest = int(max(column.window_ns for column in shown))
    return Bars(
        width=_WIDE * len(shown),
        height=_HEIGHT,
        count=len(shown),
        paths=tuple(_paths(shown, longest)),
        hover=tuple((_WIDE * place, hover_of(column)) for place, column in enumerate(shown)),
        times=tuple(time_ticks(longest, 4)),
        steps=tuple(name_ticks([name_of(column) for column in shown])),
        says=says_of(shown),
        note=note_of(report, shown),
    )


def _paths(shown: Sequence[ShownStep], longest: int) -> list[tuple[str, str]]:
    """One path a part, over all bars; bars whose parts are not known are ``withheld``."""
    paths: dict[str, list[str]] = {name: [] for name, _, _ in PARTS}
    paths["withheld"] = []
    for place, column in enumerate(shown):
        known = known_of(column.rows)
        if not known:
            paths["withheld"].append(_bar(place, 0, column.window_ns / longest))
        base = 0.0
        for name, key, _ in PARTS if known else ():
            top = base + mean_of(known, key) / longest
            paths[name].append(_bar(place, base, top))
            base = top
    return [(name, "".join(path)) for name, path in paths.items() if any(path)]


def _bar(place: int, base: float, top: float) -> str:
    low, high = (round(_HEIGHT * (1 - at)) for at in (base, top))
    wide = _WIDE - _GAP
    return f"M{_WIDE * place} {high}h{wide}v{low - high}h-{wide}z" if low > high else ""


def known_of(rows: Rows) -> Rows:
    """Ranks none of whose parts is withheld."""
    return [row for row in rows if all(row[key] is not None for _, key, _ in PARTS)]


def mean_of(rows: Rows, key: str) -> float:
    """Mean of a column."""
    return float(sum(row[key] for row in rows)) / len(rows)


def name_of(column: ShownStep) -> str:
    """Its number, with a star where nothing shows its end."""
    return f"{column.step}{'*' if column.is_open else ''}"


def hover_of(column: ShownStep) -> str:
    """The step in a line."""
    known = known_of(column.rows)
    says = f"step {name_of(column)}: {span(column.window_ns)}"
    if not known:
        return f"{says}, its parts are withheld"
    exposed = mean_of(known, "exposed_comm_ns") / max(mean_of(known, "window_ns"), 1)
    return f"{says}, {percent(exposed)} exposed"


def says_of(shown: Sequence[ShownStep]) -> str:
    """Which is the longest."""
    longest = max(shown, key=lambda column: column.window_ns)
    return f"The longest is step {longest.step} with {span(longest.window_ns)}."


def note_of(report: Report, shown: Sequence[ShownStep]) -> str:
    """What the bars do not show."""
    steps = len({row["step"] for row in report.steps if row["window_ns"] is not None})
    size = in_a_bar(steps)
    parts = []
    if size > 1:
        parts.append(f"{steps:,} steps: each bar is the longest of {size} in a row.")
    if any(column.is_open for column in shown):
        parts.append("* open: nothing shows where it would have ended.")
    return " ".join(parts)
