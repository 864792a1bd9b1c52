"""What a job on GitHub shows of a command: annotations, and the summary of the job."""

from __future__ import annotations

import os

import click

from commscope.cli.output import write
from commscope.errors import UsageError

_SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"

GITHUB = click.option(
    "--github", is_flag=True,
    help="Print annotations for GitHub, and add to the summary of the job.",
)  # fmt: skip


def show_on_github(annotations: str, markdown: str) -> None:
    """Annotations on standard output, and the text where the runner collects summaries."""
    write(annotations, None)
    summary = os.environ.get(_SUMMARY_VARIABLE)
    if not summary:
        return
    try:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(markdown)
    except OSError as error:
        raise UsageError(f"{_SUMMARY_VARIABLE}: {summary}: {error.strerror or error}") from error
