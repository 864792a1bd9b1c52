"""``commscope analyze --as TOOL``: the figures of another tool, and why ours differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from commscope.cli.output import emit

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
    from commscope.peers import TOOLS, answer_as, files_beside  # noqa: PLC0415
    from commscope.report.text_peers import print_peer  # noqa: PLC0415

    paths: Sequence[str] = reading["paths"]
    reading.pop("thresholds", None)  # no rule is asked
    try:
        trace = read_trace(quiet=quiet, **reading)
    except NoDeviceEvents as error:
        tool, _ = TOOLS[peer]
        raise NoDeviceEvents(f"{error}. {tool.without_activities}") from error
    found = answer_as(trace, peer, files_beside(trace, paths))
    emit(found.to_dict, lambda console: print_peer(found, console), style, output)
