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


def _light_of(colour: str) -> float:
    """The relative luminance of a colour (WCAG 2)."""
    shades = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shades)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _between(low: str, high: str, share: float) -> str:
    pairs = [(int(low[at : at + 2], 16), int(high[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _long(colour: str) -> str:
    return colour if len(colour) == 7 else "#" + "".join(2 * each for each in colour[1:])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_cell_of_a_map_can_be_read(theme):
    shares = [place / 50 for place in range(51)]
    cells = [charts.Cell(0, 0, "x", share) for share in shares]
    drawn = charts.cell_texts(["a"], ["b"], cells)
    dark = charts.figure(x="", y="").layout.meta["dark"]
    low, high = charts.colour("card"), charts.colour("exposed")
    for ink, share in zip(drawn.textfont.color, shares):
        colours = [low, high, ink]
        if theme == "dark":
            colours = [dark.get(each, each) for each in colours]
        back = _between(*map(_long, colours[:2]), share)
        lights = sorted([_light_of(back), _light_of(_long(colours[2]))])
        assert (lights[1] + 0.05) / (lights[0] + 0.05) > 3.5, share


def test_names_that_end_differently_stay_apart():
    names = [f"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_long_{end}" for end in ("NNT", "TNN")]
    told = [charts.name_of(name, 40) for name in names]
    assert len(set(told)) == 2
    assert all(len(each) == 40 and each.startswith("nvjet_sm90") for each in told)
    assert charts.name_of("<b>", 40) == "&lt;b&gt;"
