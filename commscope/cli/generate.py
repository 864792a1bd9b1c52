"""``commscope generate``: a job with known answers, its traces, and what really happened."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click

from commscope.cli.generate_options import (
    GroupedCommand,
    engine_options,
    given_knobs,
    grouped,
    knob_options,
)
from commscope.cli.output import write
from commscope.errors import CommscopeError, UsageError
from commscope.sanitize import plain
from commscope.wording import counted

_RUN = "What is run"
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


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
@grouped(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    group=_RUN,
    help="A new folder for what is generated; of several runs, with one folder for each.",
)
@grouped(
    "--bundle",
    is_flag=True,
    group=_RUN,
    help="Pack all of it, redacted, into DIR.tar.gz, to be shared.",
)
@grouped("--list", "is_list", is_flag=True, group=_RUN, help="Name the scenarios, and end.")
@grouped("--dry-run", is_flag=True, group=_RUN, help="Say what would be run, and end.")
@grouped(
    "--print-command",
    is_flag=True,
    group=_RUN,
    help="Print the commands that compile and run it, and end.",
)
@grouped("--compile-only", is_flag=True, group=_RUN, help="Compile the program, and end.")
@engine_options
@knob_options
def generate(
    *,
    names: tuple[str, ...],
    suite: str | None,
    out: Path | None,
    bundle: bool,
    is_list: bool,
    dry_run: bool,
    print_command: bool,
    compile_only: bool,
    **given: Any,
) -> None:
    """Run a job whose answers are known: its traces, logs, and the truth of what was exposed.

    A program plays scenarios of communication and compute on GPUs (or simulates them), under the
    profiler, and notes what really happened: commscope grade holds one against the other. So the
    profiler's set-up, the fabric and commscope itself can be tried before a real job. Every number
    of a job can be set; those of a scenario are meant to show its cause.
    """
    from commscope.cli import generate_told as told  # noqa: PLC0415 - --help need not wait for it
    from commscope.generator.engines import compile_program  # noqa: PLC0415

    choice = _choice(suite, given)
    if is_list:
        _say(told.listed())
        return
    if compile_only:
        _say([f"compiled {compile_program(choice)}"])
        return
    wanted, left_out = _suite(names or (("all",) if suite else ()), given_knobs(given), choice)
    _say(left_out)
    folders = _folders(out or Path("OUT"), wanted)
    if dry_run or print_command:
        _say(told.planned(wanted) if dry_run else ())
        _say(told.shown_commands(wanted, choice, folders) if print_command else ())
        return
    if out is None:
        raise UsageError("--out: name a new folder for what is generated")
    with _ended_by_sigterm():
        _generate(wanted, choice, out, folders, is_bundled=bundle)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """What runs is ended as by Ctrl-C: timeout, Slurm and CI send SIGTERM."""

    def end(number: int, _: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        write(f"{plain(line)}\n", None)


def _folders(out: Path, wanted: Any) -> list[Path]:
    return [out] if len(wanted) == 1 else [out / name for name, _ in wanted]


def _generate(
    wanted: Any, choice: Any, out: Path, folders: list[Path], *, is_bundled: bool
) -> None:
    """Runs all, also where one fails; raises CommscopeError in the end if one did."""
    from commscope.cli import generate_told as told  # noqa: PLC0415
    from commscope.generator.bundling import bundle_runs  # noqa: PLC0415
    from commscope.generator.run_folder import require_usable, run_path  # noqa: PLC0415

    require_usable(out)
    archive = out.with_name(f"{out.name}.tar.gz")
    failed = [
        name
        for (name, plan), folder in zip(wanted, folders)
        if not _succeeds(name, plan, choice, folder, is_alone=len(wanted) == 1)
    ]
    if is_bundled:
        there = [folder for folder in folders if run_path(folder).is_file()]
        _say(told.packed(bundle_runs(there, archive), archive))
    if failed:
        raise CommscopeError(f"{counted(len(failed), 'run')} failed: {', '.join(failed)}")


def _succeeds(name: str, plan: Any, choice: Any, folder: Path, *, is_alone: bool) -> bool:
    """Runs one; raises CommscopeError where it fails alone, or no other would run either."""
    from commscope.cli import generate_told as told  # noqa: PLC0415
    from commscope.generator.engines import generate as run_plan  # noqa: PLC0415

    try:
        run = run_plan(plan, choice, folder)
    except UsageError:
        raise
    except CommscopeError as error:
        if is_alone:
            raise
        _say([f"failed {name}: {error}"])
        return False
    lacks = ["without its truth (--truth none) it cannot be graded"]
    _say([f"wrote {folder}: {name}, {told.causes(plan)}", *run.warnings])
    _say(lacks if choice.truth == "none" else ())
    return True


def _suite(names: tuple[str, ...], given: Mapping[str, Any], choice: Any) -> tuple[Any, list[str]]:
    """The runs that are asked for, and what is said of those that groups leave out."""
    from commscope.generator.catalog import expand, plan_of  # noqa: PLC0415
    from commscope.generator.catalog.scenarios import why_not  # noqa: PLC0415

    if not names:
        raise UsageError("--scenario: name what to run (--list names them), or give --suite")
    runs, left_out = [], []
    for name in expand(names):
        reason = why_not(name, given, choice.places)
        if reason and name in names:
            raise UsageError(f"--scenario {name}: {reason}")
        if reason:
            left_out.append(f"left out {name}: {reason}")
        else:
            runs.append((name, plan_of(name, given)))
    if not runs:
        raise UsageError(f"--scenario: nothing is left to run; {'; '.join(left_out)}")
    return tuple(runs), left_out


def _choice(suite: str | None, given: Mapping[str, Any]) -> Any:
    from commscope.generator.engines import Choice  # noqa: PLC0415

    return Choice(
        engine=given["engine"],
        backend=_backend(suite, given),
        arch=given["arch"] or "",
        compiler=given["compiler"] or "",
        profiler=given["profiler"],
        formats=given["formats"],
        profile_ranks=given["profile_ranks"],
        devices=given["devices"],
        python=given["python"] or "",
        timeout_s=given["timeout"],
        truth=given["truth"],
        env=_variables(given["env"]),
    )


def _backend(suite: str | None, given: Mapping[str, Any]) -> str:
    """The one given, else that of the suite; threads of the host are of nobody."""
    backend: str = given["backend"]
    return suite if suite and backend == "auto" and given["engine"] != "host" else backend


def _variables(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in given:
        match = _VARIABLE.fullmatch(text)
        if not match:
            raise UsageError(f"--env {text}: write NAME=VALUE")
        found[match[1]] = match[2]
    return found
