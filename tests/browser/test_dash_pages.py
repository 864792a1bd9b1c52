"""The app in Chromium under its strict policy: no errors, inert names, theme, help, links."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from dash_runs import HOSTILE, hostile, loaded

from commscope.dashboards.app import app_of
from commscope.dashboards.pages import PAGES
from commscope.dashboards.security import access_for
from commscope.dashboards.serve import in_background

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Browser, Page, expect, sync_playwright

_CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
_TOKEN = "t"
pytestmark = pytest.mark.skipif(_CHROMIUM is None, reason="no Chromium is installed")


@contextmanager
def served(run: Any) -> Iterator[str]:
    """The address of an app of one run."""
    app = app_of([run], 1, access_for(_TOKEN, []))
    with in_background(app.server) as address:
        yield address


@dataclass
class Tab:
    """A tab of the app, with all of which it complained."""

    page: Page
    at: str
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        self.page.goto(self.at + path)
        expect(self.page.locator("#content h1")).to_be_attached()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        yield found
        found.close()


@contextmanager
def tab_of(browser: Browser, at: str, **options: Any) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
    found = Tab(context.new_page(), at)
    found.page.on("console", lambda of: of.type == "error" and found.errors.append(of.text))
    found.page.on("pageerror", lambda error: found.errors.append(str(error)))
    found.page.on("request", lambda of: at in of.url or found.outside.append(of.url))
    found.page.goto(f"{at}/?token={_TOKEN}")
    expect(found.page.locator("#content h1")).to_be_attached()
    yield found
    context.close()


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Tab]:
    with served(loaded()) as at, tab_of(browser, at) as found:
        yield found


def test_the_token_leaves_the_address(tab: Tab) -> None:
    assert "token" not in tab.page.url
    assert tab.page.title() == "Overview - commscope"


@pytest.mark.parametrize("path", [page.PATH for page in PAGES])
def test_every_page_opens_without_an_error(tab: Tab, path: str) -> None:
    tab.open(path)
    tab.page.wait_for_load_state("networkidle")
    expect(tab.page.locator("nav a.here")).to_have_count(1)
    wide = tab.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    assert tab.errors == []
    assert [url for url in tab.outside if not url.startswith(("data:", "blob:"))] == []


def test_the_late_rank_is_seen_at_once(tab: Tab) -> None:
    tab.open("/overview")
    for words in ("Main cause: rank 1 is late", "straggler rank 1", "others wait up to 25.1 ms"):
        found = tab.page.get_by_text(words).first
        expect(found).to_be_in_viewport()
    expect(tab.page.locator(".charts .js-plotly-plot").first).to_be_in_viewport()


def test_a_finding_leads_to_its_place_on_the_timeline(tab: Tab) -> None:
    tab.open("/overview")
    tab.page.get_by_role("link", name="show in timeline").first.click()
    tab.page.wait_for_url(re.compile(r"/timeline\?finding=C1$"))
    expect(tab.page.locator("nav a.here")).to_have_text("Timeline")
    assert tab.errors == []


def test_a_click_on_the_map_leads_to_the_step(tab: Tab) -> None:
    tab.open("/ranks")
    tab.page.locator(".hm").first.wait_for(state="attached")
    box = tab.page.locator(".heatmaplayer").last.bounding_box()
    assert box is not None
    tab.page.mouse.click(box["x"] + box["width"] / 6, box["y"] + box["height"] / 4)
    tab.page.wait_for_url(re.compile(r"/timeline\?"))
    row = next(r for r in loaded().report.steps if (r["rank"], r["step"]) == (0, 1))
    assert f"sel={row['start_ns']}-{row['end_ns']}" in tab.page.url


def test_a_bad_link_shows_a_message(tab: Tab) -> None:
    tab.open("/timeline?t0=9&t1=1")
    expect(tab.page.locator(".message")).to_contain_text("is not after")
    assert tab.errors == []


def test_help_by_key_and_by_button(tab: Tab) -> None:
    tab.open("/steps")
    for open_help in (
        lambda: tab.page.keyboard.press("?"),
        lambda: tab.page.get_by_role("button", name="Keys and mouse").click(),
    ):
        open_help()
        expect(tab.page.get_by_role("dialog")).to_be_visible()
        tab.page.keyboard.press("Escape")
        expect(tab.page.get_by_role("dialog")).to_be_hidden()


def test_search_from_any_page(tab: Tab) -> None:
    tab.open("/steps")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("gemm?")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url(re.compile(r"/timeline\?.*q=gemm"))
    expect(tab.page.get_by_role("dialog")).to_be_hidden()


def test_the_content_can_be_reached_by_keys(tab: Tab) -> None:
    tab.open("/steps")
    tab.page.keyboard.press("Tab")
    expect(tab.page.get_by_text("Skip to the content")).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(tab.page.locator("#content")).to_be_focused()


def test_the_theme_follows_the_system_and_is_kept(browser: Browser, tab: Tab) -> None:
    with tab_of(browser, tab.at, color_scheme="dark") as other:
        paper = "() => getComputedStyle(document.body).backgroundColor"
        assert other.page.evaluate(paper) == "rgb(15, 20, 25)"
        other.page.get_by_role("button", name="Light or dark theme").click()
        assert other.page.evaluate(paper) == "rgb(255, 255, 255)"
        other.page.reload(wait_until="domcontentloaded")
        assert other.page.evaluate(paper) == "rgb(255, 255, 255)"
        assert other.errors == []


def test_hostile_names_do_nothing(browser: Browser) -> None:
    with served(hostile()) as at, tab_of(browser, at) as tab:
        for path in ("/overview", "/unmeasured"):
            tab.open(path)
            tab.page.wait_for_load_state("networkidle")
            assert "hacked" not in tab.page.title()
        expect(tab.page.locator(".run")).to_contain_text(HOSTILE[:40])
        assert tab.page.locator("#content img").count() == 0
        assert tab.errors == []
