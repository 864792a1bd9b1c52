"""The comparison as HTML: one file that asks for nothing, whose bars and timelines are right."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from builders import TraceBuilder
from compared import comparison, run_of, write_ddp
from parsed_html import Page
from small_run import GEMM, add_step, report_of, write_run

import commscope
from commscope import sample_traces
from commscope.compare.build import compare_runs, examine
from commscope.compare.html import render
from commscope.compare.html.bars import WIDTH, change_bars, part_bars
from commscope.compare.html.page import timelines
from commscope.compare.lines import part_rows
from commscope.compare.model import Comparison, Fact, FindingPair
from commscope.compare.verdict import PART_NAMES
from commscope.generator import Job, Model, scenarios, simulate, write_traces
from commscope.report.html import render as render_report

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


@pytest.fixture(scope="module")
def found() -> Comparison:
    return comparison(*(sample_traces.path(name) for name in ("ddp_default", "ddp_straggler")))


@pytest.fixture(scope="module")
def text(found) -> str:
    return found.to_html()


def test_the_page_is_in_order(text):
    body = text.partition("<body>")[2]
    order = ["<h1>From ddp_default to ddp_straggler<", "The step grew by",
             "Cannot judge</b> Judged by steps", "Trust: ok", ">The step<",
             ">What explains the change<", ">Findings<",
             ">Base: step 1 of ddp_default<", ">New: step 1 of ddp_straggler<", ">Base in numbers<",
             ">The causes and their pieces<", ">Collectives (a step and rank)<",
             ">Kernel families (a step and rank)<", ">The runs<", ">Not compared<"]  # fmt: skip
    assert [word for word in order if word not in body] == []
    places = [body.index(word) for word in order]
    assert places == sorted(places)


def test_every_element_is_closed_and_every_id_is_one(text):
    page = Page(text)
    assert page.open == []
    names = [found["id"] for _, found in page.elements if "id" in found]
    assert len(names) == len(set(names))
    told = [found["aria-labelledby"] for _, found in page.elements if "aria-labelledby" in found]
    used = [found["href"][1:] for _, found in page.elements if found.get("href", "")[:1] == "#"]
    assert {name for each in (*told, *used) for name in each.split()} <= set(names)


def test_it_is_as_strict_as_the_report(text, tmp_path):
    for _, attributes in Page(text).elements:
        for name in {"src", "href"} & set(attributes):
            assert attributes[name].startswith(("data:", "#"))
        assert not any(name.startswith("on") for name in attributes)
    assert not re.search(r"url\((?!#)|@import", text)
    add_step(builder := TraceBuilder(), 0, 1000, GEMM)
    report = render_report(report_of(tmp_path, builder))
    for shared in ('Policy" content="(.*?)"', "<script>(.*?)</script>"):
        told = [re.findall(shared, page, re.DOTALL) for page in (text, report)]
        assert told[0] == told[1] != []


def test_equal_input_gives_equal_bytes(found, text):
    folders = [sample_traces.path(name) for name in ("ddp_default", "ddp_straggler")]
    again = compare_runs(*([examine(str(path), commscope.load(path))] for path in folders))
    assert again.to_html() == render(found) == text


def test_eight_ranks_and_500_steps_fit_200_kb(tmp_path):
    runs = []
    for seed in (1, 2):
        job = Job(ranks=8, steps=3, jitter_ns=20_000, seed=seed)
        write_traces(simulate(scenarios.tp(job, Model(layers=40))), tmp_path / str(seed))
        runs.append(run_of(tmp_path / str(seed)))
    small = compare_runs([runs[0]], [runs[1]])
    large = replace(small, steps=small.steps * 250, kernels=(small.kernels or ()) * 500)
    assert len(large.to_html().encode()) <= 200_000


def test_parts_are_drawn_to_one_scale_and_add_up(found):
    drawn = part_bars(found)
    assert drawn is not None
    lengths = {PART_NAMES[part.name]: (part.base_ns, part.new_ns) for part in found.parts}
    longest = max(lengths["step"])
    for pair in (drawn.step, *drawn.parts):
        for (_, pieces, _), length in zip(pair.bars, lengths[pair.name], strict=True):
            drawn_width = sum(piece.width for piece in pieces)
            assert drawn_width == pytest.approx(WIDTH * length / longest, abs=0.5)
    for _, pieces, _ in drawn.step.bars:
        assert [piece.x for piece in pieces[1:]] == pytest.approx(
            [piece.x + piece.width for piece in pieces[:-1]], abs=0.11
        )


def test_each_cause_begins_where_the_one_before_ends(found):
    drawn = change_bars(found)
    assert drawn is not None
    at = drawn.zero
    *causes, total = drawn.changes
    for bar in causes:
        ends = (bar.x, bar.x + bar.width)
        start, end = ends if bar.style == "grew" else ends[::-1]
        assert start == pytest.approx(at, abs=1.1)
        at = end
    assert total.x == drawn.zero
    assert total.x + total.width == pytest.approx(at, abs=1.1)
    assert (total.change, total.share) == ("+11.2 ms", "100 %")


def test_both_timelines_have_one_scale(found):
    base, new = timelines(found)
    assert base.times == new.times
    assert (base.width, new.end) == (new.width, None)
    lengths = [of.end_ns - of.start_ns for of in (found.base_worst, found.new_worst)]
    assert base.end == pytest.approx(base.width * lengths[0] / lengths[1], abs=0.1)
    assert new.last_says == "rank 1 arrives 21.1 ms after the first"
    assert base.numbers is not None
    assert base.numbers.caption == "Base in numbers"


def test_findings_of_one_side_come_first(text):
    marks = re.findall(r'<article .*?<p class="(\w+)">(.*?)</p>.*?<span>(\w+)</span>', text, re.S)
    assert marks == [
        ("high", "only new", "C1"), ("high", "only new", "Q5"), ("ok", "only base", "H3"),
        ("ok", "only base", "C9"), ("low", "both", "Q3"),
    ]  # fmt: skip


def test_significance_is_that_of_the_text(tmp_path):
    percents = {0: 100, 4: 100, 1: 110}
    runs = [write_ddp(tmp_path / str(n), seed=n, percent=of) for n, of in percents.items()]
    same, grown = (comparison(runs[0], run) for run in runs[1:])
    assert '<b class="low">Not more than noise</b>' in same.to_html()
    assert '<b class="ok">More than noise</b>' in grown.to_html()
    for found in (same, grown):
        judged = part_rows(found)[0]["more than noise"]
        assert judged.startswith("yes" if found is grown else "no")
        assert judged in found.to_html().replace("&#39;", "'")


def test_traces_without_steps_have_no_bars(tmp_path):
    add_step(builder := TraceBuilder(), 0, 1000, GEMM)
    (tmp_path / "short.json").write_text(json.dumps(builder.document()))
    text = comparison(tmp_path / "short.json", write_run(tmp_path / "run", ranks=1)).to_html()
    assert Page(text).open == []
    for heading in ("The step", "What explains the change"):
        assert f">{heading}<" not in text
    assert "cannot be compared" in text


def test_without_communication_there_is_no_timeline(tmp_path):
    for name in ("a", "b"):
        builder = TraceBuilder().launch(0.5, 1).kernel("gemm", 1, 2)
        (tmp_path / f"{name}.json").write_text(json.dumps(builder.document()))
    text = comparison(tmp_path / "a.json", tmp_path / "b.json").to_html()
    assert "Both timelines" not in text
    assert "Neither side has a collective to compare." in text


def hostile(found: Comparison, name: str) -> Comparison:
    """The name wherever a trace can put one."""
    collective = replace(found.collectives[0], group=name, op=name)
    kernel = replace(found.families[0], name=name, family=name)
    return replace(
        found,
        verdict=name,
        judged_by=name,
        base=tuple(replace(run, name=name, files=(name,)) for run in found.base),
        causes=tuple(
            replace(c, says=name, parts=tuple(replace(p, detail=p.detail) for p in c.parts))
            for c in found.causes or ()
        ),
        collectives=(collective,),
        families=(kernel,),
        kernels=(kernel,),
        environment=(Fact(name, name, name),),
        findings=(FindingPair("X1", name, name, name, 1, None),),
        not_compared=(name,),
    )


@pytest.fixture(scope="module")
def harmless(found) -> Page:
    return Page(render(hostile(found, "name" * 40)))


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_text(found, harmless, name):
    text = hostile(found, name).to_html()
    page = Page(text)
    assert page.open == []
    assert page.shapes() <= harmless.shapes()
    for tag in ("script", "img", "svg", "style"):
        assert len(page.all(tag)) == len(harmless.all(tag))
    assert not set(text) & set("\x1b\x07\r\u202e\u2066\u200b\ufeff\u2028")
    assert len(text) < 100_000
