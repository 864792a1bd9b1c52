"""``commscope baseline``: runs kept by name, to judge the next change against."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from commscope.cli.options import FORMAT, OUTPUT, QUIET, reading_options
from commscope.cli.output import check_output, emit, write
from commscope.cli.saving import described, read_to_save, reported, require_outside
from commscope.report.text_tables import Cell, Row, count_of, text_of, text_table
from commscope.sanitize import plain
from commscope.saved.baselines import (
    DEFAULT_FOLDER,
    Baseline,
    list_baselines,
    require_name,
    save_run,
)
from commscope.saved.baselines import (
    remove as remove_runs,
)
from commscope.saved.files import run_files, with_quotes
from commscope.units import size
from commscope.wording import counted

SCHEMA = "commscope.baselines/1"

_DIR = click.option(
    "--dir", "folder", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
    default=DEFAULT_FOLDER, show_default=True, help="Where baselines are kept.",
)  # fmt: skip


@click.group(short_help="Runs kept by name, to judge the next change against.")
def baseline() -> None:
    """Keep runs by name, so that the next change can be judged against them.

    A run is kept as the tables that were read, not as a report: after an upgrade it is analysed
    anew. A baseline holds several runs, as what differs between them is noise.
    """


@baseline.command(short_help="Add a run to a baseline.")
@click.argument("name")
@reading_options
@_DIR
@QUIET
def save(*, name: str, folder: Path, quiet: bool, **reading: Any) -> None:
    """Add a run to the baseline NAME, which is made where it is new.

    PATH is a trace, a folder of them (one a rank), a pattern, an archive, or - for standard input.
    """
    require_name(name)
    require_outside(folder, reading["paths"])
    run = read_to_save(quiet=quiet, **reading)
    run = with_quotes(run, reported(run).findings)
    path = save_run(folder, name, run_files(run))
    write(f"{plain(f'saved {path}: {described(run)}')}\n", None)


@baseline.command("list", short_help="Show all baselines and their runs.")
@_DIR
@FORMAT
@OUTPUT
def list_all(folder: Path, style: str | None, output: Path | None) -> None:
    """Show all baselines and their runs."""
    check_output(output, ())
    found = list_baselines(folder)
    emit(
        lambda: {"schema": SCHEMA, "baselines": _rows(found)},
        lambda console: _print(folder, found, console),
        style,
        output,
    )


@baseline.command(short_help="Remove a baseline, or one run of it.")
@click.argument("name")
@click.argument("run", required=False)
@_DIR
def remove(name: str, run: str | None, folder: Path) -> None:
    """Remove the baseline NAME with all its runs, or only RUN, such as run-2."""
    removed = remove_runs(folder, name, run)
    runs = counted(removed, "run")
    write(f"{plain(f'removed {runs} of {name} from {folder}')}\n", None)


def _rows(found: Sequence[Baseline]) -> list[Row]:
    return [
        {
            "baseline": one.name,
            "run": run.name,
            "path": str(run.path),
            "version": run.tool,
            "definitions": run.definitions,
            "is_comparable": run.is_comparable,
            "is_redacted": run.is_redacted,
            "readings": run.readings,
            "bytes": run.bytes,
        }
        for one in found
        for run in one.runs
    ]


def _print(folder: Path, found: Sequence[Baseline], console: Console) -> None:
    if not found:
        console.print(plain(f"{folder}: holds no baseline"), soft_wrap=True, markup=False)
        return
    console.print(text_table(f"Baselines in {folder}", _CELLS, _rows(found), console.width))


_CELLS = (
    Cell("baseline", text_of("baseline"), "left"),
    Cell("run", text_of("run"), "left"),
    Cell("traces", count_of("readings")),
    Cell("size", lambda row: size(row["bytes"]), from_width=60),
    Cell("by version", text_of("version"), "left", from_width=70),
    Cell(
        "definitions",
        lambda row: "of this version" if row["is_comparable"] else "of another version",
        "left",
    ),
)
