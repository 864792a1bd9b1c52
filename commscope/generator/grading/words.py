"""Grades in the words of a terminal: a table of the checks, and the rows that failed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from commscope.generator.grading.model import (
    Grade,
    Numbers,
    Result,
    Row,
    Suspect,
    Value,
    place_in_words,
    sentence,
    verdict,
)
from commscope.report.text_tables import Cell, text_table
from commscope.report.text_tables import Row as Shown
from commscope.sanitize import plain, shortened
from commscope.units import span

_RESULTS: dict[Result, str] = {"pass": "pass", "fail": "FAIL", "not_told": "not told"}
_STYLES = {"pass": "bold green", "fail": "bold red"}
#: Rows and sentences that are enough of what failed; ``--all`` and JSON have the rest.
_MOST_FAILED = 20
_MOST_WORD = 24
_LEAST_SAYS = 20


def print_grades(grades: Sequence[Grade], console: Console, *, every: bool = False) -> None:
    """Prints all of them; ``every`` row, or only those that failed."""
    for number, grade in enumerate(grades):
        if number:
            console.print()
        _print(grade, console, every=every)
    if len(grades) > 1:
        failed = [grade.run for grade in grades if grade.result == "fail"]
        console.print()
        says = f"{len(grades) - len(failed)} of {len(grades)} runs passed"
        console.print(Text(plain(f"{says}{_named(failed)}")))


def _named(failed: Sequence[str]) -> str:
    return f"; failed: {', '.join(failed)}" if failed else ""


def _print(grade: Grade, console: Console, *, every: bool) -> None:
    of = ", ".join(word for word in (grade.scenario, grade.engine) if word)
    name = f"{grade.run} ({of})" if of else grade.run
    sections: list[RenderableType] = [
        Text(plain(f"{name}: {verdict(grade)}"), _STYLES[grade.result]),
        text_table("Checks", _CHECK_CELLS, [_tally(grade, t.check) for t in grade.tallies], 200),
    ]
    rows = list(grade.rows) if every else grade.failures[:_MOST_FAILED]
    if rows:
        shown = [_shown(row) for row in rows]
        sections.append(
            text_table(
                _title(grade, every=every), _cells(shown, console.width), shown, console.width
            )
        )
    if said := _sentences(grade):
        sections.append(Padding(Text("\n".join(map(plain, said))), (1, 0, 0, 0)))
    console.print(Group(*sections))


_CHECK_CELLS = (
    Cell("check", lambda row: row["check"], "left"),
    Cell("result", lambda row: row["result"], "left"),
    Cell("within", lambda row: row["passed"]),
    Cell("beyond", lambda row: row["failed"]),
    Cell("not told", lambda row: row["not_told"]),
    Cell("farthest", lambda row: row["farthest"]),
    Cell("tolerance", lambda row: row["tolerance"]),
)


def _tally(grade: Grade, check: str) -> Shown:
    """A check with its row that comes nearest to its tolerance, or passes it by most."""
    tally = next(tally for tally in grade.tallies if tally.check == check)
    measured = [
        row.numbers
        for row in grade.rows
        if row.check == check and row.numbers.unit in ("ns", "ppm") and row.result != "not_told"
    ]
    farthest = max(measured, key=_closeness, default=None)
    return {
        "check": check,
        "result": _RESULTS[tally.result],
        **{name: f"{getattr(tally, name):,}" for name in ("passed", "failed", "not_told")},
        "farthest": "" if farthest is None else _deviation(farthest),
        "tolerance": "" if farthest is None else _tolerance(farthest),
    }


def _closeness(numbers: Numbers) -> float:
    """The deviation as a share of what it may be."""
    deviation = abs(numbers.deviation or 0)
    return deviation / numbers.tolerance if numbers.tolerance else deviation * 1e18


def _title(grade: Grade, *, every: bool) -> str:
    if every:
        return "All rows"
    more = len(grade.failures) - _MOST_FAILED
    return (
        f"What failed, the first {_MOST_FAILED} of {len(grade.failures):,}"
        if more > 0
        else "What failed"
    )


_HEADS = ("result", "check", "where", "truth", "found", "deviation", "tolerance", "suspect", "says")


def _shown(row: Row) -> Shown:
    told = row.result != "not_told"
    return dict(
        zip(
            _HEADS,
            (
                _RESULTS[row.result],
                row.check,
                place_in_words(row.place) or "all",
                _value(row.numbers.truth, row.numbers) if told else "",
                _value(row.numbers.found, row.numbers) if told else "",
                _deviation(row.numbers) if told else "",
                _tolerance(row.numbers) if told else "",
                row.suspect or "",
                row.says,
            ),
        )
    )


def _cells(rows: Sequence[Shown], width: int) -> tuple[Cell, ...]:
    """The columns; the last one has what room the others leave, and is cut to it."""
    used = sum(max(len(head), *(len(row[head]) for row in rows)) + 2 for head in _HEADS[:-1])
    left = ("result", "check", "where", "suspect")
    cells = [
        Cell(head, lambda row, head=head: row[head], "left" if head in left else "right")  # type: ignore[misc]
        for head in _HEADS[:-1]
    ]
    room = max(width - used, 0)
    return (
        *cells,
        Cell("says", lambda row: shortened(row["says"], room), "left", used + _LEAST_SAYS),
    )


def _value(value: Value, numbers: Numbers) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return shortened(value, _MOST_WORD)
    return span(value) if numbers.unit == "ns" else f"{value:,}"


def _deviation(numbers: Numbers) -> str:
    deviation = numbers.deviation
    if deviation is None:
        return ""
    if numbers.unit == "ns":
        return (
            f"{deviation:+,.0f} ns"
            if abs(deviation) < 1000
            else f"{'+' * (deviation > 0)}{span(deviation)}"
        )
    return f"{deviation:+,g}" + (" ppm" if numbers.unit == "ppm" else "")


def _tolerance(numbers: Numbers) -> str:
    if numbers.deviation is None:
        return ""
    if numbers.unit == "ns":
        return span(numbers.tolerance) if numbers.tolerance else "exact"
    return f"{numbers.tolerance:,g} ppm" if numbers.tolerance else "exact"


def _sentences(grade: Grade) -> list[str]:
    """The first that failed of each check, in full, and what is not told: tables may cut it."""
    first: dict[tuple[str, Suspect | None], str] = {}
    for row in grade.failures:
        first.setdefault((row.check, row.suspect), f"suspect {row.suspect}: {sentence(row)}")
    untold = [
        f"not told: {row.check}: {row.says}" for row in grade.rows if row.result == "not_told"
    ]
    return [*first.values(), *dict.fromkeys(untold)]
