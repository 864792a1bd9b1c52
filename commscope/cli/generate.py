"""``commscope generate``: a job with known answers, its traces, and what really happened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from commscope.cli.generate_options import (
    GroupedCommand,
    given_knobs,
    grouped,
    knob_options,
)
from commscope.cli.output import write
from commscope.errors import UsageError
from commscope.generator.catalog import GROUPS, SCENARIOS, Suite, expand, plan_of
from commscope.generator.catalog.plan import Plan
from commscope.generator.catalog.scenarios import why_not
from commscope.generator.engines import ENGINES, Choice
from commscope.generator.engines import generate as run_plan
from commscope.generator.run_folder import require_usable
from commscope.generator.schedule import Communication
from commscope.sanitize import plain
from commscope.wording import counted

_RUN, _HOW = "What is run", "How it is run"


@click.command(cls=GroupedCommand, short_help="A job with known answers, to try everything on.")
@grouped(
    "--scenario",
    "names",
    multiple=True,
    metavar="NAME",
    group=_RUN,
    help="What happens in the job: --list names them; all is every one. May be repeated.",
)
@grouped(
    "--suite",
    type=click.Choice(["amd", "nvidia"]),
    group=_RUN,
    help="All scenarios, on GPUs of a vendor.",
)
@grouped("--list", "is_list", is_flag=True, group=_RUN, help="Name the scenarios, and end.")
@grouped(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    group=_RUN,
    help="A new folder for what is generated; of several runs, with one folder for each.",
)
@grouped(
    "--engine",
    type=click.Choice(list(ENGINES)),
    default=next(iter(ENGINES)),
    show_default=True,
    group=_HOW,
    help="What carries the job out.",
)
@grouped(
    "--backend",
    type=click.Choice(["auto", "amd", "nvidia", "host"]),
    default="auto",
    show_default=True,
    group=_HOW,
    help="For what it is compiled, or whose traces to write.",
)
@grouped(
    "--formats",
    metavar="NAMES",
    default="",
    group=_HOW,
    help="Formats of the traces, such as kineto or csv,json.",
)
@grouped("--dry-run", is_flag=True, group=_HOW, help="Say what would be run, and end.")
@knob_options
def generate(
    *,
    names: tuple[str, ...],
    suite: str | None,
    is_list: bool,
    out: Path | None,
    dry_run: bool,
    **given: Any,
) -> None:
    """Run a job whose answers are known: its traces, logs, and the truth of what was exposed.

    A program plays scenarios of communication and compute on GPUs (or simulates them), under the
    profiler, and notes what really happened. So a profiler's set-up, a fabric and commscope itself
    can be tried before a real job. Every number of a job can be set; those of a scenario are meant
    to show its cause.
    """
    if is_list:
        write("".join(f"{line}\n" for line in _listed()), None)
        return
    choice = _choice(suite, given)
    wanted, left_out = _suite(names or (("all",) if suite else ()), given_knobs(given), choice)
    if dry_run:
        write("".join(f"{plain(line)}\n" for line in _planned(wanted, left_out)), None)
        return
    if out is None:
        raise UsageError("--out: name a new folder for what is generated")
    require_usable(out)
    for line in left_out:
        write(f"{plain(line)}\n", None)
    for name, plan in wanted:
        folder = out if len(wanted) == 1 else out / name
        for line in run_plan(plan, choice, folder).warnings:
            write(f"warning: {plain(line)}\n", None)
        write(f"{plain(_done(plan, folder))}\n", None)


def _listed() -> Iterator[str]:
    width = max(map(len, (*SCENARIOS, *GROUPS)))
    for scenario in SCENARIOS.values():
        more = f" At least {scenario.min_ranks} ranks." if scenario.min_ranks > 1 else ""
        yield f"{scenario.name:{width}}  {scenario.summary}{more}"
    for name, members in GROUPS.items():
        says = "all of these" if name == "all" else ", ".join(members)
        yield f"{name:{width}}  {says}"


def _suite(
    names: tuple[str, ...], given: Mapping[str, Any], choice: Choice
) -> tuple[Suite, list[str]]:
    """The runs that are asked for, and what is said of those that groups leave out."""
    if not names:
        raise UsageError("--scenario: name what to run (--list names them), or give --suite")
    runs, left_out = [], []
    for name in expand(names):
        reason = "" if name in names else why_not(name, given, choice.shows_on)
        if reason:
            left_out.append(f"left out {name}: {reason}")
        else:
            runs.append((name, plan_of(name, given)))
    if not runs:
        raise UsageError(f"--scenario: nothing is left to run; {'; '.join(left_out)}")
    return tuple(runs), left_out


def _choice(suite: str | None, given: Mapping[str, Any]) -> Choice:
    backend = suite if suite and given["backend"] == "auto" else given["backend"]
    formats = tuple(name for name in given["formats"].split(",") if name)
    return Choice(engine=given["engine"], backend=backend, formats=formats)


def _planned(suite: Suite, left_out: list[str]) -> Iterator[str]:
    yield from left_out
    for name, plan in suite:
        programs = plan.schedule.programs
        collectives = sum(isinstance(o, Communication) for o in programs[0])
        yield (
            f"{name}: {counted(plan.knobs.ranks, 'rank')}, {counted(plan.knobs.steps, 'step')} "
            f"after {plan.knobs.warmup} of warm-up, {counted(collectives, 'collective')} a rank; "
            f"{_causes(plan)}"
        )


def _causes(plan: Plan) -> str:
    said = [
        f"{cause.rule}" + (f" on rank {cause.rank}" if cause.rank is not None else "")
        for cause in plan.causes
    ]
    return f"to be found: {', '.join(said)}" if said else "healthy"


def _done(plan: Plan, folder: Path) -> str:
    return f"wrote {folder}: {plan.scenario}, {counted(plan.knobs.ranks, 'rank')}; {_causes(plan)}"
