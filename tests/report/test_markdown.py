"""The report as Markdown: what is said, what is left out, and that no name becomes markup."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

import commscope
from commscope import Report, sample_traces
from commscope.report.markdown import MARKER, MOST_CHARACTERS, Section, fitted, report_markdown

HOSTILE = "<img src=x onerror=alert(1)>|`@team`\x1b[31m\u202e ![i](http://x/y.png) #12\n# head"


@pytest.fixture(scope="module")
def report() -> Report:
    return commscope.analyze(commscope.load(sample_traces.path("ddp_shm")))


def test_the_verdict_comes_first(report: Report) -> None:
    marker, verdict, *_ = report_markdown(report).split("\n")
    assert marker == MARKER
    assert verdict.startswith("**Exposed communication takes 19.0 % of the GPU time")


def test_sections_follow_in_order(report: Report) -> None:
    lines = report_markdown(report).split("\n")
    heads = [line[4:] for line in lines if line.startswith("### ")]
    assert heads[:3] == ["Findings", "Exposed communication by cause", "Steps"]
    assert heads[-1] == "Environment"
    assert "> `job.log:39: vm:2404:2404 [0] NCCL INFO NCCL_P2P_DISABLE set by environment" in (
        "\n".join(lines)
    )


def test_what_is_first_stands_before_the_findings(report: Report) -> None:
    text = report_markdown(report, first=[Section("Against main", "table\n")])
    assert text.index("Against main") < text.index("### Findings")


def test_equal_reports_give_equal_text(report: Report) -> None:
    assert report_markdown(report) == report_markdown(replace(report))


def test_length_is_held_and_what_is_left_out_is_named(report: Report) -> None:
    [finding, *_] = report.findings
    many = replace(report, findings=(replace(finding, says="word " * 4000),) * 20)
    text = report_markdown(many)
    assert len(text) <= MOST_CHARACTERS
    assert "\nLeft out, as there is no room for more: Findings, " in text
    assert text.startswith(MARKER)


@pytest.mark.parametrize("most", range(200, 420, 10))
def test_fitted_is_never_longer(most: int) -> None:
    parts = [Section("", "head\n"), *(Section(f"part {n}", f"{n}" * 50) for n in range(4))]
    text = fitted(parts, most)
    assert len(text) <= most
    for number in range(4):
        assert (f"### part {number}\n" in text) != (f"part {number}" in text.partition("Left")[2])


def test_no_name_becomes_markup(report: Report) -> None:
    finding = replace(report.findings[0], title=HOSTILE, says=HOSTILE)
    text = report_markdown(replace(report, findings=(finding,), notes=(HOSTILE,)))
    page = MarkdownIt("commonmark").enable("table").render(text)
    for part in ("<img", "<a ", "@team", "\x1b", "\u202e", "<h1"):
        assert part not in page
    assert "&lt;img src=x onerror=alert(1)&gt;|`@<!-- -->team`" in page


def test_report_without_anything(report: Report) -> None:
    empty = replace(
        report, findings=(), notes=(), environment=replace(report.environment, versions={}, gpus=())
    )
    text = report_markdown(empty)
    assert "### Findings" not in text
    assert "### Environment" not in text
