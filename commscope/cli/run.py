"""``commscope run``: run a job, collect what tells of it, and report when it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from commscope.collect.launch import run as run_job
from commscope.collect.options import OPTIONS, Option, options_of
from commscope.collect.signals import end_as
from commscope.errors import UsageError


def _checked(parse: Callable[[str], Any]) -> Callable[..., Any]:
    """A callback that parses the text of an option."""

    def parsed(_context: click.Context, _option: click.Parameter, text: Any) -> Any:
        if not isinstance(text, str):
            return text
        try:
            return parse(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return parsed


def _click_option(option: Option) -> Callable[[Any], Any]:
    if option.choices:
        kind = click.Choice(option.choices)
        return click.option(
            option.flag, type=kind, default=option.default, show_default=True, help=option.help
        )
    if option.parse is None:
        return click.option(option.flag, is_flag=True, help=option.help)
    return click.option(
        option.flag,
        metavar=option.metavar,
        callback=_checked(option.parse),
        default=None if option.default is None else f"{option.default:g}",
        show_default=True,
        help=option.help,
    )


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(OPTIONS):
        command = _click_option(option)(command)
    return command


@click.command(
    short_help="Run a job, collect what tells of it, and report when it ends.",
    context_settings={"allow_interspersed_args": False},
)
@_options
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def run(command: Sequence[str], **given: Any) -> int:
    """Run a job unchanged, and have the report when it ends.

    COMMAND is what starts the job: torchrun, python, srun, mpirun or any other. Its output, signals
    and exit code are its own. Logs of RCCL or NCCL, facts of the host and, with --profile, traces
    are collected into the folder of the run, which holds report.html, .json and .md in the end.
    """
    try:
        options = options_of(command, **given)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return end_as(run_job(options))
