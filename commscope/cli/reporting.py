"""From the options of a command to a report: reading, thresholds, configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from commscope.api import analyze
from commscope.cli.options import read_trace
from commscope.config import find_config
from commscope.report.model import Report

THRESHOLD = click.option(
    "--threshold", "thresholds", multiple=True, metavar="RULE.NAME=VALUE",
    help="Another threshold of a rule, see commscope rules.",
)  # fmt: skip


def analyze_as_set(
    thresholds: Sequence[str], config: Path | None, *, quiet: bool, **reading: Any
) -> Report:
    """The report of what the reading options say, by the thresholds of options and file."""
    trace = read_trace(config=config, quiet=quiet, **reading)
    given = find_config(config).thresholds
    return analyze(trace, thresholds=thresholds, default_thresholds=given)
