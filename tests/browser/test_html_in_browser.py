"""HTML in Chromium, opened from disk: it asks for nothing, fits, sorts, and is inert."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import commscope
from commscope import sample_traces
from commscope.compare.build import compare_runs, examine
from commscope.findings.model import Finding
from commscope.report.html import render

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, sync_playwright

_CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_HOSTILE = "<img src=x onerror=document.title='hacked'></script><script>document.title='hacked'//"
pytestmark = pytest.mark.skipif(_CHROMIUM is None, reason="no Chromium is installed")


@dataclass
class Tab:
    """A tab, with what it asked for and what it complained of since it was last opened."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self, file: Path) -> None:
        self.requests.clear()
        self.errors.clear()
        self.page.goto(file.as_uri())

    def ask(self, script: str) -> Any:
        return self.page.evaluate(script)


@pytest.fixture(scope="module")
def tab(tmp_path_factory) -> Iterator[Tab]:
    """One browser for all tests, offline, with a profile of its own."""
    profile = tmp_path_factory.mktemp("profile")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=_CHROMIUM, headless=True, offline=True, args=_FLAGS
        )
        found = Tab(context.pages[0])
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.on("console", lambda message: found.errors.append(message.text))
        found.page.on("pageerror", lambda error: found.errors.append(str(error)))
        yield found
        context.close()


@pytest.fixture(scope="module")
def straggler() -> commscope.Report:
    return commscope.analyze(commscope.load(sample_traces.path("ddp_straggler")))


@pytest.fixture(scope="module")
def file(tmp_path_factory, straggler) -> Path:
    return written(tmp_path_factory.mktemp("report") / "report.html", straggler)


def written(file: Path, report: commscope.Report, title: str = "ddp_straggler") -> Path:
    file.write_text(render(report, title=title), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def comparison(tmp_path_factory) -> Path:
    runs = [
        examine(name, commscope.load(sample_traces.path(name)))
        for name in ("ddp_default", "ddp_straggler")
    ]
    file: Path = tmp_path_factory.mktemp("comparison") / "compare.html"
    file.write_text(compare_runs(runs[:1], runs[1:]).to_html(), encoding="utf-8")
    return file


@pytest.mark.parametrize("page", ["file", "comparison"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1600])
def test_it_asks_for_nothing_and_fits(tab, request, page, width, theme):
    file = request.getfixturevalue(page)
    tab.page.emulate_media(color_scheme=theme)
    tab.page.set_viewport_size({"width": width, "height": 900})
    tab.open(file)
    asked = [url for url in tab.requests if not url.startswith("data:")]
    assert asked == [file.as_uri()]
    assert tab.errors == []
    assert tab.ask("document.documentElement.scrollWidth") == width
    paper = tab.ask("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 20, 25)"}[theme]


def first_cells(tab: Tab, place: int) -> list[str]:
    rows = "document.querySelector('[aria-labelledby=steps-caption] tbody').rows"
    script = f"Array.from({rows}, row => row.cells[{place}].textContent)"
    cells: list[str] = tab.ask(script)
    return cells


def test_tables_are_sorted_by_the_number_behind_the_text(tab, file):
    tab.open(file)
    button = tab.page.locator("[aria-labelledby=steps-caption] thead th:nth-child(5) button")
    before = first_cells(tab, 4)
    button.press("Enter")
    head = button.locator("..")
    assert head.get_attribute("aria-sort") == "descending"
    most = first_cells(tab, 4)
    assert most[0] == "27.2 ms (71.1 %)"
    assert [cell.split()[1] for cell in most] == ["ms"] * 3 + ["us"] * 3
    button.click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert first_cells(tab, 4) == most[::-1] != before


def test_pairs_are_sorted_by_their_difference(tab, comparison):
    tab.open(comparison)
    button = tab.page.locator("[aria-labelledby=ranks-caption] thead th:nth-child(7) button")
    rows = "document.querySelector('[aria-labelledby=ranks-caption] tbody').rows"
    assert "idle" in (button.text_content() or "")
    button.click()
    assert tab.ask(f"Array.from({rows}, row => row.cells[0].textContent)") == ["1", "0"]
    button.click()
    assert tab.ask(f"Array.from({rows}, row => row.cells[0].textContent)") == ["0", "1"]


def test_the_two_timelines_end_at_the_same_place(tab, comparison):
    tab.page.set_viewport_size({"width": 1600, "height": 900})
    tab.open(comparison)
    base, new = (
        tab.ask(
            f"document.querySelector('[aria-labelledby^={name}-title]').getBoundingClientRect()"
        )
        for name in ("base", "new")
    )
    assert (base["left"], base["right"]) == (new["left"], new["right"])
    assert base["bottom"] < new["top"]


def test_the_theme_is_kept(tab, file):
    tab.page.emulate_media(color_scheme="light")
    tab.open(file)
    button = tab.page.locator("#theme")
    assert button.text_content() == "Dark theme"
    button.click()
    assert button.text_content() == "Light theme"
    tab.page.reload()
    assert tab.ask("document.documentElement.dataset.theme") == "dark"
    tab.ask("localStorage.clear()")


def test_hostile_names_do_nothing(tab, tmp_path, straggler):
    finding = Finding("X1", "X1", "high", "high", _HOSTILE, _HOSTILE)
    summary = replace(straggler.summary, verdict=_HOSTILE)
    report = replace(straggler, findings=(finding,), summary=summary, notes=(_HOSTILE,))
    tab.open(written(tmp_path / "hostile.html", report, "{{7*7}}"))
    assert tab.page.title() == "{{7*7}}"
    assert tab.page.locator(".verdict").text_content() == _HOSTILE
    assert tab.page.locator("img").count() == 0
    assert tab.errors == []


def test_a_script_that_is_not_ours_is_refused(tab, file, tmp_path):
    changed = tmp_path / "changed.html"
    foreign = "<script>document.title = 'hacked'</script></body>"
    changed.write_text(file.read_text("utf-8").replace("</body>", foreign), encoding="utf-8")
    tab.open(changed)
    assert tab.page.title() == "ddp_straggler"
    assert "Content Security Policy" in tab.errors[0]


def test_it_prints_in_light_with_all_parts_open(tab, file):
    tab.open(file)
    tab.ask("dispatchEvent(new Event('beforeprint'))")
    tab.page.emulate_media(media="print", color_scheme="dark")
    assert tab.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.ask("document.querySelector('details').open")
    assert tab.page.pdf(format="A4").startswith(b"%PDF")
    tab.page.emulate_media(media="screen")
