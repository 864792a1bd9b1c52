from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from dash_runs import called
from paged import (
    alike,
    at,
    examined,
    figures,
    loaded,
    of_kind,
    one_run,
    packed,
    row_of,
    two_runs,
    words,
)

from commscope.compare.build import compare_runs
from commscope.compare.html.page import findings
from commscope.compare.json import comparison_dict
from commscope.compare.model import Comparison
from commscope.dashboards.app import Loaded, create_app_of
from commscope.dashboards.comparisons import Comparisons
from commscope.dashboards.pages import compare, compare_charts, compare_timelines
from commscope.dashboards.pages.compare import Sides
from commscope.dashboards.pages.compare_timelines import zoomed
from commscope.dashboards.urlstate import UrlState
from commscope.errors import UsageError
from commscope.report.html.document import sentences

STATE = at("/compare")


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare_runs([examined("ddp_default")], [examined("ddp_straggler")])


def test_one_run_says_how_to_open_two():
    page = compare.layout(one_run(loaded("ddp_straggler")), STATE)
    assert "commscope dash BASE NEW" in words(page)


def test_same_run_on_both_sides_is_said():
    page = compare.layout(two_runs(), at("/compare", base="1", new="1"))
    assert "Both sides are the same run" in words(page)


@pytest.mark.parametrize(
    ("values", "sides"),
    [
        ({}, Sides(0, 1)),
        ({"base": "1"}, Sides(1, 1)),
        ({"base": "1", "new": "0"}, Sides(1, 0)),
    ],
)
def test_address_names_the_sides(values: dict[str, str], sides: Sides):
    assert compare.sides_of(at("/compare", **values), 2) == sides


@pytest.mark.parametrize("values", [{"base": "2"}, {"new": "-1"}, {"base": "x"}])
def test_address_of_no_run_is_an_error(values: dict[str, str]):
    with pytest.raises(UsageError):
        compare.sides_of(at("/compare", **values), 2)


def test_page_says_what_commscope_compare_says(found: Comparison):
    page = compare.layout(two_runs(), STATE)
    told = words(page)
    assert sentences(found.verdict)[0] in told
    assert "Cannot judge" in told
    assert found.judged_by in told
    assert row_of(page, "parts")[0][:5] == ["step", "26.0 ms", "37.2 ms", "+11.2 ms", "+43.0 %"]
    assert {row[5] for row in row_of(page, "parts")} <= {"cannot judge", ""}
    assert not alike(page)


def test_causes_add_up_in_the_chart(found: Comparison):
    drawn = compare_charts.causes_figure(found)
    assert drawn is not None
    (bars,) = drawn.data
    assert sum(bars.x[:-1]) == bars.x[-1] == found.step_time.change_ns  # type: ignore[union-attr]
    assert bars.base[-1] == 0
    assert bars.y[0] == "rank 1 late"
    for at_bar in range(1, len(bars.x) - 1):
        assert bars.base[at_bar] == bars.base[at_bar - 1] + bars.x[at_bar - 1]


def test_change_that_is_not_explained_is_said(found: Comparison):
    assert compare_charts.causes_figure(replace(found, causes=None)) is None
    assert compare_charts.steps_figure(replace(found, steps=())) is None


def test_steps_are_those_of_both_runs(found: Comparison):
    drawn = compare_charts.steps_figure(found)
    assert drawn is not None
    lengths = {trace.name: list(trace.y) for trace in drawn.data}
    assert lengths["base, step"] == [
        pair.base_ns["window_ns"] for pair in found.steps if pair.base_ns
    ]
    exposed = [
        sum(v for k, v in pair.new_ns.items() if k.startswith("exposed_") and "copy" not in k)
        for pair in found.steps
        if pair.new_ns
    ]
    assert lengths["new, exposed"] == exposed


def test_timelines_are_aligned_by_step(found: Comparison):
    runs = two_runs().runs
    places = compare_timelines.aligned(runs, found)
    starts = [compare_timelines.step_starts(run) for run in runs]
    assert places.shift_ns == starts[1][1] - starts[0][1]
    assert places.steps == tuple((starts[0][step], starts[1][step]) for step in (1, 2, 3))
    rows = [row for row in runs[1].report.steps if row["step"] == 3]
    assert starts[1][3] == min(
        runs[1].view.on_common_clock(row["rank"], row["start_ns"]) for row in rows
    )
    views = [places.viewport(side) for side in (0, 1)]
    assert len({view["t1"] - view["t0"] for view in views}) == 1
    for run, view in zip(runs, views):
        assert run.view.layout.t0 <= view["t0"] < view["t1"] <= run.view.layout.t1


