"""A check in the words of a terminal, a comment, a test suite and annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from commscope.gate.model import Check, Judged, Result, Scalar
from commscope.gate.quantities import in_words
from commscope.report.github import Annotation, Kind, annotation_lines
from commscope.report.junit import Case, junit_text
from commscope.report.markdown_text import Section, bullets, cell, fitted, prose, table
from commscope.report.text import drawn_text
from commscope.report.text_tables import Cell, Row, text_table
from commscope.sanitize import plain, shortened

SUITE = "commscope.gate"
#: By this a comment is found again.
MARKER = "<!-- commscope:check -->"

_RESULTS: dict[Result, str] = {"pass": "pass", "fail": "FAIL", "cannot_judge": "cannot judge"}
#: What is only watched does not pass or fail.
_WATCHED: dict[Result, str] = {"pass": "within", "fail": "beyond", "cannot_judge": "cannot judge"}
_OUTCOMES: dict[Result, Literal["passed", "failed"]] = {
    "pass": "passed",
    "fail": "failed",
    "cannot_judge": "failed",
}
_HEADS = ("result", "must not be", "is", "limit", "note")
_STYLES: dict[Result, str] = {"pass": "bold green", "fail": "bold red", "cannot_judge": "bold red"}


def check_text(check: Check, width: int = 120) -> str:
    """The check without colours, as it is written to a file or a pipe."""
    return drawn_text(lambda console: print_check(check, console), width)


def print_check(check: Check, console: Console) -> None:
    """Prints the check."""
    sections: list[RenderableType] = [Text(plain(check.verdict), _STYLES[check.result])]
    sections += _section(f"Limits of {check.run}", check.gate, _RESULTS, console.width)
    title = "Where it changed, beside the noise of the baseline (watched, not judged)"
    sections += _section(title, check.watched, _WATCHED, console.width)
    if said := [*_reasons(check), *_said(check)]:
        sections.append(Padding(Text("\n".join(map(plain, said))), (1, 0, 0, 0)))
    console.print(Group(*sections))


def _section(
    title: str, judged: Sequence[Judged], results: dict[Result, str], width: int
) -> list[RenderableType]:
    if not judged:
        return []
    rows: list[Row] = [dict(zip(_HEADS, _row(one, results))) for one in judged]
    return [text_table(title, _cells(rows, width), rows, width)]


def _cells(rows: Sequence[Row], width: int) -> tuple[Cell, ...]:
    """The columns; the last one has what room the others leave, and is cut to it."""
    used = sum(max(len(head), *(len(row[head]) for row in rows)) + 2 for head in _HEADS[:-1])
    room = max(width - used, 0)
    return (
        Cell(_HEADS[0], lambda row: row[_HEADS[0]], "left"),
        Cell(_HEADS[1], lambda row: row[_HEADS[1]], "left"),
        Cell(_HEADS[2], lambda row: row[_HEADS[2]]),
        Cell(_HEADS[3], lambda row: row[_HEADS[3]]),
        Cell(_HEADS[4], lambda row: shortened(row[_HEADS[4]], room), "left", from_width=used + 20),
    )


def _row(judged: Judged, results: dict[Result, str]) -> tuple[str, str, str, str, str]:
    return (
        results[judged.result],
        judged.expression,
        _shown(judged.actual, judged),
        _shown(judged.limit, judged),
        judged.says,
    )


def _shown(value: Scalar, judged: Judged) -> str:
    """A value; a dash for one that is not there without that leaving anything open."""
    if value is None and judged.result == "pass":
        return "-"
    return in_words(value, judged.kind)


def _said(check: Check) -> list[str]:
    """What is said below the tables."""
    said = [note for note in (_basis(check), check.profiler and str(check.profiler)) if note]
    return [*said, *check.notes]


def _reasons(check: Check) -> list[str]:
    """Why limits cannot be judged, in full: the table may have no room for it."""
    of = (judged.says for judged in check.gate if judged.result == "cannot_judge")
    return [f"cannot judge: {says}" for says in dict.fromkeys(of) if says not in check.verdict]


def _basis(check: Check) -> str:
    """What the limits by noise rest on."""
    found = [judged.allowed for judged in check.gate if judged.allowed]
    if not found:
        return ""
    first = found[0]
    says = f"Limits by the baseline: {first.level:.1%} of further runs of the same job keep each"
    says += f" ({first.method}; {first.runs} runs)"
    if any(allowed.floored for allowed in found):
        says += "; its noise is small, so the least difference that counts sets a limit"
    return says


def check_markdown(check: Check) -> str:
    """The check as Markdown, as for a comment in a pull request."""
    sections = [
        Section("Limits", _table(check.gate, _RESULTS)),
        Section("Watched, not judged", _table(check.watched, _WATCHED)),
        Section("What it rests on", bullets(_said(check))),
    ]
    return fitted(MARKER, f"**{prose(check.verdict)}**\n", sections)


def _table(judged: Sequence[Judged], results: dict[Result, str]) -> str:
    rows = [[cell(text) for text in _row(one, results)] for one in judged]
    return table(_HEADS, rows, numbers_from=5) if rows else ""


def check_cases(check: Check) -> dict[str, Sequence[Case]]:
    """The suite of a test report: what cannot be judged has failed."""
    return {SUITE: [_case(judged) for judged in check.gate]}


def check_junit(check: Check) -> str:
    """The check as JUnit XML."""
    return junit_text(check_cases(check))


def _case(judged: Judged) -> Case:
    return Case(judged.expression, _OUTCOMES[judged.result], _in_short(judged))


def _in_short(judged: Judged) -> str:
    if judged.result == "cannot_judge":
        return f"cannot judge: {judged.says}"
    actual, limit = (_shown(value, judged) for value in (judged.actual, judged.limit))
    return f"{actual}, the limit is {limit}" + (f": {judged.says}" if judged.says else "")


def check_annotations(check: Check) -> str:
    """Lines that GitHub shows: the verdict, and every limit that was not kept."""
    kind: Kind = "notice" if check.result == "pass" else "error"
    broken = (
        Annotation("error", judged.expression, _in_short(judged))
        for judged in check.gate
        if judged.result != "pass"
    )
    return annotation_lines([Annotation(kind, "commscope", check.verdict), *broken])
