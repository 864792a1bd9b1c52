"""The HTML report: order of the page, one file that asks for nothing, withheld numbers."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from builders import TraceBuilder
from parsed_html import Page
from small_run import report_of

import commscope
from commscope import sample_traces
from commscope.report.html import render

#: Attributes by which a page can fetch something.
_FETCHING = {"src", "href", "srcset", "data", "action", "poster", "background"}


@pytest.fixture(scope="module")
def straggler() -> commscope.Report:
    return commscope.analyze(commscope.load(sample_traces.path("ddp_straggler")))


@pytest.fixture(scope="module")
def text(straggler) -> str:
    return render(straggler)


@pytest.fixture(scope="module")
def page(text) -> Page:
    return Page(text)


def test_the_page_is_in_order(text):
    body = text.partition("<body>")[2]
    order = ["Exposed communication takes", "Trust: ok", ">Step time<", ">Findings<", ">Straggler ",
             'id="step-times"', 'id="map"', 'id="worst"', ">Collectives by kind",
             "Who waited for whom", ">Groups of ranks<", ">Kernels by time<", ">From the logs<",
             ">Environment and topology<", ">Not measured, left out or guessed<"]  # fmt: skip
    there = [word for word in order if word in body]
    assert [word for word in order if word not in there] == [">From the logs<"]
    places = [body.index(word) for word in there]
    assert places == sorted(places)


def test_what_is_to_win_is_what_the_verdict_names(text):
    tile = text[text.index("<dt>To win at most</dt>") :].partition("</div>")[0]
    assert '<dd class="value">16.2 ms</dd>' in tile
    assert "a step: mend rank 1; 557.9 us if all communication were hidden" in tile


def test_logs_have_their_section():
    report = commscope.analyze(commscope.load(sample_traces.path("ddp_default")))
    assert ">How collectives ran (all ranks together)<" in render(report)


def test_every_element_is_closed_and_every_id_is_one(page):
    assert page.open == []
    names = [found["id"] for _, found in page.elements if "id" in found]
    assert len(names) == len(set(names))
    told = {
        found[key] for _, found in page.elements for key in ("aria-labelledby",) if key in found
    }
    assert {name for each in told for name in each.split()} <= set(names)


def test_nothing_is_fetched(page, text):
    for _, attributes in page.elements:
        for name in _FETCHING & set(attributes):
            assert attributes[name].startswith(("data:", "#"))
    assert not re.search(r"url\((?!#)|@import", text)


def test_the_policy_allows_this_script_only(text, page):
    (policy,) = (m["content"] for m in page.all("meta") if "http-equiv" in m)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert len(scripts) == len(page.all("script")) == 1
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert not any(name.startswith("on") for _, found in page.elements for name in found)


def test_equal_input_gives_equal_bytes(straggler, text):
    again = commscope.analyze(commscope.load(sample_traces.path("ddp_straggler")))
    assert render(again) == render(straggler) == text


def test_tables_can_be_read_aloud(page):
    tables = page.all("table")
    assert len(page.all("caption")) == len([t for t in tables if t["class"] == "sortable"]) > 8
    heads = [head for head in page.all("th") if head.get("scope") not in ("col", "row")]
    assert heads == []
    images = [svg for svg in page.all("svg") if "aria-hidden" not in svg]
    assert len(images) == 2
    assert all(svg["role"] == "img" and svg["aria-labelledby"] for svg in images)


def test_numbers_that_are_withheld_are_said_and_never_zero(tmp_path):
    builder = TraceBuilder()
    for i in range(110):
        builder.launch(10 * i, 1)
        builder.kernel("gemm" if i < 100 else "ncclDevKernel_Generic", 10 * i + 5, 4)
        if i % 10 == 0 and i < 100:
            builder.events.pop()
    report = report_of(tmp_path, builder)
    text = render(report)
    assert report.worst_step is None
    assert "Trust: unusable" in text
    assert text.count('<dd class="value missing">withheld</dd>') == 5
    ranks = text[text.index('id="ranks-caption"') :].partition("</table>")[0]
    assert ranks.count(">withheld (Q1)<") == 4
    assert ">Withheld: overlap of rank 0 over the whole trace<" in text


def test_kernels_that_are_withheld_say_by_which_rule(tmp_path):
    builder = TraceBuilder().launch(1, 1).kernel("gemm", 10, 100)
    report = report_of(tmp_path, builder.launch(3, 1).kernel("gemm", 20, 5))
    text = render(report)
    assert "withheld (Q4):" in text
    assert "Kernels by time" not in text


def test_a_trace_without_steps_or_communication(tmp_path):
    text = render(report_of(tmp_path, TraceBuilder().launch(0.5, 1).kernel("gemm", 1, 2)))
    assert "No communication ran on the GPU." in text
    assert 'id="worst"' not in text
    assert 'id="step-times"' not in text
