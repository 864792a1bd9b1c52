"""``commscope convert``: a trace, or a part of it, for other tools."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from commscope.cli.options import QUIET, read_trace, reading_options
from commscope.cli.output import check_output
from commscope.convert import FORMATS, Selection, Target, chosen_target, select, write_trace
from commscope.errors import UsageError

_RANK = re.compile("[0-9]{1,9}")
_MS = click.FloatRange(0, 86_400_000)


@click.command(short_help="To Parquet, Arrow, CSV, or JSON for Perfetto.")
@reading_options
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), metavar="OUT",
    help="A new folder for tables, or a file named .json or .json.gz.",
)  # fmt: skip
@click.option(
    "--to", "wanted", type=click.Choice(FORMATS),
    help="By default what OUT is named: chrome for .json, else parquet.",
)  # fmt: skip
@click.option("--from-ms", type=_MS, metavar="MS", help="From here on, after the first activity.")
@click.option("--to-ms", type=_MS, metavar="MS", help="Up to here, after the first activity.")
@click.option("--force", is_flag=True, help="Replace files of the same names.")
@QUIET
def convert(
    *,
    output: Path,
    wanted: str | None,
    from_ms: float | None,
    to_ms: float | None,
    force: bool,
    quiet: bool,
    ranks: Sequence[str],
    **reading: Any,
) -> None:
    """Write a trace of any format as tables, or as JSON that Perfetto and Chrome show.

    Tables are EVENTS, HOST, COLLECTIVES, STEPS and RANKS, one file each in the folder OUT. A rank
    without a file (--rank 3) is one to write, instead of all. Activities and steps that run in the
    time wanted are kept whole.
    """
    target = chosen_target(output, wanted)
    chosen = _selection(ranks, from_ms, to_ms)
    _check_target(target, reading["paths"], reading["config"], force=force)
    given = [text for text in ranks if "=" in text]
    trace = read_trace(ranks=given, quiet=quiet, **reading)
    write_trace(select(trace, chosen), target)


def _selection(ranks: Sequence[str], from_ms: float | None, to_ms: float | None) -> Selection:
    wanted = [text for text in ranks if "=" not in text]
    for text in wanted:
        if not _RANK.fullmatch(text):
            raise UsageError(
                f"--rank {text}: write a rank to convert, or a rank and its file (3=trace.json)"
            )
    if from_ms is not None and to_ms is not None and from_ms >= to_ms:
        raise UsageError(f"--to-ms {to_ms:g}: ends before --from-ms {from_ms:g}")
    return Selection(frozenset(map(int, wanted)), _ns(from_ms), _ns(to_ms))


def _ns(ms: float | None) -> int | None:
    return None if ms is None else round(ms * 1e6)


def _check_target(
    target: Target, inputs: Sequence[str], config: Path | None, *, force: bool
) -> None:
    """Finds out before the work begins that nothing may be written there; raises UsageError."""
    output = target.output
    if str(output) == "-":
        raise UsageError("--output -: name a folder or a file")
    if target.is_folder and output.exists() and not output.is_dir():
        raise UsageError(f"--output {output}: is a file; name a folder for the tables")
    if not output.resolve().parent.is_dir():
        raise UsageError(f"--output {output}: there is no folder {output.parent}")
    if any(_would_be_read(target, Path(given)) for given in inputs):
        raise UsageError(
            f"--output {output}: lies where traces are read from; choose another name or folder"
        )
    for file in target.files():
        if file.parent.is_dir():
            check_output(file, inputs, config)
        if file.exists() and not force:
            raise UsageError(f"--output {file}: is there already; replace it with --force")


def _would_be_read(target: Target, given: Path) -> bool:
    """Whether the output is what was given, or a trace in a folder that was given."""
    if not given.is_dir():
        return False
    output, folder = target.output.resolve(), given.resolve()
    return output == folder or (not target.is_folder and output.is_relative_to(folder))
