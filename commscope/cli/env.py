"""``commscope env``: how are the GPUs of a host joined, and what do their links allow?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from commscope.cli.options import FORMAT, OUTPUT, QUIET
from commscope.cli.output import check_output, emit, write
from commscope.cli.progress import reading_progress
from commscope.collect.host_facts import MOST_TIMEOUT_S, TIMEOUT_S, collect, is_timeout
from commscope.engine.topology import load_topology
from commscope.errors import UsageError
from commscope.report.env_json import env_dict
from commscope.report.svg_links import svg_of
from commscope.report.text_env import print_env, print_env_verdict
from commscope.topology.model import Topology


def _checked(timeout: float) -> float:
    if not is_timeout(timeout):
        raise click.BadParameter(f"give more than 0 and at most {MOST_TIMEOUT_S:,.0f}")
    return timeout


@click.command(short_help="How the GPUs of a host are joined, and what their links allow.")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@click.option(
    "--save",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Save what the tools of this machine tell into a folder; then show it.",
)
@click.option(
    "--timeout",
    type=float,
    callback=lambda _context, _option, value: _checked(value),
    default=TIMEOUT_S,
    show_default=True,
    metavar="S",
    help="Seconds that a tool may take with --save, at most a day.",
)
@click.option(
    "--svg",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the links into an SVG file too.",
)
@FORMAT
@OUTPUT
@QUIET
def env(
    paths: Sequence[str], save: Path | None, svg: Path | None, timeout: float, **shown: Any
) -> None:
    """Show devices, links and network devices of hosts, and what an all-reduce may reach.

    PATH is the output of rocm-smi, amd-smi, nvidia-smi topo -m, rocminfo or hipconfig, a file of
    NCCL_TOPO_DUMP_FILE or NCCL_GRAPH_DUMP_FILE, or a folder of such files.
    """
    if not paths and save is None:
        raise UsageError("no input was given; name a file or a folder, or use --save DIR")
    check_output(shown["output"], paths)
    check_output(svg, paths, option="--svg")
    if save is not None:
        _save(save, timeout)
    given = [*paths, *([] if save is None else [str(save)])]
    with reading_progress(quiet=shown["quiet"]) as progress:
        topology = load_topology(given, progress)
    if svg is not None:
        write(svg_of(topology), svg)
    _show(topology, **shown)


def _save(folder: Path, timeout: float) -> None:
    try:
        outcomes = collect(folder, timeout_s=timeout)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"--save {folder}: cannot be written ({reason})") from error
    for outcome in outcomes:
        told = outcome.reason or f"{outcome.bytes:,} bytes in {outcome.file}"
        click.echo(f"{outcome.command}: {told}", err=True)


def _show(topology: Topology, *, style: str | None, output: Path | None, quiet: bool) -> None:
    draw = print_env_verdict if quiet else print_env
    emit(lambda: env_dict(topology), lambda console: draw(topology, console), style, output)
