"""The worst step as a picture: lanes of each rank, exposed time, and who arrived last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from commscope.report.html.axis import Tick, time_ticks
from commscope.report.html.tables import Cell, Column, Table, count, table, time
from commscope.report.model import WaitedFor, WorstStep
from commscope.units import size_range, span

WIDTH = 1200
_ROW, _LANE = 50, 17
#: Where the lanes of a rank begin in its row, and where the line of its waiting is.
_TOPS = {"compute": 4, "communication": 24, "exposed": 24}
_WAIT = 45
_FULL = 0.98


@dataclass(frozen=True, slots=True)
class RankRow:
    """The label of a rank, and what stands below it."""

    name: str
    says: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """When a rank arrived, and how long it waited: a line from here to there."""

    x: float
    end: float
    y: int


@dataclass(frozen=True, slots=True)
class StepPicture:
    """Paths by lane, lines of waiting, the last arrival, and the ticks of time.

    ``name`` is its own on the page; the step is over at ``end`` where that is not the width.
    """

    name: str
    title: str
    says: str
    describes: str
    width: int
    height: int
    row_px: int
    ranks: tuple[RankRow, ...]
    paths: tuple[tuple[str, str], ...]
    waiting: tuple[Waiting, ...]
    last: float | None
    last_says: str
    end: float | None
    times: tuple[Tick, ...]
    note: str
    numbers: Table | None


def step_picture(
    worst: WorstStep, *, name: str = "worst", length_ns: int | None = None
) -> StepPicture:
    """The picture of the step; its width stands for ``length_ns``, or else for all of the step."""
    place = {row["rank"]: number for number, row in enumerate(worst.ranks)}
    length = length_ns or worst.end_ns - worst.start_ns
    draw = _Scale(worst.start_ns, length)
    found, end = worst.waited_for, draw.x(worst.end_ns)
    return StepPicture(
        name=name,
        title="The whole trace" if worst.step is None else f"The worst step: {worst.step}",
        says=worst.says[:1].upper() + worst.says[1:] + ".",
        describes=_describes(worst),
        width=WIDTH,
        height=_ROW * len(place),
        row_px=_ROW,
        ranks=tuple(_row(row) for row in worst.ranks),
        paths=tuple(_paths(worst, place, draw)),
        waiting=tuple(_waiting(found, place, draw)) if found else (),
        last=round(100 * draw.x(found.last_arrival_ns) / WIDTH, 2) if found else None,
        last_says=_last(found) if found else "",
        end=end if end < WIDTH else None,
        times=tuple(time_ticks(length, 6)),
        note=_note(worst),
        numbers=_numbers(worst, f"{name}-step"),
    )


class _Scale:
    """From times to the width of the picture."""

    def __init__(self, start_ns: int, length_ns: int) -> None:
        self._start, self._length = start_ns, max(length_ns, 1)

    @property
    def unit_ns(self) -> float:
        """The time that the least width stands for."""
        return self._length / WIDTH

    def x(self, at_ns: int) -> float:
        return round(min(max(WIDTH * (at_ns - self._start) / self._length, 0), WIDTH), 1)


def _row(row: dict[str, Any]) -> RankRow:
    exposed = row["exposed_comm_ns"]
    says = "withheld" if exposed is None else f"{span(exposed)} exposed"
    return RankRow(f"rank {row['rank']}", says)


def _paths(worst: WorstStep, place: dict[int, int], draw: _Scale) -> Iterator[tuple[str, str]]:
    paths: dict[str, list[str]] = {lane: [] for lane in _TOPS}
    for row in worst.lanes:
        top = _ROW * place[row["rank"]] + _TOPS[row["lane"]]
        paths[row["lane"]].append(_stretch(row, top, draw))
    yield from ((lane, "".join(path)) for lane, path in paths.items() if path)


def _stretch(row: dict[str, Any], top: int, draw: _Scale) -> str:
    """A box as high as the share of it that is busy, standing on the foot of its lane.

    Thousands of them are most of a page: they are told in whole numbers, and close by themselves.
    What is shorter than the least width is lower instead.
    """
    x, end = (round(draw.x(row["start_ns"] + after)) for after in (0, row["dur_ns"]))
    share = row["covered_ns"] / max(row["dur_ns"], draw.unit_ns)
    height = _LANE if share > _FULL else max(round(_LANE * share), 1)
    wide = max(end - x, 1)
    return f"M{x} {top + _LANE - height}h{wide}v{height}h-{wide}"


def _waiting(found: WaitedFor, place: dict[int, int], draw: _Scale) -> Iterator[Waiting]:
    for row in found.arrivals:
        if row["rank"] in place:
            end = draw.x(row["start_ns"] + row["wait_ns"])
            yield Waiting(draw.x(row["start_ns"]), end, _ROW * place[row["rank"]] + _WAIT)


def _last(found: WaitedFor) -> str:
    who = "the last member" if found.straggler is None else f"rank {found.straggler}"
    return f"{who} arrives {span(found.skew_ns)} after the first"


def _called(found: WaitedFor) -> str:
    sized = "" if found.bytes is None else f" of {size_range(found.bytes, found.bytes)}"
    return f"{found.op or 'collective'}{sized}"


def _describes(worst: WorstStep) -> str:
    """The picture for those who do not see it."""
    parts = [f"{row.name}: {row.says}" for row in map(_row, worst.ranks)]
    found = worst.waited_for
    if found:
        parts.append(f"In the {_called(found)} {_last(found)}")
    return ". ".join(parts) + "."


def _note(worst: WorstStep) -> str:
    found, parts = worst.waited_for, []
    if found:
        parts.append(
            f"Lines below the lanes: waiting in the {_called(found)} that cost most waiting here."
        )
    parts.append(
        f"What lies less than {span(worst.resolution_ns)} apart is drawn as one, as high as the "
        "share of it that is busy."
    )
    parts += [f"{note[:1].upper()}{note[1:]}." for note in worst.notes]
    return " ".join(parts)


def _numbers(worst: WorstStep, name: str) -> Table | None:
    """The same in numbers."""
    columns = [
        Column("rank", count("rank")),
        Column("window", time("window_ns")),
        Column("compute", time("compute_ns")),
        Column("communication", time("communication_ns")),
        Column("exposed", _exposed),
    ]
    if worst.waited_for:
        columns += [
            Column("arrives after the first", time("late_ns")),
            Column("waits there", time("wait_ns")),
        ]
    return table(name, "The same in numbers", columns, _rows(worst))


def _rows(worst: WorstStep) -> Iterator[dict[str, Any]]:
    """The ranks, each with its arrival."""
    arrivals = list(worst.waited_for.arrivals) if worst.waited_for else []
    first = min((row["start_ns"] for row in arrivals), default=0)
    of_rank = {
        row["rank"]: {"late_ns": row["start_ns"] - first, "wait_ns": row["wait_ns"]}
        for row in arrivals
    }
    for row in worst.ranks:
        window = row["end_ns"] - row["start_ns"]
        yield {**row, "window_ns": window, **of_rank.get(row["rank"], _NO_ARRIVAL)}


_NO_ARRIVAL = {"late_ns": None, "wait_ns": None}


def _exposed(row: dict[str, Any]) -> Cell:
    value = row["exposed_comm_ns"]
    return Cell("withheld", is_missing=True) if value is None else Cell(span(value), value)
