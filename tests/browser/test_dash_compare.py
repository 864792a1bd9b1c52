"""Two runs in Chromium: coupled timelines, charts in both themes, tables that sort."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from math import floor
from typing import Any

import pytest
from paged import examined, two_runs

from commscope.compare.build import compare_runs
from commscope.dashboards.app import Loaded, create_app_of
from commscope.dashboards.pages.compare_timelines import aligned
from commscope.dashboards.serve import in_background
from commscope.dashboards.theme import COLOURS

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect, sync_playwright

_CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_NAMES = ("ddp_default", "ddp_straggler")
_ENGINES = "Array.from(document.querySelectorAll('.cs-timeline > div'), d => d.timeline)"
_VIEWS = f"() => {_ENGINES}.map(e => e && !e.isMoving() ? [e.view.t0, e.view.t1] : null)"
pytestmark = [
    pytest.mark.skipif(_CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.long,
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    runs = [examined(name) for name in _NAMES]
    app = create_app_of([Loaded(run.name, run.analysis, run.report) for run in runs])
    with in_background(app.server) as address:
        yield address


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
        page.goto(address)
        yield page
        browser.close()


def views(page: Page, changed_from: Any) -> list[list[float]]:
    """What both timelines show once both have moved on, and are at rest."""
    for _ in range(400):
        found: list[list[float]] = page.evaluate(_VIEWS)
        if len(found) == 2 and None not in found and found != changed_from:
            moved = changed_from is None or all(a != b for a, b in zip(found, changed_from))
            if moved:
                return found
        page.wait_for_timeout(20)
    raise AssertionError(f"both timelines never moved from {changed_from}")


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("x", [300, 1150])
def test_zooming_a_timeline_zooms_both(page: Page, address: str, side: int, x: int):
    page.goto(f"{address}/compare")
    canvas = page.locator("#timelines canvas").nth(side)
    canvas.scroll_into_view_if_needed()
    before = views(page, None)
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x, box["y"] + box["height"] / 2)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    after = views(page, before)
    lengths = [end - start for start, end in after]
    assert lengths[0] == pytest.approx(lengths[1], abs=4)
    assert lengths[0] < before[0][1] - before[0][0]
    steps = aligned(two_runs().runs, compare_runs(*([examined(it)] for it in _NAMES))).steps
    middle = sum(after[side]) / 2
    step = max((of for of in steps if of[side] <= middle), default=steps[0])
    assert after[1][0] - after[0][0] == pytest.approx(step[1] - step[0], abs=4)


def test_the_address_keeps_what_both_timelines_show(page: Page, address: str):
    page.goto(f"{address}/compare?base=0&new=1")
    canvas = page.locator("#timelines canvas").first
    canvas.scroll_into_view_if_needed()
    before = views(page, None)
    page.evaluate(
        "() => { const e = document.querySelector('#timelines .cs-timeline > div').timeline;"
        " e.show(e.view.t0, (e.view.t0 + e.view.t1) / 2, 0); }"
    )
    shown = whole(views(page, before))
    zoom = ",".join(f"{t0}-{t1}" for t0, t1 in shown)
    page.wait_for_url(lambda url: url.endswith(zoom), timeout=5_000)
    assert "base=0&new=1" in page.url
    page.reload()
    assert whole(views(page, None)) == shown


def whole(found: list[list[float]]) -> list[list[int]]:
    """Times as the page rounds them."""
    return [[floor(t + 0.5) for t in of] for of in found]


def test_charts_follow_the_theme(page: Page, address: str):
    page.goto(f"{address}/compare")
    bar = page.locator(".js-plotly-plot .bars .point path").first
    expect(bar).to_have_css("fill", rgb(COLOURS["light"]["exposed"]))
    page.get_by_role("button", name="Light or dark theme").click()
    expect(bar).to_have_css("fill", rgb(COLOURS["dark"]["exposed"]))
    page.get_by_role("button", name="Light or dark theme").click()
    expect(bar).to_have_css("fill", rgb(COLOURS["light"]["exposed"]))


def rgb(colour: str) -> str:
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgb({', '.join(map(str, parts))})"


def test_a_click_on_a_head_sorts(page: Page, address: str):
    page.goto(f"{address}/kernels?run=1")
    counts = sorted(row["count"] for row in examined("ddp_straggler").report.kernels)
    drawn = page.get_by_role("table", name="Kernels by time")
    head = drawn.get_by_role("columnheader", name="count")
    first = drawn.locator("tbody tr").first.locator("td").nth(1)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(first).to_have_text(f"{counts[-1]:,}")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(first).to_have_text(f"{counts[0]:,}")
