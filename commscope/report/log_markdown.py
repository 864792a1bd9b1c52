"""What the logs of a job say as Markdown, where there is no trace to report on."""

from __future__ import annotations

from collections.abc import Sequence

from commscope.report.log_report import LogReport
from commscope.report.log_verdict import log_verdict
from commscope.report.markdown import MARKER, MOST_FINDINGS, finding_details
from commscope.report.markdown_text import Section, bullets, fitted, prose
from commscope.report.text import drawn_text
from commscope.report.text_log import print_log

_WIDTH = 110


def log_markdown(report: LogReport, *, told: Sequence[str] = ()) -> str:
    """The report, no longer than a comment may be; ``told`` is known beside the logs."""
    text = drawn_text(lambda console: print_log(report, console), _WIDTH)
    sections = (
        Section("The job", bullets(told)),
        Section("Findings", "\n".join(map(finding_details, report.findings[:MOST_FINDINGS]))),
        Section("From the logs", _preformatted(text.strip("\n"))),
    )
    return fitted(MARKER, f"**{prose(log_verdict(report))}**\n", sections)


def _preformatted(text: str) -> str:
    """Text as it is: indented, as a fence could be ended by what stands in it."""
    return "".join(f"    {line}\n" for line in text.splitlines())
