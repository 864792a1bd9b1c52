"""Timeline: all ranks on one axis, and what is known of that which was clicked or selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html
from dash.development.base_component import Component

from commscope.dashboards.app_data import AppData, LoadedRun
from commscope.dashboards.component import Timeline
from commscope.dashboards.data import RunView
from commscope.dashboards.data.events import EventDetails
from commscope.dashboards.data.instances import InstanceDetails
from commscope.dashboards.pages import drawer, drawer_finding
from commscope.dashboards.pages.drawer_finding import Seen, seen
from commscope.dashboards.pages.drawer_idle import of_idle
from commscope.dashboards.pages.timeline_link import Wanted, wanted
from commscope.dashboards.places import around
from commscope.dashboards.theme import PALETTE
from commscope.dashboards.urlstate import UrlState

PATH, TITLE = "/timeline", "Timeline"
_ID, _DRAWER, _RUN, _LINK = "timeline", "timeline-drawer", "timeline-run", "timeline-link"
_Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Drawn:
    """The drawer, and what the timeline draws: a collective, an arrow, a stretch; where it goes."""

    parts: list[Component]
    instance: dict[str, Any] | None = None
    flow: dict[str, Any] | None = None
    stretch: dict[str, Any] | None = None
    goto: dict[str, Any] | None = None


def layout(app_data: AppData, state: UrlState) -> Component:
    """The page as the address asks for it; raises UsageError where the run has no such thing."""
    run = app_data.runs[state.run]
    asked = wanted(state, run.view)
    found = None if asked.finding is None else seen(run, asked.finding, asked.place)
    made = _first(app_data, state.run, asked, found)
    told: Any = {"aria-label": "Details", "aria-live": "polite"}
    return html.Div(
        [
            html.H1(TITLE, className="aside"),
            *(html.P(note, className="cs-note", role="status") for note in asked.notes),
            _timeline(app_data, state.run, asked, found, made),
            html.Section(made.parts, id=_DRAWER, className="cs-drawer", **told),
            dcc.Store(id=_RUN, data=state.run),
            dcc.Store(id=_LINK),
        ],
        className="cs-page",
    )


def _timeline(
    app_data: AppData, number: int, asked: Wanted, found: Seen | None, made: Drawn
) -> Timeline:
    view = app_data.runs[number].view
    return timeline_of(
        app_data,
        number,
        id=_ID,
        viewport=_viewport(asked, found, made.instance),
        selection=_selected(app_data.runs[number], asked),
        picked=_picked(asked),
        view=_lanes_of(view, asked, found) or None,
        query=asked.query,
        marks=[asdict(mark) for mark in asked.marks] or None,
        finding=None if found is None else {"id": found.finding.id, "place": found.number},
        instance=made.instance,
        flow=made.flow,
        stretch=made.stretch,
    )


def _lanes_of(view: RunView, asked: Wanted, found: Seen | None) -> dict[str, Any]:
    """How lanes are shown: with the host's threads of the rank that a finding is about."""
    shown = asked.shown.to_dict()
    if found is None or asked.shown.expanded:
        return shown
    opened = [
        lane.id for lane in view.layout.lanes if lane.kind == "steps" and lane.rank == found.marked
    ]
    return {**shown, "expanded": opened}


def _selected(run: LoadedRun, asked: Wanted) -> dict[str, Any] | None:
    """The selection of the address; as nothing was told yet, it is number 0."""
    if asked.selection is None:
        return None
    ranks = asked.selected or asked.shown.ranks or run.view.ranks
    return {**asdict(asked.selection), "ranks": list(ranks), "n": 0}


def _picked(asked: Wanted) -> dict[str, Any] | None:
    """The click of the address, where it has no selection and no other collective."""
    if asked.clicked is None or asked.selection is not None:
        return None
    return {**asdict(asked.clicked), "t": asked.clicked.t0, "n": 0}


def timeline_of(app_data: AppData, number: int, **properties: Any) -> Timeline:
    """The timeline of a run, with the properties that pages differ in."""
    run = app_data.runs[number]
    return Timeline(
        run=number,
        base=app_data.prefix,
        layout=run.view.layout.to_dict(),
        palette=PALETTE,
        present=present(run),
        **properties,
    )


def _viewport(asked: Wanted, found: Seen | None, instance: _Told | None) -> _Told | None:
    """What is shown first: where nothing is said, a finding's place, or a collective."""
    if asked.viewport is not None:
        return asdict(asked.viewport)
    if found is not None and found.rank is not None:
        t0, t1 = around(found.t0, found.t1)
        return {"t0": t0, "t1": t1}
    if instance is None or asked.instance is None:
        return None
    place = _place_of(instance)
    length = place["t1"] - place["t0"]
    return {"t0": place["t0"] - length, "t1": place["t1"] + length}


def present(run: LoadedRun) -> list[int]:
    """The categories that the run has events of, for the legend."""
    return sorted({category for lane in run.view.lanes for category in lane.covered})


def _first(app_data: AppData, number: int, asked: Wanted, found: Seen | None) -> Drawn:
    """What is shown before anything was clicked."""
    run = app_data.runs[number]
    picked, selection = _picked(asked), _selected(run, asked)
    if found is not None and picked is None and selection is None:
        return _of_finding(app_data, number, found)
    made = shown(app_data, number, picked, selection)
    if asked.instance is None or (made.instance or {}).get("number") == asked.instance:
        return made
    return _of_instance(run, asked.instance)


def _of_finding(app_data: AppData, number: int, found: Seen) -> Drawn:
    parts = drawer_finding.of_finding(app_data, number, found)
    return Drawn(parts, stretch=found.stretch())


