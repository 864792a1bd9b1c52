"""A folder of ``commscope run`` given to a command: its report is that of the whole run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.text import Text

from commscope.parsers.own_files import RUN_FILE
from commscope.report.text import print_report, print_verdict
from commscope.sanitize import plain

if TYPE_CHECKING:
    from commscope.automation.asked import Asked

#: Options that say how a report is shown; any other one asks for a reading of one's own.
_OF_SHOWING = {
    "paths", "quiet", "no_cache", "style", "output", "outputs", "github", "instances", "verbose",
}  # fmt: skip


def collected_run(paths: Sequence[str]) -> Path | None:
    """The folder of the run whose report is asked for; null where traces are to be read."""
    if len(paths) != 1 or not (Path(paths[0]) / RUN_FILE).is_file() or _is_read_otherwise():
        return None
    # Whatever else is given is read without these, which take a while to import.
    from commscope.automation.nodes import is_collected  # noqa: PLC0415

    return Path(paths[0]) if is_collected(Path(paths[0])) else None


def _is_read_otherwise() -> bool:
    context = click.get_current_context()
    return any(
        context.get_parameter_source(name) is not ParameterSource.DEFAULT
        for name in context.params.keys() - _OF_SHOWING
    )


def report_on_run(folder: Path, *, quiet: bool) -> Asked:
    """The report, also in the folder; on standard error, where it lies or why it does not."""
    from commscope.automation.asked import report_asked_for  # noqa: PLC0415

    asked = report_asked_for(folder)
    if not (quiet and asked.is_written):
        click.echo(f"commscope: {plain(asked.line)}", err=True)
    return asked


def document(asked: Asked, more: Sequence[str] = ()) -> dict[str, Any]:
    """The report as JSON has it."""
    made = asked.made
    if made.report is not None:
        return made.report.to_dict(more=more)
    return {} if made.logs is None else made.logs.to_dict()


def draw(asked: Asked, console: Console, *, quiet: bool = False, details: bool = False) -> None:
    """How the job ended and what is missing, and the report, or the verdict alone."""
    if quiet:
        _draw_verdict(asked, console)
        return
    from commscope.report.text_log import print_log  # noqa: PLC0415

    made = asked.made
    for says in made.told:
        console.print(Text(plain(_sentence(says))))
    if made.report is not None:
        print_report(made.report, console, details=details)
    elif made.logs is not None:
        console.print(Text(plain(made.verdict), "bold"))
        print_log(made.logs, console, details=details)


def verdict(asked: Asked) -> str:
    """How the job ended and what is missing, and the verdict, in one line."""
    return " ".join(filter(None, (_sentence(asked.says), asked.made.verdict)))


def _draw_verdict(asked: Asked, console: Console) -> None:
    made = asked.made
    if asked.says:
        console.print(Text(plain(_sentence(asked.says))))
    if made.report is None:
        console.print(Text(plain(made.verdict), "bold"))
        return
    # A hang is no part of the report on traces.
    summary = replace(made.report.summary, verdict=made.verdict)
    print_verdict(replace(made.report, summary=summary), console)


def _sentence(says: str) -> str:
    return f"{says[:1].upper()}{says[1:].rstrip('.')}." if says else ""
