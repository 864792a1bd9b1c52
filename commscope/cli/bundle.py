"""``commscope bundle``: a run as one file that can be shared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from commscope.cli.options import QUIET, reading_options
from commscope.cli.output import check_output, write
from commscope.cli.saving import described, read_to_save, reported, require_outside
from commscope.errors import DataError, UsageError
from commscope.report.html import render
from commscope.report.markdown import report_markdown
from commscope.report.model import Report
from commscope.sanitize import plain
from commscope.saved.files import run_files, with_quotes
from commscope.saved.pack import write_archive
from commscope.saved.redaction import redacted
from commscope.saved.same_numbers import first_difference
from commscope.units import size
from commscope.wording import counted

_SUFFIXES = (".tar.gz", ".tgz")
_LOOK_THROUGH = (
    "Look through the report in it before you share it: names of kernels, times and numbers are "
    "as they were."
)


@click.command(short_help="A run as one file, to be shared.")
@reading_options
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE",
    help="The archive, named .tar.gz.",
)  # fmt: skip
@click.option(
    "--redact", is_flag=True,
    help="Rename hosts, paths, addresses, users, code and unknown words, the same everywhere.",
)  # fmt: skip
@QUIET
def bundle(*, output: Path, redact: bool, quiet: bool, **reading: Any) -> None:
    """Write a run into one archive: tables, what its logs tell, its topology, and the report.

    All commands read the archive as they read the traces, and find the same numbers. Logs are
    kept as tables and the lines that findings quote, so what else stands in them stays at home.
    """
    _check(output, reading)
    run = read_to_save(quiet=quiet, **reading)
    report = reported(run)
    run = with_quotes(run, report.findings)
    lines = []
    if redact:
        shared = redacted(run)
        run, found = shared.run, reported(shared.run)
        differs = first_difference(report.to_dict(), found.to_dict())
        if differs is not None:
            raise DataError(
                f"--redact: renaming would change numbers of {differs}, so nothing was written; "
                "leave out --step-marker, --role and --pattern, or share without --redact"
            )
        report = found
        lines = [f"renamed {_counted(shared.renamed)}", _LOOK_THROUGH]
    write_archive(run_files(run, is_redacted=redact, beside=_reports(report)), output)
    head = f"wrote {output} ({size(output.stat().st_size)}): {described(run)}"
    write("".join(f"{plain(line)}\n" for line in (head, *lines)), None)


def _reports(report: Report) -> dict[str, bytes]:
    """The report as files that open anywhere."""
    texts = {
        "report.html": render(report),
        "report.json": report.to_json(),
        "report.md": report_markdown(report),
    }
    return {name: text.encode() for name, text in texts.items()}


def _check(output: Path, reading: Mapping[str, Any]) -> None:
    """Finds out before the work begins that nothing can be written there; raises UsageError."""
    if not output.name.endswith(_SUFFIXES):
        raise UsageError(f"--output {output}: name it .tar.gz")
    check_output(output, reading["paths"], reading["config"])
    require_outside(output, reading["paths"])


def _counted(renamed: Mapping[str, int]) -> str:
    plurals = {"address": "addresses"}
    found = [counted(count, kind, plurals.get(kind)) for kind, count in renamed.items()]
    return ", ".join(found) or "nothing"
