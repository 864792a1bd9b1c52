"""``commscope stragglers``: who arrived late, and who waited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commscope.api import analyze as analyze_trace
from commscope.cli.options import FORMAT, OUTPUT, QUIET, TOP, read_trace, reading_options
from commscope.cli.output import check_output, chosen_style, show, write
from commscope.report.text import print_stragglers
from commscope.sanitize import json_text


@click.command(short_help="Who arrived late, and who waited.")
@reading_options
@TOP
@click.option("--only-role", metavar="NAME", help="Only groups of this role, such as dp.")
@FORMAT
@OUTPUT
@QUIET
def stragglers(
    top: int,
    only_role: str | None,
    style: str | None,
    output: Path | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """List who arrived last at collectives, and who waited for whom."""
    check_output(output, reading["paths"], reading["config"])
    report = analyze_trace(read_trace(quiet=quiet, **reading))

    def keep(row: dict[str, Any]) -> bool:
        return only_role is None or row["role"] == only_role

    if chosen_style(style, output) == "json":
        document = report.to_dict()
        rows = {name: list(filter(keep, document[name]))[:top] for name in _SECTIONS}
        write(json_text({**rows, "straggler_verdicts": document["straggler_verdicts"]}), output)
    else:
        show(lambda console: print_stragglers(report, console, top, keep), output)


_SECTIONS = ("stragglers", "waiting")
