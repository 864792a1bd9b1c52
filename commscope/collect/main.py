"""The command line where only Python itself is at hand: ``run`` and ``env --save``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from commscope.collect import host_facts
from commscope.collect.launch import run
from commscope.collect.options import OPTIONS, Option, options_of
from commscope.collect.signals import end_as

_PROGRAM = "commscope-collect"


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the arguments say; returns the exit code, or dies as the job did."""
    own, command = _parted(list(sys.argv[1:] if arguments is None else arguments))
    parser = _parser()
    given = vars(parser.parse_args(own))
    chosen = given.pop("chosen")
    if chosen == "env":
        return host_facts.main([str(given["save"]), "--timeout", f"{given['timeout']:g}"])
    try:
        options = options_of([*given.pop("command"), *command], **given)
    except ValueError as error:
        parser.error(str(error))
    return end_as(run(options))


def _parted(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The arguments before the first ``--`` and those behind it, which are the job's alone."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=_PROGRAM, description="Runs a job and collects what"
                                     " commscope analyses, here or elsewhere.")  # fmt: skip
    commands = parser.add_subparsers(dest="chosen", required=True, metavar="COMMAND")
    job = commands.add_parser("run", help="run a job and collect", allow_abbrev=False,
                              usage=f"{_PROGRAM} run [options] -- COMMAND...")  # fmt: skip
    for option in OPTIONS:
        _add(job, option)
    job.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    env = commands.add_parser("env", help="save what tells of this host's topology")
    env.add_argument("--save", type=Path, required=True, metavar="DIR")
    env.add_argument("--timeout", type=float, default=host_facts.TIMEOUT_S, metavar="S")
    return parser


def _add(parser: argparse.ArgumentParser, option: Option) -> None:
    given: dict[str, Any] = {"help": option.help}
    if option.choices:
        given.update(choices=option.choices, default=option.default)
    elif option.parse is None:
        given.update(action="store_true")
    else:
        given.update(type=_told(option.parse), metavar=option.metavar, default=option.default)
    parser.add_argument(option.flag, **given)


def _told(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same function with an error that argparse shows."""

    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parsed
