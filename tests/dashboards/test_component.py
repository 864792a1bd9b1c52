"""The page of the timeline: its component, its address, and what its drawer tells."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from dash import dcc, html
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
    assert text(timeline.shown(data, 0, click, None).parts) in text(page)


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
        ({"at": "0.compute.5-"}, "is not a rank, a lane and times"),
        ({"at": "0.compute.5-6"}, "has no such event"),
        ({"at": "7.compute.5-6"}, "has no such lane"),
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
    made = timeline.shown(data, 0, picked(data, "communication"), None)
    words, instance, flow = text(made.parts), made.instance, made.flow
    assert instance is not None
    wants = data.runs[0].view.instance(instance["number"])
    assert f"rank 1 arrives last, {span(wants.skew)} after the first" in words
    assert all(span(member.wait) in words for member in wants.members)
    assert flow is not None
    assert flow["from"]["t"] < flow["to"]["t"]


def test_a_click_on_an_exposure_tells_its_cause(data):
    made = timeline.shown(data, 0, picked(data, "exposed"), None)
    assert "waiting for rank 1" in text(made.parts)
    assert made.instance is None


def test_a_click_on_a_step_tells_what_all_ranks_did_in_it(data):
    parts = timeline.shown(data, 0, picked(data, "steps"), None).parts
    assert "of rank 0" in text(parts)
    assert "What each rank did" in text(parts)


def place(rank: int, t: int, kind: str = "compute") -> dict[str, object]:
    """A click where a lane has no event."""
    return {"lane": 2, "event": None, "rank": rank, "t": t, "kind": kind, "n": 1}


def test_a_click_where_a_device_is_idle_tells_for_how_long_and_why(data):
    made = timeline.shown(data, 0, place(1, 50_000_000), None)
    words = text(made.parts)
    assert words.startswith("Nothing runs on the GPU for 15.8 ms rank 1, step 1, from 48.255 ms")
    assert "host launches 1 activity and shows no call for 15.4\u00a0ms" in words
    assert "Who waits for rank 1 meanwhile" in words
    assert "11.8 ms" in words
    assert "Rank 1 is late: before it arrives" in words
    assert made.stretch == {"rank": 1, "t0": 48_255_118, "t1": 64_033_757}
    links = [part.href for part in found(made.parts, dcc.Link)]
    assert links == ["/timeline?finding=C1", "/timeline?inst=6"]


def test_a_click_where_another_lane_runs_says_so(data):
    made = timeline.shown(data, 0, place(0, 60_000_000, "copy"), None)
    assert text(made.parts).startswith("Nothing of this lane (copy of rank 0) runs here")
    assert made.stretch is None


def test_an_address_leads_to_the_place_that_was_clicked(data):
    page = timeline.layout(data, address(at="1.compute.50000000"))
    (component,) = found(page, Timeline)
    given = component.to_plotly_json()["props"]
    assert (given["picked"]["event"], given["picked"]["t"]) == (None, 50_000_000)
    assert given["stretch"]["t1"] == 64_033_757
    assert "Nothing runs on the GPU for 15.8 ms" in text(page)


def test_an_address_with_a_finding_shows_all_of_it(data):
    page = timeline.layout(data, address(finding="C1"))
    (component,) = found(page, Timeline)
    given = component.to_plotly_json()["props"]
    place = data.runs[0].report.findings[0].evidence[0]
    t0, t1 = (at - data.runs[0].report.origin_ns for at in (place.t0_ns, place.t1_ns))
    assert given["finding"] == {"id": "C1", "place": 0}
    marked = {"marked": 1, "words": "straggler"}
    assert given["stretch"] == {"rank": place.rank, "t0": t0, "t1": t1, **marked}
    assert given["viewport"]["t0"] < t0 < t1 < given["viewport"]["t1"]
    threads = [lane.kind for lane in data.runs[0].view.layout.lanes if lane.rank == 1]
    assert "thread" in threads
    (opened,) = given["view"]["expanded"]
    lane = data.runs[0].view.lane(opened)
    assert (lane.kind, lane.rank) == ("steps", 1)
    words = text(page)
    for part in ("Straggler", "high", "Rank 1 is late", "Try:", "Seen on", "(shown)"):
        assert part in words


def test_a_finding_at_another_place_leads_there_and_marks_the_same_rank(data):
    told = {"finding": "C1", "place": 2, "n": 4}
    made = timeline.shown(data, 0, told, None)
    place = data.runs[0].report.findings[0].evidence[2]
    assert made.stretch is not None
    assert made.goto is not None
    assert (made.stretch["rank"], made.stretch["marked"]) == (place.rank, 1)
    assert made.goto == {**{k: made.stretch[k] for k in ("t0", "t1", "rank")}, "n": 4}


def test_a_finding_without_a_place_is_told_all_the_same(data):
    page = timeline.layout(data, address(finding="Q3"))
    (component,) = found(page, Timeline)
    assert "stretch" not in component.to_plotly_json()["props"]
    assert "belong to no step" in text(page)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"finding": "Z9"}, "asks for finding Z9"),
        ({"finding": "C1", "place": "99"}, "asks for place 99 of finding C1"),
        ({"finding": "C1", "place": "-1"}, "asks for place -1 of finding C1"),
    ],
)
def test_a_finding_that_is_not_there_is_refused(data, values, says):
    with pytest.raises(UsageError, match=says):
        timeline.layout(data, address(**values))


def test_another_collective_of_the_communicator_is_led_to(data):
    made = timeline.shown(data, 0, {"instance": 3, "n": 9}, None)
    wants = data.runs[0].view.instance(3)
    assert made.instance is not None
    assert made.instance["number"] == 3
    ends = max(member.end for member in wants.members)
    begin = min(member.arrival for member in wants.members)
    assert made.goto == {"t0": begin, "t1": ends, "rank": None, "n": 9}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"t0": "300000000", "t1": "400000000"}, "asks for times from 300.0 ms to 400.0 ms."),
        ({"sel": "200000000-300000000"}, "asks for a selection from 200.0 ms to 300.0 ms."),
    ],
)
def test_an_address_beyond_the_run_is_told_in_words(data, values, says):
    page = timeline.layout(data, address(**values))
    assert says in text(page)
    assert "The run lasts from -5.98 ms to" in text(page)
    (component,) = found(page, Timeline)
    assert component.to_plotly_json()["props"].keys().isdisjoint({"viewport", "selection"})


def test_a_selection_across_the_end_of_the_run_is_cut_there(data):
    whole = data.runs[0].view.layout
    asked = wanted(address(sel="0-999999999999"), data.runs[0].view)
    assert asked.selection == Range(0, whole.t1)
    assert asked.notes == ()


def test_an_address_keeps_marks(data):
    page = timeline.layout(data, address(marks="5-9,-3-7"))
    (component,) = found(page, Timeline)
    marks = component.to_plotly_json()["props"]["marks"]
    assert marks == [{"t0": 5, "t1": 9}, {"t0": -3, "t1": 7}]
    with pytest.raises(UsageError, match="marks=5 in the address is not two times"):
        wanted(address(marks="5"), data.runs[0].view)
    with pytest.raises(UsageError, match="more than 50 marks"):
        wanted(address(marks=",".join(["5-9"] * 51)), data.runs[0].view)


def test_what_was_told_last_is_shown(data):
    selection = {"t0": 45_000_000, "t1": 50_000_000, "ranks": [1], "n": 3}
    click = picked(data, "steps")
    assert "selected" in text(timeline.shown(data, 0, click, selection).parts)
    assert "selected" not in text(timeline.shown(data, 0, click, {**selection, "n": 1}).parts)
    assert "Ranks (whole trace)" in text(timeline.shown(data, 0, None, None).parts)


def test_a_selection_sums_its_ranks_only_and_offers_files(data):
    selection = {"t0": 45_000_000, "t1": 50_000_000, "ranks": [1], "n": 3}
    parts = timeline.shown(data, 0, None, selection).parts
    links = [part.href for part in found(parts, html.A)]
    assert [link.split("kind=")[1] for link in links] == ["csv", "parquet", "perfetto"]
    assert all("t0=45000000&t1=50000000&ranks=1&" in link for link in links)
