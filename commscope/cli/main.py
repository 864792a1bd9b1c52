"""``commscope``: the group of commands, and the one place where errors become exit codes."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from commscope._version import __version__
from commscope.errors import CommscopeError
from commscope.sanitize import plain

#: Every command by its name: its module holds a click command of the same name.
COMMANDS = (
    *("analyze", "baseline", "bundle", "cache", "check", "collectives", "compare", "convert"),
    *("dash", "env", "explain", "gaps", "generate", "grade"),
    *("inspect", "kernels", "log", "omniperf", "report", "rules", "run", "stragglers", "watch"),
)
#: Other names of commands.
ALIASES = {"view": "dash"}


class _Commands(click.Group):
    """Commands imported as they are called, so that ``--version`` need not wait for them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        command = getattr(import_module(f"commscope.cli.{name}"), name)
        return command if isinstance(command, click.Command) else None


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="commscope")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Which communication was exposed in a GPU training job, why, and what fixing it would win."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits with the code of ``commscope.errors``."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal's encoding lacks must not end the program.
        sys.stdout.reconfigure(errors="replace")
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    try:
        result = cli.main(arguments, prog_name="commscope", standalone_mode=False)
    except CommscopeError as error:
        return _fail(str(error), error.exit_code)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "commscope"
        return _fail(f"{error.format_message().rstrip('.')} (see {command} --help)", 2)
    except (click.Abort, KeyboardInterrupt):
        return 130
    except OSError as error:
        # What the system refuses on the way, such as room for a temporary file, is no bug.
        return _fail(f"{error.filename or 'the system'}: {error.strerror or error}", 1)
    return result if isinstance(result, int) else 0


def _fail(message: str, code: int) -> int:
    click.echo(f"commscope: {plain(message)}", err=True)
    return code
