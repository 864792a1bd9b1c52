"""The overview: the same words and numbers as the report, and links to the timeline."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from dash_runs import app_of, called, data_of, links_of, loaded, run_of, text_of, with_report

from commscope.dashboards import frame, places, step_charts
from commscope.dashboards.pages import overview, timeline
from commscope.dashboards.urlstate import UrlState
from commscope.findings.model import Evidence
from commscope.report.html import opening
from commscope.report.html.step_bars import shown_steps
from commscope.units import percent

HERE = UrlState("/overview")


@pytest.fixture(scope="module")
def page() -> str:
    return re.sub(r"\s+", " ", text_of(overview.layout(data_of(), HERE)))


def test_it_says_what_the_report_says(page: str) -> None:
    report = run_of().report
    for sentence in re.split(r"(?<=\.) ", report.summary.verdict):
        assert sentence in page
    assert report.trust_line.partition(": ")[2] in page
    for text in opening.findings(report):
        assert text.title in page
        assert text.says in page
        assert text.bound in page
        for do, why, source in text.advice:
            assert do in page
            assert why in page
            assert source in page


def test_six_numbers() -> None:
    numbers = overview.numbers(run_of().report)
    assert [(number.name, number.value) for number in numbers] == [
        ("Compute", "19.2 %"),
        ("Exposed comm.", "35.3 %"),
        ("Overlap", "15.1 %"),
        ("Step time", "37.0 ms"),
        ("Straggler", "rank 1"),
        ("To win at most", "16.2 ms"),
    ]
    assert numbers[5].says == "a step: mend rank 1; 557.9 us if all communication were hidden"
    assert numbers[4].says == "others wait up to 25.1 ms a step"


def test_to_win_is_the_larger_bound() -> None:
    report = run_of().report
    small = replace(report.findings[0], bound_ns=557_000)
    hidden = overview.numbers(replace(report, findings=(small,)))[5]
    assert (hidden.name, hidden.value) == ("To win at most", "557.9 us")
    assert hidden.says == "a step: 1.02 times as fast if all were hidden"
    assert overview.numbers(replace(report, findings=()))[5] == hidden
    turns = replace(report.findings[0], rule="C9", title="Ranks take turns", rank=None)
    says = overview.numbers(replace(report, findings=(turns,)))[5].says
    assert says.startswith("a step: mend the main cause, ranks take turns; ")


def test_chip_tile_and_verdict_name_one_cause() -> None:
    report = run_of().report
    (main, *_) = report.findings
    assert f"Main cause: {main.says}" in report.summary.verdict
    graver = replace(main, title="Launch-bound", rank=None, bound_ns=1_000_000)
    main = replace(main, severity="medium")
    report = replace(report, findings=(graver, main))
    assert frame.chips(report)[0].children == "35.3 % exposed: straggler rank 1"
    assert overview.numbers(report)[5].value == "16.2 ms"


def test_no_straggler() -> None:
    report = run_of().report
    assert overview.straggler(replace(report, findings=())).value == "none"
    alone = replace(report.summary, ranks=1)
    nothing = replace(report.instances, arrow=report.instances.arrow.slice(0, 0))
    found = overview.straggler(replace(report, findings=(), instances=nothing, summary=alone))
    assert (found.value, found.says, found.is_missing) == ("not known", "one rank alone", True)


def test_findings_lead_to_the_timeline() -> None:
    data = data_of()
    hrefs = [href for href in links_of(overview.layout(data, HERE)) if "/timeline?" in href]
    assert hrefs[:3] == [
        "/timeline?finding=C1",
        "/timeline?finding=C1",
        "/timeline?finding=C1&place=1",
    ]
    assert hrefs[0] == hrefs[1]


def test_places_are_on_the_common_clock() -> None:
    run = run_of()
    clock = replace(run.view.clocks[1], offset_ns=1_000)
    run = replace(run, view=replace(run.view, clocks=(run.view.clocks[0], clock)))
    assert [places.on_common_clock(run, rank, 5_000) for rank in (0, 1, 9)] == [5_000, 4_000, 5_000]


def test_a_report_without_findings_says_so() -> None:
    assert "Nothing worth telling was found." in text_of(
        overview.layout(with_report(findings=()), HERE)
    )


def test_without_steps_the_page_says_so() -> None:
    summary = replace(run_of().report.summary, step_source="whole_trace", step_times=None)
    told = text_of(overview.layout(with_report(summary=summary), HERE))
    assert "No steps were found: the whole trace counts as one window." in told


def test_a_finding_without_a_place_has_no_link() -> None:
    found = replace(run_of().report.findings[0], evidence=())
    hrefs = links_of(overview.layout(with_report(findings=(found,)), HERE))
    assert not [href for href in hrefs if "/timeline" in href]


def test_evidence_of_a_rank_that_is_not_there_is_no_error() -> None:
    found = replace(run_of().report.findings[0], evidence=(Evidence(77, None, 0, 10**9),))
    assert places.finding_link(data_of(), 0, found) == "/timeline?finding=C1"
    page = timeline.layout(
        with_report(findings=(found,)), UrlState("/timeline", 0, {"finding": "C1"})
    )
    assert "rank 77, " in text_of(page)


def test_bars_are_the_means_of_the_report() -> None:
    shown = shown_steps(run_of().report)
    figure = step_charts.bars_figure(shown)
    rows = [row for row in run_of().report.steps if row["step"] == 1]
    parts = {bar.name: bar.y[0] for bar in figure.data}
    assert parts["exposed communication"] == sum(row["exposed_comm_ns"] for row in rows) / 2
    assert sum(parts.values()) == sum(row["window_ns"] for row in rows) / 2


def test_withheld_steps_are_hollow() -> None:
    shown = shown_steps(run_of().report)
    rows = [{**row, "idle_ns": None} for row in shown[0].rows]
    figure = step_charts.bars_figure([replace(shown[0], rows=rows), *shown[1:]])
    hollow = next(bar for bar in figure.data if bar.name == "withheld")
    assert list(hollow.y) == [shown[0].window_ns, None, None]
    assert all(bar.y[0] is None for bar in figure.data if bar.name != "withheld")


def test_the_map_has_the_shares_of_the_report() -> None:
    shown = shown_steps(run_of().report)
    figure = step_charts.heat_figure(shown, [0, 1], [[0.5, 0.25, None], [0.0, 0.1, 0.2]])
    assert list(figure.data[1].text[:3]) == [percent(0.5), percent(0.25), "withheld"]
    assert figure.data[0].zmax == 0.5


def test_nothing_exposed_has_no_map() -> None:
    rows = [[{**r, "exposed_comm_ns": 0} for r in s.rows] for s in shown_steps(run_of().report)]
    steps = [replace(s, rows=r) for s, r in zip(shown_steps(run_of().report), rows)]
    assert step_charts.heat_chart(steps) is None


@pytest.mark.parametrize(
    ("x", "y", "leads"),
    [
        ("1", "rank 1", True),
        ("3*", "rank 0", True),
        ("9", "rank 0", False),
        ("1", "rank 7", False),
        ("<b>", "rank 0", False),
        ("1", "1", False),
    ],
)
def test_a_click_on_the_map_leads_to_the_step(x: str, y: str, leads: bool) -> None:
    name = next(n for n, of in app_of().callback_map.items() if "heat" in of["inputs"][0]["id"])
    click = {"clickData": {"points": [{"x": x, "y": y, "z": 0.1}]}}
    found = called(app_of(), name, click, {"pathname": "/overview", "search": ""})
    if not leads:
        assert not found
        return
    rank, step = int(y[-1]), int(x[0])
    row = next(r for r in loaded().report.steps if (r["rank"], r["step"]) == (rank, step))
    assert f"sel={row['start_ns']}-{row['end_ns']}" in found["location"]["href"]


def test_who_waits_and_who_is_waited_for() -> None:
    assert step_charts.wait_sums(run_of().report) == [(0, 90_201_225, 0), (1, 0, 90_201_225)]
    figure = step_charts.waits_figure([(0, 5, 0), (1, 0, 5)])
    assert [list(bar.x) for bar in figure.data] == [[-5, 0], [0, 5]]


def test_what_was_measured_is_said_in_words() -> None:
    told = text_of(overview.layout(data_of(), HERE))
    assert "of its cause 16.2 ms, of all waiting 100.0 %" in told
    assert "without it a step is faster by 1.78 times" in told


def test_bars_leave_room_for_their_labels() -> None:
    figure = step_charts.waits_figure([(0, 100, 10), (1, 10, 100)])
    low, high = figure.layout.xaxis.range
    assert (low, high) == (-150, 150)
    assert {bar.textposition for bar in figure.data} == {"outside"}
    assert len({bar.textfont.size for bar in figure.data}) == 1
