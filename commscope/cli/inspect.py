"""``commscope inspect``: what is this file, and is it healthy?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from commscope.cli.options import FORMAT, OUTPUT, PARSER, PATHS, QUIET
from commscope.cli.output import chosen_style, write
from commscope.cli.progress import reading_progress
from commscope.engine.inspect import inspect_paths
from commscope.report.units import size
from commscope.sanitize import plain


@click.command()
@PATHS
@PARSER
@FORMAT
@OUTPUT
@QUIET
def inspect(
    paths: Sequence[str], parser: str | None, style: str | None, output: Path | None, quiet: bool
) -> None:
    """Say what each file is, what it holds, and whether it could be read whole."""
    with reading_progress(quiet=quiet) as progress:
        files = inspect_paths(paths, parser, progress)
    if chosen_style(style, output) == "json":
        write(json.dumps(files, sort_keys=True, indent=1, ensure_ascii=False) + "\n", output)
    else:
        write("\n".join(line for file in files for line in _lines(file)) + "\n", output)


def _lines(file: dict[str, Any]) -> Iterable[str]:
    yield plain(f"{file['file']}  {size(file['bytes'])}" if file["bytes"] else file["file"])
    for match in file["matches"]:
        yield plain(f"  {match['parser']:<8} {match['confidence']:<10} {match['reason']}")
    if "error" in file:
        yield plain(f"  error    {file['error']}")
    for name, value in file.get("holds", {}).items():
        yield plain(f"  {name:<22} {value}")
