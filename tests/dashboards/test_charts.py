from __future__ import annotations

import json

import pytest
from dash import Dash
from plotly.utils import PlotlyJSONEncoder

from commscope.dashboards import charts
from commscope.dashboards.theme import COLOURS, PALETTE

HOSTILE = '<a href="javascript:alert(1)">\u202ea & b</a>' + "x" * 200


def test_names_are_no_html_and_short():
    said = charts.text(HOSTILE)
    assert "<" not in said
    assert "&lt;a href" in said
    assert "\u202e" not in said
    assert len(charts.text("y" * 500)) == 60


def test_figure_has_titles_height_and_both_themes():
    drawn = charts.figure(x="size", y="bus bandwidth (GB/s)", height=300)
    assert drawn.layout.xaxis.title.text == "size"
    assert drawn.layout.yaxis.title.text == "bus bandwidth (GB/s)"
    assert drawn.layout.height == 300
    dark = drawn.layout.meta["dark"]
    assert dark[charts.colour("exposed")] == COLOURS["dark"]["exposed"]
    assert dark[charts.colour("gemm")] == PALETTE["gemm"]["dark"]


def test_every_colour_has_one_of_its_own_in_the_dark():
    dark = charts.figure(x="", y="").layout.meta["dark"]
    for name, of in PALETTE.items():
        assert dark[of["light"]] == of["dark"], name
    for name in set(COLOURS["light"]) - {"mark", "low"}:
        assert dark[COLOURS["light"][name]] == COLOURS["dark"][name], name


def test_time_axis_has_round_ticks_in_units():
    axis = charts.time_axis(42_000_000)
    assert axis["ticktext"][:3] == ["0", "10 ms", "20 ms"]
    assert axis["tickvals"][1] == pytest.approx(10_000_000, rel=1e-3)


def test_size_axis_is_logarithmic_with_units():
    axis = charts.size_axis(4096, 27_000_000)
    assert axis["type"] == "log"
    assert axis["ticktext"] == ["1 kB", "10 kB", "100 kB", "1 MB", "10 MB", "100 MB"]
    low, high = axis["range"]
    assert 10**low < 4096
    assert 10**high > 27_000_000


def test_rate_axis_has_more_ticks_on_few_decades():
    assert charts.rate_axis(20, 300)["ticktext"] == [
        "10", "20", "50", "100", "200", "500", "1,000", "2,000", "5,000"
    ]  # fmt: skip
    assert "2" not in charts.rate_axis(0.01, 300)["ticktext"]
    assert "0.01" in charts.rate_axis(0.01, 300)["ticktext"]


def test_chart_keeps_its_place_and_says_what_it_shows():
    box = charts.chart("bandwidth", charts.figure(x="a", y="b", height=280), "Two bars.")
    graph, store = box.children
    assert graph.style == box.style == {"height": "280px"}
    assert graph.config["displaylogo"] is False
    assert box.to_plotly_json()["props"]["aria-label"] == "Two bars."
    json.dumps(store.data, cls=PlotlyJSONEncoder)


def test_register_draws_charts_in_the_browser():
    app = Dash("charts")
    charts.register(app)
    (callback,) = app.callback_map.values()
    assert callback["inputs"][1] == {"id": "theme", "property": "data"}
