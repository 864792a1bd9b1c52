"""Tables as the page shows them: what each cell says, and by what it is sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from commscope.findings.model import Check
from commscope.report.html.reasons import Row, Why, unknown
from commscope.sanitize import shortened
from commscope.units import percent, size, span

_MOST_HINT = 400
UNKNOWN = "\u2013"


@dataclass(frozen=True, slots=True)
class Cell:
    """What is shown; ``sort`` is the number behind it, ``hint`` the long form of it."""

    text: str
    sort: float | None = None
    hint: str = ""
    is_missing: bool = False


Show = Callable[[Row], Cell]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, what it shows of a row, and whether that is a number."""

    head: str
    show: Show
    is_number: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A table ready to be written: its first column heads the rows."""

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


def table(  # noqa: PLR0913 - one argument a part of a table
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[Row],
    *,
    most: int | None = None,
    note: str = "",
) -> Table | None:
    """A table of the first ``most`` rows, whose note says so where there are more; null if none."""
    every = list(rows)
    if not every:
        return None
    shown = every[:most]
    more = f"The first {len(shown):,} of {len(every):,}." if len(shown) < len(every) else ""
    cells = [[column.show(row) for column in columns] for row in shown]
    return Table(name, caption, columns, cells, " ".join(filter(None, (more, note))))


def present(*tables: Table | None) -> list[Table]:
    """The tables that have rows."""
    return [each for each in tables if each is not None]


def word(text: str, most: int = 60) -> Cell:
    """Text of at most so many characters, the rest as a hint."""
    short = shortened(text, most)
    return Cell(short, hint=shortened(text, _MOST_HINT) if len(text) > most else "")


def words(name: str, most: int = 60) -> Show:
    """A column of text."""
    return lambda row: UNKNOWN_CELL if row[name] is None else word(str(row[name]), most)


def number(value: float | None, say: Callable[[float], str], why: Check | None = None) -> Cell:
    """A number in words; where there is none, the rule that withholds it."""
    if value is not None:
        return Cell(say(value), value)
    if why is None:
        return UNKNOWN_CELL
    return Cell(f"withheld ({why.rule})", hint=shortened(why.says, _MOST_HINT), is_missing=True)


def time(name: str, why: Why = unknown) -> Show:
    """A column of lengths of time; ``why`` gives the rule that withholds it in a row."""
    return lambda row: number(row[name], span, why(row))


def part(name: str, why: Why = unknown) -> Show:
    """A part of a window, with its share."""

    def show(row: Row) -> Cell:
        whole = max(row["window_ns"], 1)
        return number(row[name], lambda ns: f"{span(ns)} ({percent(ns / whole)})", why(row))

    return show


def count(name: str, why: Why = unknown) -> Show:
    """A column of whole numbers."""
    return lambda row: number(row[name], lambda value: f"{value:,}", why(row))


def share(name: str, why: Why = unknown) -> Show:
    """A column of shares of one, as percent."""
    return lambda row: number(row[name], percent, why(row))


def bytes_of(name: str) -> Show:
    """A column of sizes."""
    return lambda row: number(row[name], size)


def decimal(name: str, decimals: int = 1) -> Show:
    """A column of numbers with so many decimals."""
    return lambda row: number(row[name], lambda value: f"{value:,.{decimals}f}")


UNKNOWN_CELL = Cell(UNKNOWN, hint="not known", is_missing=True)
