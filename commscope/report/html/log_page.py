"""What the logs of a job say as one HTML file, where there is no trace to report on."""

from __future__ import annotations

from collections.abc import Sequence

from commscope.report.html.document import capitalised, document, sentences
from commscope.report.log_report import LogReport
from commscope.report.log_verdict import log_verdict
from commscope.report.text import drawn_text
from commscope.report.text_log import print_log
from commscope.wording import counted

_WIDTH = 110


def render_log(report: LogReport, *, title: str, told: Sequence[str] = ()) -> str:
    """One HTML file that needs nothing from outside; ``told`` is known beside the logs."""
    text = drawn_text(lambda console: print_log(report, console, details=True), _WIDTH)
    views = {
        "about": [counted(len(report.summary.files), "log")],
        "verdict": sentences(log_verdict(report)),
        "told": capitalised(told),
        "lines": text.splitlines(),
    }
    return document("log.html", title, views)
