"""Where a command's output goes: a file, a pipe or a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console

from commscope.errors import UsageError

#: Width of text where there is no terminal to fit into.
_PIPE_WIDTH = 120


def chosen_style(style: str | None, output: Path | None) -> str:
    """The format asked for, else the one that the output file's name says, else text."""
    if style is not None:
        return style
    return "json" if output is not None and output.suffix == ".json" else "text"


def stdout_console() -> Console:
    """A console on standard output: colours and width of the terminal, or neither."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(width=_PIPE_WIDTH, color_system=None, highlight=False)


def write(text: str, output: Path | None) -> None:
    """Writes text to a file, or to standard output."""
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{output}: cannot be written: {error.strerror or error}") from error


def show(
    draw: Callable[[Console], None], plain: Callable[[], str], output: Path | None
) -> None:
    """Draws on the terminal, or writes plain text to a file."""
    if output is None:
        draw(stdout_console())
    else:
        write(plain(), output)
