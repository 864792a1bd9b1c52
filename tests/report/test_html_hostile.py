"""Text from traces in the HTML report: nothing of it is markup, a template, or steers a reader."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import TraceBuilder
from parsed_html import Page
from small_run import report_of

import commscope
from commscope.findings.model import Advice, Evidence, Finding, Measured, Quote
from commscope.report.html import render
from commscope.report.model import Environment

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "{{7*7}}{% raw %}{#",
    "\"' onmouseover=alert(1) x='\"",
    "a\x1b[31mred\x1b]0;title\x07",
    "right\u202eleft\u2066\u200bzero\ufeff",
    "two\nlines\r\u2028and",
    "<!--<svg/onload=alert(1)>]]>",
    "name" * 25_000,
]


def hostile_report(folder, name: str) -> commscope.Report:
    """The name wherever a trace can put one."""
    builder = TraceBuilder().launch(0.5, 1).kernel(name, 1, 20)
    builder.launch(2, 1).kernel(f"ncclDevKernel_AllReduce_{name}", 30, 20)
    builder.event(ph="X", cat="user_annotation", name=name, ts=0, dur=50, pid=1, tid=1)
    report = report_of(folder, builder)
    finding = Finding(
        "X1", "X1", "high", "low", name, name,
        measured={name: Measured(1, name)},
        evidence=(Evidence(0, None, report.origin_ns, report.origin_ns + 1),),
        quotes=(Quote(name, 1, name),),
        advice=(Advice(name, name, name),),
    )  # fmt: skip
    return replace(
        report,
        findings=(finding,),
        notes=(name,),
        verdicts=(name,),
        trust_line=f"ok: {name}",
        environment=Environment({name: name}, (name,), None, name),
        inputs=tuple(replace(file, file=name) for file in report.inputs),
        summary=replace(report.summary, verdict=name),
    )


@pytest.fixture(scope="module")
def harmless(tmp_path_factory) -> Page:
    folder = tmp_path_factory.mktemp("harmless")
    return Page(render(hostile_report(folder, "name" * 40), title="name"))


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_text(tmp_path, harmless, name):
    text = render(hostile_report(tmp_path, name), title=name)
    found = Page(text)
    assert found.open == []
    assert found.shapes() <= harmless.shapes()
    for tag in ("script", "img", "svg", "style"):
        assert len(found.all(tag)) == len(harmless.all(tag))
    assert not set(text) & set("\x1b\x07\r\u202e\u2066\u200b\ufeff\u2028")
    assert len(text) < 100_000


def test_templates_in_names_are_not_filled_in(tmp_path):
    text = render(hostile_report(tmp_path, "{{7*7}}{% raw %}"), title="{{7*7}}")
    assert "<h1>{{7*7}}</h1>" in text
