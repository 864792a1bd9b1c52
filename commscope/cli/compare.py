"""``commscope compare``: what changed from one run to another, and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from commscope.cli.cached import NO_CACHE
from commscope.cli.options import (
    CONFIG,
    OUTPUT,
    PARSER,
    PATTERN,
    QUIET,
    ROLE,
    SKIP_FIRST,
    STEP_MARKER,
    STEPS,
    read_trace,
)
from commscope.cli.output import PLAIN_WIDTH, check_output, chosen_style, show, write
from commscope.cli.reporting import THRESHOLD
from commscope.compare.build import compare_runs, examine
from commscope.compare.model import Comparison
from commscope.compare.scope import Examined
from commscope.compare.text import print_comparison
from commscope.config import find_config
from commscope.findings.limits import parse_limits
from commscope.sanitize import plain

_STYLES = ("text", "json", "md", "html")
_FORMAT = click.option(
    "--format", "style", type=click.Choice(_STYLES), default=None,
    help="How to print; by default text, or what the output file's name says.",
)  # fmt: skip


@click.command(short_help="What changed from one run to another, and why.")
@click.argument("base", metavar="BASE")
@click.argument("new", metavar="NEW")
@click.option("--base", "more_base", multiple=True, metavar="RUN", help="Another run like BASE.")
@click.option("--new", "more_new", multiple=True, metavar="RUN", help="Another run like NEW.")
@PARSER
@STEPS
@SKIP_FIRST
@STEP_MARKER
@PATTERN
@ROLE
@CONFIG
@THRESHOLD
@NO_CACHE
@_FORMAT
@OUTPUT
@QUIET
def compare(
    *,
    base: str,
    new: str,
    more_base: Sequence[str],
    more_new: Sequence[str],
    config: Path | None,
    thresholds: Sequence[str],
    style: str | None,
    output: Path | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Say what changed from BASE to NEW, what explains it, and whether it is more than noise.

    Each is what analyze takes: a trace, a folder of them (one a rank), a pattern or an archive.
    With several runs a side, started independently, noise between runs is known too.
    """
    sides = ((base, *more_base), (new, *more_new))
    check_output(output, [path for side in sides for path in side], config)
    chosen = chosen_style(style, output, known=_STYLES)
    limits = {**find_config(config).thresholds, **parse_limits(thresholds)}

    def read(path: str) -> Examined:
        trace = read_trace([path], ranks=(), config=config, quiet=quiet, **reading)
        return examine(path, trace, limits)

    _write(compare_runs(*([read(path) for path in side] for side in sides)), chosen, output, quiet)


def _write(found: Comparison, style: str, output: Path | None, quiet: bool) -> None:
    if style in _RENDERERS:
        write(_RENDERERS[style](found), output)
    elif quiet:
        write(f"{plain(found.verdict)}\n", output)
    else:
        show(lambda console: print_comparison(found, console), output, width=PLAIN_WIDTH)


_RENDERERS = {
    "json": Comparison.to_json,
    "md": Comparison.to_markdown,
    "html": Comparison.to_html,
}
