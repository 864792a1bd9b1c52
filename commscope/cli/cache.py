"""``commscope cache``: what was kept of files that were read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from commscope.cli.options import FORMAT, OUTPUT
from commscope.cli.output import check_output, emit, write
from commscope.engine.cache_folder import user_store
from commscope.engine.cache_store import CacheEntry, CacheStore
from commscope.errors import UsageError
from commscope.report.text_tables import Cell, text_of, text_table
from commscope.sanitize import plain
from commscope.units import size
from commscope.wording import counted

SCHEMA = "commscope.cache/1"


@click.group(invoke_without_command=True, short_help="What was kept of files that were read.")
@FORMAT
@OUTPUT
@click.pass_context
def cache(ctx: click.Context, style: str | None, output: Path | None) -> None:
    """Show what was kept of large files: what was read of them, and reports on them.

    An entry is used only while its files have the same size, time, begin and end. It lies where the
    system wants caches, or in the folder that COMMSCOPE_CACHE_DIR names. With COMMSCOPE_NO_CACHE=1
    or --no-cache nothing is kept, and nothing that was kept is used.
    """
    if ctx.invoked_subcommand is not None:
        return
    check_output(output, ())
    kept = user_store()
    entries = kept.entries()

    emit(
        lambda: _as_dict(kept, entries),
        lambda console: _print(kept, entries, console),
        style,
        output,
    )


@cache.command(short_help="Remove all that was kept.")
def clear() -> None:
    """Remove all that was kept of files and reports; the files themselves are not touched."""
    kept = user_store()
    before = kept.size_bytes
    removed = kept.clear()
    if kept.size_bytes:
        raise UsageError(f"{kept.folder}: cannot be cleared; check the permissions of the folder")
    entries = counted(removed, "entry", "entries")
    write(f"removed {entries} ({size(before)}) from {plain(str(kept.folder))}\n", None)


def _as_dict(kept: CacheStore, entries: Sequence[CacheEntry]) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "folder": str(kept.folder),
        "bytes": kept.size_bytes,
        "limit_bytes": kept.limit_bytes,
        "entries": [asdict(entry) for entry in entries],
    }


def _print(kept: CacheStore, entries: Sequence[CacheEntry], console: Console) -> None:
    sizes = f"{size(kept.size_bytes)} of at most {size(kept.limit_bytes)}"
    console.print(
        Text(plain(f"{kept.folder}: {counted(len(entries), 'entry', 'entries')}, {sizes}")),
        soft_wrap=True,
    )
    if entries:
        rows = [asdict(entry) for entry in entries]
        console.print(text_table("Kept, the last used first", _CELLS, rows, console.width))


_CELLS = (
    Cell("size", lambda row: size(row["bytes"])),
    Cell(
        "last used",
        lambda row: f"{datetime.fromtimestamp(row['used_ns'] / 1e9):%Y-%m-%d %H:%M}",
        "left",
        from_width=60,
    ),
    Cell("made by", text_of("made_by"), "left", from_width=90),
    Cell("file", text_of("source"), "left"),
)
