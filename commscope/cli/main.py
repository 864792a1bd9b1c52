"""``commscope``: the group of commands, and the one place where errors become exit codes."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

import click

from commscope._version import __version__
from commscope.cli.analyze import analyze
from commscope.cli.inspect import inspect
from commscope.cli.kernels import kernels
from commscope.errors import CommscopeError
from commscope.sanitize import plain


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="commscope")
def cli() -> None:
    """Which communication was exposed in a GPU training job, why, and what fixing it would win."""


for command in (analyze, inspect, kernels):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits with the code of ``commscope.errors``."""
    logging.basicConfig(level=logging.WARNING, format="commscope: %(message)s")
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    try:
        result = cli.main(arguments, prog_name="commscope", standalone_mode=False)
    except CommscopeError as error:
        return _fail(str(error), error.exit_code)
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", 130)
    except BrokenPipeError:
        # The reader of a pipe has seen enough; Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return result if isinstance(result, int) else 0


def _fail(message: str, code: int) -> int:
    click.echo(f"commscope: {plain(message)}", err=True)
    return code
