"""Timeline: all ranks on one axis, and what is known of that which was clicked or selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html
from dash.development.base_component import Component
from dash.exceptions import PreventUpdate

from commscope.dashboards.app_data import AppData, LoadedRun
from commscope.dashboards.component import Timeline
from commscope.dashboards.data.events import EventDetails
from commscope.dashboards.data.instances import InstanceDetails
from commscope.dashboards.pages import drawer
from commscope.dashboards.pages.timeline_link import Wanted, wanted
from commscope.dashboards.theme import PALETTE
from commscope.dashboards.urlstate import UrlState

PATH, TITLE = "/timeline", "Timeline"
_ID, _DRAWER, _RUN, _LINK = "timeline", "timeline-drawer", "timeline-run", "timeline-link"
_Told = Mapping[str, Any]
#: The drawer, the collective to draw over all ranks, and the arrow.
_Shown = tuple[list[Component], "dict[str, Any] | None", "dict[str, Any] | None"]


def layout(app_data: AppData, state: UrlState) -> Component:
    """The page as the address asks for it; raises UsageError where the run has no such thing."""
    asked = wanted(state, app_data.runs[state.run].view)
    parts, instance, flow = _first(app_data, state.run, asked)
    told: Any = {"aria-label": "Details", "aria-live": "polite"}
    return html.Div(
        [
            html.H1(TITLE, className="aside"),
            _timeline(app_data, state.run, asked, instance=instance, flow=flow),
            html.Section(parts, id=_DRAWER, className="cs-drawer", **told),
            dcc.Store(id=_RUN, data=state.run),
            dcc.Store(id=_LINK),
        ],
        className="cs-page",
    )


def _timeline(app_data: AppData, number: int, asked: Wanted, **drawn: Any) -> Timeline:
    return timeline_of(
        app_data,
        number,
        id=_ID,
        viewport=_viewport(asked, drawn["instance"]),
        selection=_selected(app_data.runs[number], asked),
        picked=_picked(asked),
        view=asked.shown.to_dict() or None,
        query=asked.query,
        **drawn,
    )


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


def _viewport(asked: Wanted, instance: _Told | None) -> dict[str, int] | None:
    """What is shown first: a collective with as much around it, where nothing else is said."""
    if asked.viewport is not None:
        return asdict(asked.viewport)
    if instance is None or asked.instance is None:
        return None
    place = _place_of(instance)
    around = place["t1"] - place["t0"]
    return {"t0": place["t0"] - around, "t1": place["t1"] + around}


def present(run: LoadedRun) -> list[int]:
    """The categories that the run has events of, for the legend."""
    return sorted({category for lane in run.view.lanes for category in lane.covered})


def _first(app_data: AppData, number: int, asked: Wanted) -> _Shown:
    """The drawer before anything was clicked, the collective and the arrow."""
    run = app_data.runs[number]
    made = shown(app_data, number, _picked(asked), _selected(run, asked))
    if asked.instance is None or (made[1] or {}).get("number") == asked.instance:
        return made
    instance = run.view.instance(asked.instance)
    return drawer.of_instance(instance), overlay(instance), None


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


def shown(app_data: AppData, number: int, picked: _Told | None, selection: _Told | None) -> _Shown:
    """The drawer, the collective to draw over all ranks, and the arrow."""
    run = app_data.runs[number]
    what, told = latest(picked, selection)
    if told is None:
        return drawer.of_run(run), None, None
    if what == "selection":
        t0, t1 = int(told["t0"]), int(told["t1"])
        found = run.view.select(t0, t1, told["ranks"] or run.view.ranks)
        parts = drawer.of_selection(found, len(run.view.ranks), number, app_data.prefix)
        return parts, None, None
    return _of_click(app_data, number, told)


def _of_click(app_data: AppData, number: int, told: _Told) -> _Shown:
    run = app_data.runs[number]
    if told["event"] is None:
        is_exposed = told["kind"] == "exposed"
        gap = run.view.gap_at(int(told["rank"]), int(told["t"])) if is_exposed else None
        return (drawer.of_gap(gap) if gap else drawer.of_nothing()), None, None
    event = run.view.event(int(told["lane"]), int(told["event"]))
    if event.kind == "steps":
        inside = run.view.select(event.start, event.start + event.dur, run.view.ranks)
        return drawer.of_step(event, inside, number, app_data.prefix), None, None
    instance = None if event.instance is None else run.view.instance(event.instance)
    parts = drawer.of_event(event)
    if instance is not None:
        parts += drawer.of_instance(instance, event.rank)
    return parts, None if instance is None else overlay(instance), flow_of(event)


def register(app: Dash, app_data: AppData) -> None:
    """What clicks, selections and buttons show; and the address that says the same."""

    @app.callback(
        Output(_DRAWER, "children"),
        Output(_ID, "instance"),
        Output(_ID, "flow"),
        Input(_ID, "picked"),
        Input(_ID, "selection"),
        State(_RUN, "data"),
        prevent_initial_call=True,
    )
    def show(picked: _Told | None, selection: _Told | None, run: int) -> tuple[Any, Any, Any]:
        return shown(app_data, run, picked, selection)

    @app.callback(
        Output(_DRAWER, "children", allow_duplicate=True),
        Output(_ID, "instance", allow_duplicate=True),
        Output(_ID, "goto"),
        Input({"type": drawer.TO_INSTANCE, "number": ALL}, "n_clicks"),
        State(_RUN, "data"),
        prevent_initial_call=True,
    )
    def turn(clicks: list[int | None], run: int) -> tuple[Any, Any, Any]:
        """From one collective of a communicator to the one before or after."""
        if not any(clicks):
            raise PreventUpdate
        instance = app_data.runs[run].view.instance(int(ctx.triggered_id["number"]))
        drawn = overlay(instance)
        return drawer.of_instance(instance), drawn, _place_of(drawn)

    app.clientside_callback(  # type: ignore[no-untyped-call]
        ClientsideFunction("commscope_timeline", "link"),
        Output(_LINK, "data"),
        Input(_ID, "viewport"),
        Input(_ID, "selection"),
        Input(_ID, "view"),
        Input(_ID, "query"),
        Input(_ID, "instance"),
        Input(_ID, "picked"),
        State(_ID, "layout"),
        prevent_initial_call=True,
    )


def _place_of(instance: _Told) -> dict[str, Any]:
    """From the first arrival to the last end."""
    return {
        "t0": min(member["arrival"] for member in instance["members"]),
        "t1": max(member["end"] for member in instance["members"]),
        "rank": None,
        "n": instance["number"],
    }
