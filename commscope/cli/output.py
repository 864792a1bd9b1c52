"""Where a command's output goes: a file, a pipe or a terminal."""

from __future__ import annotations

import io
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from rich.console import Console

from commscope.errors import UsageError

#: Width of text where there is no terminal to fit into.
PLAIN_WIDTH = 120


def chosen_style(style: str | None, output: Path | None) -> str:
    """The format asked for, else the one that the output file's name says, else text."""
    if style is not None:
        return style
    return "json" if output is not None and output.suffix == ".json" else "text"


def check_output(output: Path | None, inputs: Sequence[str]) -> None:
    """Finds out before the work begins that the output file cannot be written.

    Raises UsageError where it is a folder, where its folder is missing, and where it is an input.
    """
    if output is None:
        return
    if output.is_dir():
        raise UsageError(f"--output {output}: is a folder; name a file in it")
    if not output.parent.is_dir():
        raise UsageError(f"--output {output}: there is no folder {output.parent}")
    if any(_is_same(output, given) for given in inputs):
        raise UsageError(f"--output {output}: is an input; it would be lost")


def _is_same(output: Path, given: str) -> bool:
    return output.is_file() and os.path.isfile(given) and output.samefile(given)


def show(draw: Callable[[Console], None], output: Path | None, *, width: int = PLAIN_WIDTH) -> None:
    """Draws on the terminal; a file or a pipe gets plain text of the width, not padded."""
    if output is None and sys.stdout is not None and sys.stdout.isatty():
        draw(Console(highlight=False))
        return
    text = io.StringIO()
    # Without a system of colours given, the variable FORCE_COLOR has its say.
    system = "auto" if output is None else None
    draw(Console(file=text, width=width, color_system=system, highlight=False))  # type: ignore[arg-type]
    write("".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines()), output)


def write(data: str | bytes, output: Path | None) -> None:
    """Writes to a file, whole or not at all, or to standard output; raises UsageError."""
    try:
        if output is None:
            click.echo(data, nl=False, color=True)  # names were made harmless before
        else:
            _write_file(output, data.encode() if isinstance(data, str) else data)
    except BrokenPipeError:
        leave_stdout()  # the reader of the pipe has seen enough
    except OSError as error:
        if output is None:
            leave_stdout()
        name = output or "standard output"
        raise UsageError(f"{name}: cannot be written ({error.strerror or error})") from error


def leave_stdout() -> None:
    """Lets what standard output still holds vanish, as Python would complain at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _write_file(path: Path, data: bytes) -> None:
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a pipe or a device
        return
    target = Path(os.path.realpath(path))
    new = target.with_name(f".commscope-{secrets.token_hex(8)}")
    try:
        new.write_bytes(data)
        if target.exists():
            shutil.copymode(target, new)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)
