"""The report as Markdown: what is said, what is left out, and that no name becomes markup."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from markdown_it import MarkdownIt

import commscope
from commscope import Report, sample_traces
from commscope.report.markdown import MARKER, report_markdown
from commscope.report.markdown_text import MOST_CHARACTERS, Section, fitted
from commscope.report.model import ReportTable

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
    parts = [Section(f"part {n}", f"{n}" * 50, is_folded=n > 1) for n in range(4)]
    text = fitted(MARKER, "head\n", [*parts, Section("nothing", "")], most)
    assert len(text) <= most
    assert text.startswith(f"{MARKER}\nhead\n")
    assert "nothing" not in text
    for number in range(4):
        head = f"\n### part {number}\n" if number < 2 else f"<summary>\n\npart {number}\n"
        assert (head in text) != (f"part {number}" in text.partition("Left")[2])


def test_no_name_becomes_markup(report: Report) -> None:
    finding = replace(report.findings[0], title=HOSTILE, says=HOSTILE)
    text = report_markdown(replace(report, findings=(finding,), notes=(HOSTILE,)))
    page = MarkdownIt("commonmark").enable("table").render(text)
    for part in ("<img", "<a ", "@team", "\x1b", "\u202e", "<h1"):
        assert part not in page
    assert "&lt;img src=x onerror=alert(1)&gt;|`@<!-- -->team`" in page


@pytest.mark.parametrize(("note", "shown"), [(None, "| 1.5 |"), ("of waiting", "| \\>1.5 |")])
def test_bandwidth_that_is_a_lower_bound_is_marked(
    report: Report, note: str | None, shown: str
) -> None:
    told = {"busbw_gbps": 1.5, "expected_busbw_gbps": None, "bandwidth_note": note}
    rows = [{**row, **told} for row in report.collectives]
    table = ReportTable(pa.Table.from_pylist(rows, schema=report.collectives.arrow.schema))
    text = report_markdown(replace(report, collectives=table))
    assert text.count(shown) == len(rows)


def test_report_without_anything(report: Report) -> None:
    empty = replace(
        report, findings=(), notes=(), environment=replace(report.environment, versions={}, gpus=())
    )
    text = report_markdown(empty)
    assert "### Findings" not in text
    assert "### Environment" not in text
