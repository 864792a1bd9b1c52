"""A tab of Chromium on the app, for the tests of the timeline."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import small_run
from timeline_tab import HOSTILE, Tab

import commscope
from commscope import sample_traces
from commscope.analysis.result import analyse
from commscope.dashboards.app import Loaded, create_app_of
from commscope.dashboards.data import RunView
from commscope.dashboards.serve import in_background
from commscope.report.build import report_of

_CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def views_and_base(tmp_path_factory) -> Iterator[tuple[list[RunView], str]]:
    """A server of a real run of two ranks and of one whose names attack."""
    hostile: Path = tmp_path_factory.mktemp("hostile")
    for rank in range(2):
        (hostile / f"rank{rank}.json").write_bytes(small_run.trace(rank, name=HOSTILE))
    loaded = []
    for path in (sample_traces.path("ddp_straggler"), hostile):
        analysis = analyse(commscope.load(path))
        loaded.append(Loaded(HOSTILE if path == hostile else "ddp", analysis, report_of(analysis)))
    app = create_app_of(loaded)
    views = [RunView.of(run.analysis, run.report, run.name) for run in loaded]
    with in_background(app.server) as address:
        yield views, address


@pytest.fixture(scope="module")
def browser_tab(views_and_base) -> Iterator[Tab]:
    views, base = views_and_base
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if _CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
        found = Tab(page, base, views)
        page.on("console", lambda message: found.errors.append(message.text))
        page.on("pageerror", lambda error: found.errors.append(str(error)))
        yield found
        browser.close()


@pytest.fixture
def tab(browser_tab) -> Iterator[Tab]:
    """No test may leave a word in the console."""
    browser_tab.errors.clear()
    yield browser_tab
    assert browser_tab.errors == []