def test_timelines_without_steps_begin_together(found: Comparison):
    runs = two_runs().runs
    places = compare_timelines.aligned(runs, replace(found, steps=()))
    assert places.starts == tuple(run.view.layout.t0 for run in runs)


def test_page_has_both_timelines():
    page = compare.layout(two_runs(), STATE)
    made = {drawn.id: drawn.run for drawn in of_kind(page, "Timeline")}
    assert made == {"compare-base-timeline": 0, "compare-new-timeline": 1}
    assert set(figures(page)) == {"causes", "both-steps"}


def test_choice_of_runs_is_an_address():
    client = app_client()
    assert chosen(client, base="1", new="0")["location"]["href"] == "/compare?run=0&base=1&new=0"
    assert not chosen(client, base="0", new="1")


def app_client() -> Any:
    runs = [examined(name) for name in ("ddp_default", "ddp_straggler")]
    app = create_app_of([Loaded(run.name, run.analysis, run.report) for run in runs])
    return app.server.test_client()


def chosen(client: Any, base: str, new: str) -> Any:
    dependencies = client.get("/_dash-dependencies").get_json()
    (output,) = [
        it["output"] for it in dependencies if any(i["id"] == "compare-base" for i in it["inputs"])
    ]
    body = {
        "output": output,
        "outputs": {"id": "location", "property": output.rpartition(".")[2]},
        "inputs": [
            {"id": "compare-base", "property": "value", "value": base},
            {"id": "compare-new", "property": "value", "value": new},
        ],
        "state": [
            {"id": "location", "property": "pathname", "value": "/compare"},
            {"id": "location", "property": "search", "value": ""},
        ],
        "changedPropIds": ["compare-base.value"],
    }
    answer = client.post("/_dash-update-component", json=body)
    return answer.get_json()["response"] if answer.status_code == 200 else None


def test_runs_are_kept_packed_and_compared_as_if_they_were_not(found):
    kept = [packed(name) for name in ("ddp_default", "ddp_straggler")]
    assert all(3 * len(run.packed) < run.size for run in kept)
    assert not any(run.unpacked().analysis.trace.host.num_rows for run in kept)
    assert comparison_dict(Comparisons(kept).of(0, 1)) == comparison_dict(found)


def test_both_timelines_come_before_what_explains_the_change():
    page = compare.layout(two_runs(), STATE)
    names = [section.id for section in of_kind(page, "Section")]
    assert names[:3] == ["parts", "timelines", "causes"]


def test_the_header_tells_of_no_run_where_two_are_compared():
    app = create_app_of([Loaded(name, examined(name).analysis, examined(name).report)
                         for name in ("ddp_default", "ddp_straggler")])  # fmt: skip
    where = {"pathname": "/compare", "search": ""}
    assert not called(app, "chips.children", where, {})["chips"]["children"]
    where = {"pathname": "/ranks", "search": ""}
    assert called(app, "chips.children", where, {})["chips"]["children"]


def test_what_can_be_won_is_of_a_step(found):
    bounds = [bound for one in findings(found) for _, _, bound in one.says if bound]
    assert bounds
    assert all(bound.endswith(" a step to win.") for bound in bounds)
    without = [bound for one in findings(replace(found, steps=())) for *_, bound in one.says]
    assert not any("a step" in bound for bound in without)


def test_an_address_keeps_what_both_sides_show() -> None:
    zoom = {"zoom": "5-9,-3-7"}
    assert zoomed(UrlState("/compare", 0, zoom)) == [{"t0": 5, "t1": 9}, {"t0": -3, "t1": 7}]
    assert zoomed(UrlState("/compare")) == []
    with pytest.raises(UsageError, match="a range of each side is needed"):
        zoomed(UrlState("/compare", 0, {"zoom": "5-9"}))
    with pytest.raises(UsageError, match="zoom=x in the address is not two times"):
        zoomed(UrlState("/compare", 0, {"zoom": "x,5-9"}))
