"""Where a command's output goes: a file, a pipe or a terminal."""

from __future__ import annotations

import glob
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from commscope.config import DEFAULT_FILE
from commscope.errors import UsageError
from commscope.parsers.opening import open_session
from commscope.parsers.own_files import is_own
from commscope.parsers.sources import find_sources
from commscope.report.text import drawn_text
from commscope.sanitize import json_text

#: Width of text where there is no terminal to fit into.
PLAIN_WIDTH = 120
_HEAD_BYTES = 512
#: What the end of a file's name promises; any other name is as good for one style as for another.
_PROMISED = {
    ".json": "json", ".txt": "text", ".md": "md", ".html": "html",
    **{f".{name}": name for name in ("pdf", "xml", "csv", "svg", "png", "parquet")},
}  # fmt: skip


def chosen_style(
    style: str | None, output: Path | None, *, known: Sequence[str] = ("json", "text")
) -> str:
    """The format asked for, else the one that the output file's name says, else text.

    Raises UsageError for a name that promises a format which is not one of those ``known``.
    """
    if style is not None:
        return style
    suffix = "" if output is None else output.suffix.lower()
    promised = _PROMISED.get(suffix, "text")
    if promised not in known:
        *names, last = (end for end, name in _PROMISED.items() if name in known)
        ends = f"{', '.join(names)} or {last}"
        raise UsageError(f"--output {output}: cannot write {suffix}; name it {ends}")
    return promised


def check_output(
    output: Path | None,
    inputs: Sequence[str],
    config: Path | None = None,
    *,
    option: str = "--output",
) -> None:
    """Finds out before the work begins that the output file cannot be written.

    Raises UsageError where it is a folder, where its folder is missing, and where it is something
    that is read: an input, a file in a folder or of a pattern that was given, or the settings.
    """
    if output is None:
        return
    if output.is_dir():
        raise UsageError(f"{option} {output}: is a folder; name a file in it")
    if not output.parent.is_dir():
        raise UsageError(f"{option} {output}: there is no folder {output.parent}")
    if (
        output.is_file()
        and not _is_report(output)
        and _is_read(output, inputs, config or DEFAULT_FILE)
    ):
        raise UsageError(
            f"{option} {output}: is among the files that are read and would be lost; "
            "choose another name or folder"
        )


def _is_report(output: Path) -> bool:
    """Whether a file is a report, which nothing reads in a folder of traces."""
    try:
        with output.open("rb") as file:
            return is_own(output, file.read(_HEAD_BYTES))
    except OSError:
        return False


def _is_read(output: Path, inputs: Sequence[str], config: Path) -> bool:
    given = [path for text in inputs for path in _meant(text)]
    return any(_holds(path, output) for path in [*given, config]) or _is_source(output, given)


def _meant(given: str) -> list[Path]:
    """What an argument names; a pattern names all that fits it."""
    if os.path.exists(given):
        return [Path(given)]
    return [Path(path) for path in glob.iglob(given, recursive=True)]


def _holds(given: Path, output: Path) -> bool:
    """Whether the output is the file given, or lies below the folder given."""
    if given.is_dir():
        return output.resolve().is_relative_to(given.resolve())
    return given.is_file() and output.samefile(given)


def _is_source(output: Path, given: Sequence[Path]) -> bool:
    """Whether a link in a folder that was given leads to the output."""
    folders = [path for path in given if path.is_dir()]
    with open_session():
        sources = find_sources(folders).sources if folders else ()
    return any(source.path is not None and output.samefile(source.path) for source in sources)


def emit(
    document: Callable[[], Any],
    draw: Callable[[Console], None],
    style: str | None,
    output: Path | None,
    *,
    width: int = PLAIN_WIDTH,
) -> None:
    """What a command found, as JSON or drawn as text, as the options say."""
    if chosen_style(style, output) == "json":
        write(json_text(document()), output)
    else:
        show(draw, output, width=width)


def show(draw: Callable[[Console], None], output: Path | None, *, width: int = PLAIN_WIDTH) -> None:
    """Draws on the terminal; a file or a pipe gets plain text of the width, not padded."""
    if output is None and sys.stdout is not None and sys.stdout.isatty():
        draw(Console(highlight=False))
        return
    # The variable FORCE_COLOR has its say on pipes, not on files.
    write(drawn_text(draw, width, "auto" if output is None else None), output)


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
