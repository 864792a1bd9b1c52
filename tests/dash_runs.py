"""Runs of the sample traces as the app has them, each read once."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

from dash import Dash

import commscope
from commscope import sample_traces
from commscope.api import examine
from commscope.dashboards.app import Loaded, create_app_of
from commscope.dashboards.app_data import AppData, LoadedRun
from commscope.dashboards.beside import Beside
from commscope.dashboards.data import RunView
from commscope.findings.model import Advice, Evidence, Finding, Quote

HOSTILE = "<img src=x onerror=document.title='hacked'></script><script>document.title='hacked'//"


@cache
def loaded(name: str = "ddp_straggler") -> Loaded:
    """A sample trace, analysed."""
    return Loaded(name, *examine(commscope.load(sample_traces.path(name))))


@cache
def run_of(name: str = "ddp_straggler") -> LoadedRun:
    """The same as pages have it."""
    run = loaded(name)
    view = RunView.of(run.analysis, run.report, name)
    return LoadedRun(name, run.report, view, Beside.of(run.analysis))


@cache
def data_of(*names: str) -> AppData:
    """The data of an app with these runs; without its comparisons."""
    runs = [run_of(name) for name in names or ("ddp_straggler",)]
    numbered = (replace(run, view=run.view.numbered(place)) for place, run in enumerate(runs))
    return AppData(tuple(numbered))


def with_report(**changes: Any) -> AppData:
    """The data of an app of which the report differs."""
    run = run_of()
    return AppData((replace(run, report=replace(run.report, **changes)),))


def hostile() -> Loaded:
    """A run all of whose texts are hostile."""
    run = loaded()
    report = run.report
    place = Evidence(0, 1, report.origin_ns, report.origin_ns + 1_000_000)
    finding = Finding(
        *("X1", "X1", "high", "high", HOSTILE, HOSTILE),
        evidence=(place,),
        quotes=(Quote(HOSTILE, 1, HOSTILE),),
        advice=(Advice(HOSTILE, HOSTILE, HOSTILE),),
    )
    summary = replace(report.summary, verdict=HOSTILE)
    report = replace(
        report, findings=(finding,), summary=summary, notes=(HOSTILE,), trust_line=f"ok: {HOSTILE}"
    )
    return replace(run, name=HOSTILE, report=report)


@cache
def app_of(*names: str) -> Dash:
    """An app without a token."""
    return create_app_of([loaded(name) for name in names or ("ddp_straggler",)])


def called(app: Dash, output: str, inputs: dict[str, Any], state: dict[str, Any]) -> Any:
    """What a callback gives by its output (``id.property``), through the app's own route."""
    found = next(each for each in app.callback_map if output in each)
    listed = app.callback_map[found]
    body = {
        "output": found,
        "outputs": _outputs(found),
        "inputs": [_given(each, inputs) for each in listed["inputs"]],
        "state": [_given(each, state) for each in listed["state"]],
        "changedPropIds": [f"{each['id']}.{each['property']}" for each in listed["inputs"]],
    }
    answer = app.server.test_client().post("/_dash-update-component", json=body)
    assert answer.status_code in (200, 204), answer.text
    return json.loads(answer.text)["response"] if answer.status_code == 200 else None


def _given(of: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    try:
        name = json.loads(of["id"])
    except ValueError:
        name = of["id"]
    return {"id": name, "property": of["property"], "value": values[of["property"]]}


def _outputs(found: str) -> Any:
    parts = found.removeprefix("..").removesuffix("..").split("...")
    each = []
    for part in parts:
        name, prop = part.rsplit(".", 1)
        each.append({"id": json.loads(name) if name.startswith("{") else name, "property": prop})
    return each if found.startswith("..") else each[0]


def text_of(component: Any) -> str:
    """All texts of a page, in order."""
    if component is None:
        return ""
    if isinstance(component, (str, int, float)):
        return str(component)
    if isinstance(component, (list, tuple)):
        return " ".join(map(text_of, component))
    return text_of(getattr(component, "children", None))


def links_of(component: Any) -> list[str]:
    """All addresses to which a page leads."""
    if isinstance(component, (list, tuple)):
        return [href for each in component for href in links_of(each)]
    own = [component.href] if getattr(component, "href", None) else []
    return own + links_of(getattr(component, "children", None) or [])
