"""``commscope inspect``: what is this file, and is it healthy?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from commscope.cli.options import FORMAT, OUTPUT, PARSER, PATHS, QUIET
from commscope.cli.output import check_output, chosen_style, write
from commscope.cli.progress import reading_progress
from commscope.engine.inspect import Holding, Inspection, Inspections, inspect_paths
from commscope.errors import FormatError
from commscope.parsers.base import Health
from commscope.sanitize import json_text, plain
from commscope.units import size, span

SCHEMA = "commscope.inspect/1"
#: Of parsers that do not know a file nothing is said: they are many.
_UNKNOWN = "none"


@click.command(short_help="What a file is, what it holds, what was lost.")
@PATHS
@PARSER
@FORMAT
@OUTPUT
@QUIET
def inspect(
    paths: Sequence[str], parser: str | None, style: str | None, output: Path | None, quiet: bool
) -> int:
    """Say what each file is, what it holds, and whether it could be read whole.

    PATH is as for analyze. The exit code is 0 if any of the files is a trace, else 3.
    """
    check_output(output, paths)
    with reading_progress(quiet=quiet) as progress:
        found = inspect_paths(paths, parser, progress)
    if chosen_style(style, output) == "json":
        write(json_text({"schema": SCHEMA, **asdict(found)}), output)
    else:
        write("".join(f"{plain(line)}\n" for line in _lines(found)), output)
    return 0 if any(file.parser for file in found.files) else FormatError.exit_code


def _lines(found: Inspections) -> Iterator[str]:
    for file in found.files:
        yield from _file(file)
    for note in found.notes:
        yield f"({note})"


def _file(file: Inspection) -> Iterator[str]:
    head = file.file if file.bytes is None else f"{file.file}  {size(file.bytes)}"
    if file.parser is None:
        yield f"{head}  {file.error}"
        return
    yield head
    for match in file.matches:
        is_chosen = match.parser == file.parser
        if is_chosen or match.confidence != _UNKNOWN:
            chosen = "read by " if is_chosen else "not by "
            yield _row(chosen + match.parser, f"{match.reason} ({match.confidence})")
    if file.unread:
        yield _row("not needed", file.unread)
    if file.group is not None:
        yield _row("group", f"{file.group}: its files are read together")
    if file.error:
        yield _row("unreadable", file.error)
    for holding in file.holds:
        yield from _health(holding)
        yield from _facts(holding)


def _row(name: str, value: str) -> str:
    return f"  {name:<16} {value}"


def _facts(holding: Holding) -> Iterator[str]:
    facts = holding.facts
    rank = facts.rank if facts.rank is not None else facts.records_rank
    world = f" of {facts.world_size}" if facts.world_size else ""
    known = {
        "rank": None if rank is None else f"{rank}{world}",
        "backend": facts.backend,
        "host": facts.host,
        "process": facts.pid,
        "GPU": ", ".join(sorted(set(facts.gpus.values()) or set(facts.gpu_names))) or None,
        "versions": ", ".join(f"{k} {v}" for k, v in sorted(facts.versions.items())) or None,
    }
    for name, value in known.items():
        if value is not None:
            yield _row(name, str(value))
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in holding.activities.items())
    yield _row("GPU activities", kinds or "none")
    yield _row("host calls", f"{holding.host_calls:,}")
    yield _row("collectives", f"{holding.collectives:,} described")
    yield _row("events in all", f"{holding.events:,}")
    if holding.first_ns is not None and holding.last_ns is not None:
        yield _row("covers", span(holding.last_ns - holding.first_ns))


def _health(holding: Holding) -> Iterator[str]:
    health = holding.health
    yield _row("health", "; ".join([holding.state, *_losses(health)]))
    if health.cut:
        yield _row("cut", f"{health.cut}{_last_good(holding)}")
    for note in health.notes:
        yield _row("note", note)


def _losses(health: Health) -> Iterator[str]:
    if health.events_repaired:
        yield f"{health.events_repaired:,} events mended"
    if health.events_lost:
        yield f"{health.events_lost:,} events lost"
    if health.bytes_lost:
        yield f"{size(health.bytes_lost)} lost"


def _last_good(holding: Holding) -> str:
    last, first = holding.health.last_good_ns, holding.first_ns
    if last is None or first is None:
        return ""
    return f"; the last good event begins {span(last - first)} after the first"
