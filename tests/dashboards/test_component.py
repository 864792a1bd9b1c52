"""The page of the timeline: its component, its address, and what its drawer tells."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from dash import html
from dash.development.base_component import Component

import commscope
from commscope import sample_traces
from commscope.analysis.result import analyse
from commscope.dashboards.app_data import AppData, LoadedRun
from commscope.dashboards.beside import Beside
from commscope.dashboards.component import Timeline
from commscope.dashboards.data import RunView
from commscope.dashboards.data.categories import number_of
from commscope.dashboards.pages import timeline
from commscope.dashboards.pages.timeline_link import Range, Shown, Wanted, wanted
from commscope.dashboards.theme import PALETTE
from commscope.dashboards.urlstate import UrlState
from commscope.errors import UsageError
from commscope.report.build import report_of
from commscope.units import span

_UNSAFE = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
)


@pytest.fixture(scope="module")
def data() -> AppData:
    """A real run of two ranks, of which rank 1 is late."""
    analysis = analyse(commscope.load(sample_traces.path("ddp_straggler")))
    report = report_of(analysis)
    view = RunView.of(analysis, report, "ddp")
    return AppData((LoadedRun("ddp", report, view, Beside.of(analysis)),))


def address(**values: str) -> UrlState:
    return UrlState("/timeline", values=values)


def text(part: object) -> str:
    """All words of components, one space between."""
    if isinstance(part, (list, tuple)):
        return " ".join(filter(None, map(text, part)))
    if isinstance(part, Component):
        return text(getattr(part, "children", None))
    return "" if part is None else str(part)


def found(part: object, kind: type[Component]) -> list[Component]:
    """All components of a kind."""
    if isinstance(part, (list, tuple)):
        return [each for one in part for each in found(one, kind)]
    if not isinstance(part, Component):
        return []
    inside = found(getattr(part, "children", None), kind)
    return [part, *inside] if isinstance(part, kind) else inside


def picked(data: AppData, kind: str, rank: int = 0) -> dict[str, object]:
    """A click on the longest event of a lane of a rank."""
    view = data.runs[0].view
    lane = next(of for of in view.layout.lanes if (of.kind, of.rank) == (kind, rank))
    (shown,) = view.query(view.layout.t0, view.layout.t1, 16_000, [lane.id])
    event = int(shown.event[shown.duration.argmax()])
    start = view.event(lane.id, event).start
    return {"lane": lane.id, "event": event, "rank": rank, "t": start, "kind": kind, "n": 2}


def test_a_component_leaves_out_what_is_null():
    made = Timeline(id="timeline", run=0, viewport=None).to_plotly_json()
    assert (made["namespace"], made["type"]) == ("commscope_timeline", "Timeline")
    assert made["props"] == {"id": "timeline", "run": 0}


def test_no_script_makes_markup_or_code_of_text():
    scripts = [
        file
        for file in (resources.files("commscope.dashboards") / "assets").iterdir()
        if file.name.endswith(".js")
    ]
    assert len(scripts) > 10
    assert [f.name for f in scripts if _UNSAFE.search(f.read_text(encoding="utf-8"))] == []


def test_every_category_has_a_colour(data):
    names = {each["name"] for each in data.runs[0].view.layout.to_dict()["categories"]}
    assert names <= PALETTE.keys()


def test_an_address_is_read(data):
    asked = address(
        t0="-5", t1="9", sel="-3-7", selranks="1", ranks="1,0", lanes="2", q="gemm", inst="4",
        pin="1", fold="0", hide="gemm,copy", by="host", open="host:0",
    )  # fmt: skip
    hidden = (number_of("gemm"), number_of("copy"))
    shown = Shown((1, 0), (2,), (1,), (0,), hidden, "host", ("host:0",))
    expected = Wanted(Range(-5, 9), Range(-3, 7), (1,), shown, "gemm", 4)
    assert wanted(asked, data.runs[0].view) == expected
    assert wanted(address(), data.runs[0].view) == Wanted()
    assert wanted(address(by="none"), data.runs[0].view).shown.to_dict() == {"by": ""}


@pytest.mark.parametrize("kind", ["steps", "compute", "exposed", "thread"])
def test_an_address_leads_to_the_event_that_was_clicked(data, kind):
    view = data.runs[0].view
    click = picked(data, kind, rank=1)
    event = view.event(click["lane"], click["event"])
    lane = click["lane"] if kind == "thread" else kind
    at = f"1.{lane}.{event.start}-{event.start + event.dur}"
    page = timeline.layout(data, address(at=at))
    (component,) = found(page, Timeline)
    given = component.to_plotly_json()["props"]["picked"]
    assert (given["lane"], given["rank"], given["n"]) == (click["lane"], 1, 0)
    assert text(timeline.shown(data, 0, click, None)[0]) in text(page)


def test_an_address_keeps_the_ranks_that_were_selected(data):
    page = timeline.layout(data, address(sel="45000000-50000000", selranks="0"))
    (component,) = found(page, Timeline)
    assert component.to_plotly_json()["props"]["selection"]["ranks"] == [0]
    assert "5.00 ms selected, rank 0 only" in text(page)
    page = timeline.layout(data, address(sel="45000000-50000000"))
    assert "5.00 ms selected, all 2 ranks" in text(page)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"t0": "1"}, "one of t0 and t1"),
        ({"t0": "5", "t1": "5"}, "5 is not after 5"),
        ({"t0": "x", "t1": "5"}, "not a whole number"),
        ({"sel": "1-2-3-"}, "is not two times"),
        ({"sel": "9-5"}, "5 is not after 9"),
        ({"ranks": "2"}, "asks for rank 2"),
        ({"lanes": "0"}, "asks for lane 0"),
        ({"pin": "2"}, "asks for rank 2"),
        ({"selranks": "2"}, "asks for rank 2"),
        ({"hide": "x"}, "asks for kind of event x"),
        ({"by": "dp"}, "asks for groups by dp"),
        ({"open": "y"}, "asks for group y"),
        ({"at": "0.compute.5"}, "is not a rank, a lane and two times"),
        ({"at": "0.compute.5-6"}, "has no such event"),
        ({"at": "7.compute.5-6"}, "has no such event"),
    ],
)
def test_an_address_that_cannot_be_is_refused(data, values, says):
    with pytest.raises(UsageError, match=says):
        wanted(address(**values), data.runs[0].view)


def test_the_page_begins_with_the_verdict_and_all_ranks(data):
    page = timeline.layout(data, address())
    words = text(page)
    assert "rank 1 is late" in words
    assert "Ranks (whole trace)" in words
    (component,) = found(page, Timeline)
    shown = component.to_plotly_json()["props"]
    assert "viewport" not in shown
    assert {lane["kind"] for lane in shown["layout"]["lanes"]} >= {"steps", "compute", "exposed"}
    assert PALETTE["communication"] == shown["palette"]["communication"]


def test_the_page_shows_what_its_address_selects(data):
    page = timeline.layout(data, address(t0="40000000", t1="60000000", sel="45000000-50000000"))
    (component,) = found(page, Timeline)
    shown = component.to_plotly_json()["props"]
    assert shown["viewport"] == {"t0": 40000000, "t1": 60000000}
    assert shown["selection"] == {"t0": 45000000, "t1": 50000000, "ranks": [0, 1], "n": 0}
    assert "5.00 ms selected" in text(page)


def test_the_page_shows_a_collective_of_its_address(data):
    page = timeline.layout(data, address(inst="3"))
    (component,) = found(page, Timeline)
    shown = component.to_plotly_json()["props"]["instance"]
    wants = data.runs[0].view.instance(3)
    assert shown["last_arrival"] == wants.last_arrival
    assert [member["rank"] for member in shown["members"]] == [of.rank for of in wants.members]


def test_a_click_on_a_collective_tells_of_all_its_ranks(data):
    parts, instance, flow = timeline.shown(data, 0, picked(data, "communication"), None)
    words = text(parts)
    assert instance is not None
    wants = data.runs[0].view.instance(instance["number"])
    assert f"rank 1 arrives last, {span(wants.skew)} after the first" in words
    assert all(span(member.wait) in words for member in wants.members)
    assert flow is not None
    assert flow["from"]["t"] < flow["to"]["t"]


def test_a_click_on_an_exposure_tells_its_cause(data):
    parts, instance, _ = timeline.shown(data, 0, picked(data, "exposed"), None)
    assert "waiting for rank 1" in text(parts)
    assert instance is None


def test_a_click_on_a_step_tells_what_all_ranks_did_in_it(data):
    parts, _, _ = timeline.shown(data, 0, picked(data, "steps"), None)
    assert "of rank 0" in text(parts)
    assert "What each rank did" in text(parts)


def test_a_click_where_nothing_runs_says_so(data):
    click = {"lane": 2, "event": None, "rank": 1, "t": -5_900_000, "kind": "compute", "n": 1}
    assert text(timeline.shown(data, 0, click, None)[0]).startswith("Nothing runs here")


def test_what_was_told_last_is_shown(data):
    selection = {"t0": 45_000_000, "t1": 50_000_000, "ranks": [1], "n": 3}
    click = picked(data, "steps")
    assert "selected" in text(timeline.shown(data, 0, click, selection)[0])
    assert "selected" not in text(timeline.shown(data, 0, click, {**selection, "n": 1})[0])
    assert "Ranks (whole trace)" in text(timeline.shown(data, 0, None, None)[0])


def test_a_selection_sums_its_ranks_only_and_offers_files(data):
    selection = {"t0": 45_000_000, "t1": 50_000_000, "ranks": [1], "n": 3}
    parts, _, _ = timeline.shown(data, 0, None, selection)
    links = [part.href for part in found(parts, html.A)]
    assert [link.split("kind=")[1] for link in links] == ["csv", "parquet", "perfetto"]
    assert all("t0=45000000&t1=50000000&ranks=1&" in link for link in links)
