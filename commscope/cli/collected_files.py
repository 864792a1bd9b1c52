"""The report on a collected run as a file of any kind, and as annotations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from commscope.cli.collected import draw, verdict
from commscope.report.text import drawn_text

if TYPE_CHECKING:
    from commscope.automation.asked import Asked


def rendered(asked: Asked, suffix: str) -> bytes:
    """The file whose name ends so: .html, .json, .md, .txt or .xml."""
    kept = asked.made.files.get(f"report{suffix}")
    if kept is not None:
        return kept
    text = _junit(asked) if suffix == ".xml" else drawn_text(lambda it: draw(asked, it), 120)
    return text.encode()


def github_lines(asked: Asked) -> str:
    """The verdict and the findings for GitHub."""
    from commscope.report.github import log_annotations, report_annotations  # noqa: PLC0415

    report, logs, says = asked.made.report, asked.made.logs, verdict(asked)
    if report is not None:
        return report_annotations(replace(report, summary=replace(report.summary, verdict=says)))
    return "" if logs is None else log_annotations(logs, says)


def _junit(asked: Asked) -> str:
    from commscope.report.junit import log_junit, report_junit  # noqa: PLC0415

    report, logs = asked.made.report, asked.made.logs
    if report is not None:
        return report_junit(report)
    return "" if logs is None else log_junit(logs)
