"""Reports on logs alone, as HTML and Markdown: harmless, and equal for equal logs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from job_logs import JobLog
from markdown_it import MarkdownIt
from parsed_html import Page

from commscope.engine.logs import load_logs
from commscope.findings.model import Advice, Finding, Quote
from commscope.report.html.log_page import render_log
from commscope.report.log_markdown import log_markdown
from commscope.report.log_report import LogReport, build_log_report
from commscope.report.log_verdict import log_verdict
from commscope.report.markdown_text import MOST_CHARACTERS

HOSTILE = "</pre><img src=x onerror=alert(1)>|`@team`\x1b[31m\u202e ![i](http://x/y.png) {{7*7}}"
NO_TRACE = "No activity of a GPU was recorded"


@pytest.fixture
def report(tmp_path: Path) -> LogReport:
    """Of a job without trouble."""
    (tmp_path / "job.log").write_text(str(JobLog([[0, 1]])))
    return build_log_report(load_logs([tmp_path]), None, {})


def hostile(report: LogReport) -> LogReport:
    finding = Finding(
        "L8", "L8", "high", "low", HOSTILE, HOSTILE,
        quotes=(Quote(HOSTILE, 1, HOSTILE),), advice=(Advice(HOSTILE, HOSTILE, HOSTILE),),
    )  # fmt: skip
    summary = replace(report.summary, hosts=(HOSTILE,), notes=(HOSTILE,))
    return replace(report, findings=(finding,), summary=summary)


def test_all_is_well(report: LogReport) -> None:
    bare = replace(report, findings=())
    assert log_verdict(bare) == f"{NO_TRACE}; in 1 log of RCCL or NCCL nothing is worth telling."


def test_the_worst_finding_is_the_verdict(report: LogReport) -> None:
    assert log_verdict(hostile(report)).startswith(f"{NO_TRACE}. {HOSTILE}: {HOSTILE}")


def test_the_page_is_made_of_the_same_parts_whatever_the_logs_say(report: LogReport) -> None:
    told = render_log(hostile(report), title=HOSTILE, told=(HOSTILE,))
    page, other = Page(told), Page(render_log(report, title="run", told=("well",)))
    assert page.open == []
    assert page.shapes() == other.shapes()
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "nodeA" in render_log(report, title="run")
    assert render_log(report, title="run") == render_log(report, title="run")


def test_no_text_of_a_log_becomes_markup(report: LogReport) -> None:
    text = log_markdown(hostile(report), told=(HOSTILE,))
    assert len(text) <= MOST_CHARACTERS
    tokens = MarkdownIt("commonmark").parse(text)
    inner = [child for token in tokens for child in token.children or ()]
    assert not {"image", "link_open"} & {token.type for token in inner}
    html = [token.content for token in (*tokens, *inner) if token.type.startswith("html")]
    assert not any("img" in content for content in html)
    assert "\x1b" not in text


def test_what_is_known_of_the_job_stands_first(report: LogReport) -> None:
    text = log_markdown(report, told=("it was ended by SIGKILL",))
    assert text.index("SIGKILL") < text.index("From the logs")
