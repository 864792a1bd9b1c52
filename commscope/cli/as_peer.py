"""``commscope analyze --as TOOL``: the figures of another tool, and why ours differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from commscope.cli.output import chosen_style, show, write

#: The names of ``commscope.peers.TOOLS``, which takes longer to import than a help text to print.
NAMES = ("hta", "tracelens", "tb")

AS = click.option(
    "--as", "peer", type=click.Choice(NAMES),
    help="The figures of HTA, TraceLens or the TensorBoard plug-in, and why ours differ.",
)  # fmt: skip


def analyze_as_peer(
    peer: str, style: str | None, output: Path | None, *, quiet: bool, **reading: Any
) -> None:
    """Reads the trace, and what its files hold beside it, and writes the tool's answer."""
    from commscope.cli.options import read_trace  # noqa: PLC0415
    from commscope.errors import NoDeviceEvents  # noqa: PLC0415
    from commscope.peers import answer_as, files_beside  # noqa: PLC0415
    from commscope.report.text_peers import print_peer  # noqa: PLC0415
    from commscope.sanitize import json_text  # noqa: PLC0415

    paths: Sequence[str] = reading["paths"]
    reading.pop("thresholds", None)  # no rule is asked
    try:
        trace = read_trace(quiet=quiet, **reading)
    except NoDeviceEvents as error:
        raise NoDeviceEvents(f"{error}. {_TOOL_FAILS[peer]}") from error
    found = answer_as(trace, peer, files_beside(trace, paths))
    if chosen_style(style, output) == "json":
        write(json_text(found.to_dict()), output)
    else:
        show(lambda console: print_peer(found, console), output)


_TOOL_FAILS = {
    "hta": "HTA fails here too: IndexError: single positional indexer is out-of-bounds",
    "tracelens": "TraceLens fails here too: ValueError: No GPU events found in the trace",
    "tb": "The TensorBoard plug-in has no kernels to show here either",
}