def _of_instance(run: LoadedRun, number: int) -> Drawn:
    instance = run.view.instance(number)
    return Drawn(drawer.of_instance(instance), overlay(instance))


def overlay(instance: InstanceDetails) -> dict[str, Any]:
    """A collective as the timeline draws it over all ranks."""
    members = [
        {
            "rank": of.rank,
            "lane": of.lane,
            "arrival": of.arrival,
            "start": of.arrival,
            "end": of.end,
        }
        for of in instance.members
    ]
    return {
        "number": instance.number,
        "members": members,
        "last_arrival": instance.last_arrival,
        "straggler": instance.straggler,
    }


def flow_of(event: EventDetails) -> dict[str, Any] | None:
    """The arrow from a launch to what it launched, whichever of them was clicked."""
    if event.flow is None:
        return None
    here = {"lane": event.lane, "t": event.start}
    there = {"lane": event.flow.lane, "t": event.flow.start}
    launch, launched = (there, here) if event.thread is None else (here, there)
    return {"from": launch, "to": launched}


def latest(picked: _Told | None, selection: _Told | None) -> tuple[str, _Told | None]:
    """Which of both was told last: what was clicked, or what was selected."""
    counts = [-1 if told is None else int(told["n"]) for told in (picked, selection)]
    if max(counts) < 0:
        return "nothing", None
    return ("picked", picked) if counts[0] > counts[1] else ("selection", selection)


def shown(app_data: AppData, number: int, picked: _Told | None, selection: _Told | None) -> Drawn:
    """What is shown of what was clicked or selected."""
    run = app_data.runs[number]
    what, told = latest(picked, selection)
    if told is None:
        return Drawn(drawer.of_run(run))
    if what == "selection":
        t0, t1 = int(told["t0"]), int(told["t1"])
        found = run.view.select(t0, t1, told["ranks"] or run.view.ranks)
        return Drawn(drawer.of_selection(found, len(run.view.ranks), number, app_data.prefix))
    if "finding" in told:
        made = _of_finding(app_data, number, seen(run, str(told["finding"]), int(told["place"])))
        return _led(made, made.stretch, told)
    if "instance" in told:
        made = _of_instance(run, int(told["instance"]))
        return _led(made, _place_of(made.instance or {}), told)
    return _of_click(app_data, number, told)


def _led(made: Drawn, place: _Told | None, told: _Told) -> Drawn:
    """The same, with where the timeline goes to."""
    if place is None:
        return made
    goto = {"t0": place["t0"], "t1": place["t1"], "rank": place.get("rank"), "n": told["n"]}
    return replace(made, goto=goto)


def _of_click(app_data: AppData, number: int, told: _Told) -> Drawn:
    run = app_data.runs[number]
    if told["event"] is None:
        return _of_place(app_data, number, told)
    event = run.view.event(int(told["lane"]), int(told["event"]))
    if event.kind == "steps":
        inside = run.view.select(event.start, event.start + event.dur, run.view.ranks)
        return Drawn(drawer.of_step(event, inside, number, app_data.prefix))
    instance = None if event.instance is None else run.view.instance(event.instance)
    parts = drawer.of_event(event)
    if instance is not None:
        parts += drawer.of_instance(instance, event.rank)
    return Drawn(parts, None if instance is None else overlay(instance), flow_of(event))


def _of_place(app_data: AppData, number: int, told: _Told) -> Drawn:
    """Where a lane has no event: why communication is exposed, or why the device is idle."""
    run, rank, t = app_data.runs[number], int(told["rank"]), int(told["t"])
    gap = run.view.gap_at(rank, t) if told["kind"] == "exposed" else None
    if gap is not None:
        return Drawn(drawer.of_gap(gap))
    idle = run.view.idle_at(rank, t)
    if idle is None:
        return Drawn(drawer.of_nothing(told["kind"], rank))
    found = drawer_finding.covering(run, rank, idle.t0, idle.t1)
    line = None if found is None else drawer_finding.line_of(app_data, number, found)
    parts = of_idle(idle, line, lambda instance: app_data.link(PATH, number, inst=instance))
    return Drawn(parts, stretch={"rank": rank, "t0": idle.t0, "t1": idle.t1})


def register(app: Dash, app_data: AppData) -> None:
    """What clicks and selections show; and the address that says the same."""

    @app.callback(
        Output(_DRAWER, "children"),
        *(Output(_ID, name) for name in ("instance", "flow", "stretch", "goto")),
        Input(_ID, "picked"),
        Input(_ID, "selection"),
        State(_RUN, "data"),
        prevent_initial_call=True,
    )
    def show(picked: _Told | None, selection: _Told | None, run: int) -> tuple[Any, ...]:
        made = shown(app_data, run, picked, selection)
        return made.parts, made.instance, made.flow, made.stretch, made.goto

    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("commscope_timeline", "link"),
        Output(_LINK, "data"),
        Input(_ID, "viewport"),
        Input(_ID, "selection"),
        Input(_ID, "view"),
        Input(_ID, "query"),
        Input(_ID, "instance"),
        Input(_ID, "picked"),
        Input(_ID, "finding"),
        Input(_ID, "marks"),
        State(_ID, "layout"),
        prevent_initial_call=True,
    )


def _place_of(instance: _Told) -> dict[str, Any]:
    """From the first arrival to the last end."""
    return {
        "t0": min(member["arrival"] for member in instance["members"]),
        "t1": max(member["end"] for member in instance["members"]),
    }
