"""From the options of a command to a run that is saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commscope.api import analyze, read
from commscope.cli.cached import chosen_cache
from commscope.cli.options import parse_ranks
from commscope.cli.progress import reading_progress
from commscope.config import find_config
from commscope.engine.load import trace_of
from commscope.engine.run import Run
from commscope.errors import UsageError
from commscope.wording import counted

if TYPE_CHECKING:
    from commscope.report.model import Report


def read_to_save(
    *,
    paths: Sequence[str],
    ranks: Sequence[str],
    config: Path | None,
    no_cache: bool,
    counters: Sequence[str],
    reference: str | None,
    quiet: bool,
    **given: Any,
) -> Run:
    """Reads a run as the reading options say; raises UsageError for what is not kept of one."""
    for option, is_given in (("--counters", counters), ("--reference", reference)):
        if is_given:
            raise UsageError(
                f"{option}: is not kept with a run; give it to the command that analyses the run"
            )
    with reading_progress(quiet=quiet) as progress:
        return read(
            list(paths),
            ranks=parse_ranks(ranks),
            default_patterns=find_config(config).patterns,
            progress=progress,
            cache=chosen_cache(no_cache=no_cache),
            **given,
        )


def reported(run: Run) -> Report:
    """The report as anybody finds it who is given the run, without settings of one's own."""
    return analyze(trace_of(run))


def described(run: Run) -> str:
    """What a run holds, in a few words."""
    parts = [counted(len(run.readings), "trace")]
    if run.logs is not None:
        parts.append(counted(len(run.logs.files), "log"))
    if run.topology is not None:
        parts.append(f"the topology of {counted(len(run.topology.hosts), 'host')}")
    return ", ".join(parts)


def require_outside(output: Path, inputs: Sequence[str]) -> None:
    """Raises UsageError where a saved run would be read as a trace next time."""
    for given in map(Path, inputs):
        if given.is_dir() and output.resolve().is_relative_to(given.resolve()):
            raise UsageError(
                f"{output}: lies where traces are read from ({given}); choose another folder"
            )
