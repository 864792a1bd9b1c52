"""Options that several commands share, with one meaning everywhere."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from commscope.cli.cached import NO_CACHE, chosen_cache
from commscope.config import find_config
from commscope.errors import UsageError

if TYPE_CHECKING:
    from commscope.trace import Trace

Command = TypeVar("Command", bound=Callable[..., Any])

PATHS = click.argument("paths", nargs=-1, required=True, metavar="PATH...")
PARSER = click.option("--parser", metavar="NAME", help="Read the files with this parser.")
QUIET = click.option(
    "-q", "--quiet", is_flag=True, help="No progress bar; of a report, only the verdict."
)
TOP = click.option(
    "--top",
    type=click.IntRange(1, 1_000_000),
    default=30,
    show_default=True,
    metavar="N",
    help="How many.",
)
OUTPUT = click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
    callback=lambda _context, _option, path: None if path == Path("-") else path,
    help="Write to a file; - is standard output.",
)  # fmt: skip
FORMAT = click.option(
    "--format", "style", type=click.Choice(["text", "json"]), default=None,
    help="How to print; by default text, or what the output file's name says.",
)  # fmt: skip

STEPS = click.option(
    "--steps", "--step", metavar="RANGES",
    help="Count only these steps, such as 3-7,9; numbers of whole traces stay as they are.",
)  # fmt: skip
SKIP_FIRST = click.option(
    "--skip-first", type=click.IntRange(0), default=0, metavar="N",
    help="Leave out the first N steps of each rank, as --steps does.",
)  # fmt: skip
STEP_MARKER = click.option("--step-marker", metavar="REGEX", help="Annotations that begin a step.")
PATTERN = click.option(
    "--pattern", "patterns", multiple=True, metavar="CLASS=REGEX",
    help="Kernel names of communication, compute, copy or a family.",
)  # fmt: skip
CONFIG = click.option(
    "--config", type=click.Path(path_type=Path), metavar="FILE",
    help="Settings; ./commscope.toml by default.",
)  # fmt: skip
ROLE = click.option(
    "--role", "roles", multiple=True, metavar="NAME=REGEX",
    help="Role of the process groups whose name or description fits.",
)  # fmt: skip

_READING = (
    PARSER,
    click.option("--log", "logs", multiple=True, metavar="FILE",
                 help="Log of RCCL or NCCL (NCCL_DEBUG=INFO), or a folder of them."),
    click.option("--topology", multiple=True, metavar="FILE",
                 help="Output of rocm-smi, amd-smi or the like, or a folder of env --save."),
    click.option("--counters", multiple=True, metavar="DIR",
                 help="Counters of omniperf, rocprof-compute or rocprofv3."),
    click.option("--rank", "ranks", multiple=True, metavar="N=FILE",
                 help="Rank of a file that does not tell it."),
    click.option("--capture", metavar="N|all", callback=lambda *given: _capture(given[-1]),
                 help="Which capture, from 0; the newest complete one by default."),
    *(STEPS, SKIP_FIRST, STEP_MARKER, PATTERN, CONFIG, ROLE),
    click.option("--reference", metavar="FILE",
                 help="Output of rccl-tests or nccl-tests: what to expect of this machine."),
    click.option("--unprofiled-step-ms", type=click.FloatRange(0, min_open=True), metavar="MS",
                 help="How long a step takes without the profiler."),
    NO_CACHE,
)  # fmt: skip
_RANK = re.compile(r"([0-9]{1,9})=(.+)", re.DOTALL)


def reading_options(command: Command) -> Command:
    """Adds what says which files are read, and how, to a command."""
    return PATHS(ways_of_reading(command))


def ways_of_reading(command: Command) -> Command:
    """The same without the paths, for a command that names its files another way."""
    return functools.reduce(lambda c, option: option(c), reversed(_READING), command)


def read_trace(
    paths: Sequence[str],
    ranks: Sequence[str],
    config: Path | None,
    quiet: bool,
    *,
    no_cache: bool,
    **given: Any,
) -> Trace:
    """Loads a trace as the reading options say, with progress on standard error."""
    # A report that was kept needs none of these, and is printed before they are imported.
    from commscope.api import load  # noqa: PLC0415
    from commscope.cli.progress import reading_progress  # noqa: PLC0415

    with reading_progress(quiet=quiet) as progress:
        return load(
            list(paths),
            ranks=parse_ranks(ranks),
            default_patterns=find_config(config).patterns,
            progress=progress,
            cache=chosen_cache(no_cache=no_cache),
            **given,
        )


def _capture(given: str | None) -> int | Literal["all"] | None:
    if given is None:
        return None
    if given == "all":
        return "all"
    if not re.fullmatch("[0-9]{1,9}", given):
        raise UsageError(f"--capture {given}: a number from 0, or all")
    return int(given)


def parse_ranks(given: Sequence[str]) -> Mapping[int, str]:
    """Rank -> file of what ``--rank`` was given; raises UsageError where it is written wrongly."""
    result: dict[int, str] = {}
    for text in given:
        found = _RANK.fullmatch(text)
        if not found:
            raise UsageError(f"--rank {text}: write a rank and a file, such as 3=trace.json")
        rank = int(found[1])
        if rank in result:
            raise UsageError(f"--rank {text}: rank {rank} is given to {result[rank]} already")
        result[rank] = found[2]
    return result
