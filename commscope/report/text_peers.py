"""The answer of ``analyze --as`` as text: their figures, ours, and the reasons with their sizes."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from commscope.peers import Answer, Figure, PeerAnswer, Quantity, Reason, shown
from commscope.report.text_tables import Cell, Row, text_table
from commscope.sanitize import plain
from commscope.units import span

#: Answers that are enough on a terminal; all are in the JSON.
_MOST_ANSWERS = 32


def print_peer(found: PeerAnswer, console: Console) -> None:
    """Prints every answer, one after the other."""
    console.print(Text(plain(f"As {found.tool.title} says ({found.tool.version})"), "bold"))
    console.print(Text(plain(found.tool.definition), "dim"))
    for note in found.notes:
        console.print(Text(plain(note), "yellow"))
    for answer in found.answers[:_MOST_ANSWERS]:
        console.print(Group(*_answer(answer, console.width)))
    hidden = len(found.answers) - _MOST_ANSWERS
    if hidden > 0:
        console.print(Text(f"\n({hidden:,} more are in the JSON: --format json)", "dim"))


def _answer(answer: Answer, width: int) -> Iterable[RenderableType]:
    step = "" if answer.step is None else f", step {answer.step}"
    title = f"rank {answer.rank}{step}: {answer.variant}"
    yield text_table(title, _CELLS, map(_row, answer.figures), width)
    if answer.fails is not None:
        yield Text(plain(f"the tool fails here: {answer.fails}"), "yellow")
    elif answer.reasons:
        yield Text("what the difference is of, adding up to it:", "dim")
        yield from _reasons(answer)
    else:
        yield Text("no difference", "dim")
    for says in answer.approximate:
        yield Text(plain(f"approximate: {says}"), "yellow")


_CELLS = (
    Cell("figure", lambda row: str(row["figure"]), "left"),
    Cell("theirs", lambda row: str(row["theirs"])),
    Cell("ours", lambda row: str(row["ours"])),
    Cell("difference", lambda row: str(row["difference"])),
    Cell("ours is", lambda row: str(row["means"]), "left", from_width=100),
)


def _row(figure: Figure) -> Row:
    quantity = figure.quantity
    return {
        "figure": quantity.name,
        "theirs": shown(figure.theirs, quantity),
        "ours": shown(figure.ours, quantity),
        "difference": shown(figure.difference, quantity),
        "means": quantity.means,
    }


def _reasons(answer: Answer) -> Iterable[RenderableType]:
    quantities = [figure.quantity for figure in answer.figures]
    for number, reason in enumerate(answer.reasons, start=1):
        mark = "bug: " if reason.kind == "bug" else ""
        yield Text(plain(f"{number}. {mark}{reason.says}"))
        yield Padding(Text(plain(_effects(reason, quantities)), "dim"), (0, 0, 0, 3))


def _effects(reason: Reason, quantities: Iterable[Quantity]) -> str:
    return ", ".join(
        f"{quantity.name} {_signed(float(value), quantity)}"
        for quantity in quantities
        if (value := reason.effects[quantity.name])
    )


def _signed(value: float, quantity: Quantity) -> str:
    if quantity.unit == "percent":
        return f"{value:+.4g} points"
    return f"{'+' if value > 0 else '-'}{span(abs(value))}"
