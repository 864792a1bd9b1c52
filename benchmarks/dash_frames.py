"""Measures the timeline in a browser: first paint, refined views, frames while zooming.

    python benchmarks/dash_frames.py                      # 10 million events on 8 ranks
    python benchmarks/dash_frames.py --events 1000000

The run is the one that dash_lod.py makes up. Browser and server share the machine's cores, and
nothing is drawn by a GPU. Printed are the time from the address to the first frame with data,
opened first and again; by zoom, the time from a jump to the frame that shows it in full, and the
bytes of the answer, as they travel and unpacked; frames a second and the longest frame during four
seconds of zooming by wheel.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dash import Dash
from dash_lod import made_up_trace, timed
from playwright.sync_api import Page, sync_playwright

from commscope.analysis.result import analyse
from commscope.dashboards.app import Loaded, create_app_of
from commscope.dashboards.serve import in_background
from commscope.report.build import report_of

ZOOMS = (0.3, 0.1, 0.01, 0.001, 0.0001)
PLACES = 8
WHEEL_SECONDS = 4.0
WIDTH, HEIGHT = 1600, 1000
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_ENGINE = "document.querySelector('.cs-timeline > div')?.timeline"

#: From the begin: notes the first frame with data, the first in full, and when each frame came.
_WATCH = f"""
window.seen = {{ frames: [] }};
(function look(now) {{
  const e = document.querySelector('.cs-timeline > div') && {_ENGINE};
  if (e && !seen.first && e.frames && e.store.fine.size) seen.first = performance.now();
  if (e && !seen.full && e.wanted && e.isRefined()) seen.full = performance.now();
  seen.frames.push(now);
  requestAnimationFrame(look);
}})(0);
"""

#: Goes to a window; gives the time until it is drawn in full.
_JUMP = f"""([t0, t1]) => new Promise((resolve) => {{
  const e = {_ENGINE}, begin = performance.now();
  performance.clearResourceTimings();
  e.lookAt({{ t0, t1 }});
  const look = () => {{
    if (e.pending || !e.isRefined()) return requestAnimationFrame(look);
    const ms = performance.now() - begin;
    const isLod = (each) => each.name.includes("_cs/lod");
    const came = performance.getEntriesByType("resource").filter(isLod);
    const sum = (name) => came.reduce((all, each) => all + each[name], 0);
    resolve({{ ms, sent: sum("encodedBodySize"), bytes: sum("decodedBodySize") }});
  }};
  requestAnimationFrame(look);
}})"""


@dataclass(frozen=True, slots=True)
class Jump:
    """One jump: how long until it was drawn in full, and the bytes that came for it."""

    ms: float
    sent: int
    bytes: int


def made_up_app(events: int, ranks: int, calls: float) -> Dash:
    """The app of a made up run, of which it keeps what it shows."""
    each = events // ranks
    launched = int(each * calls)
    trace = made_up_trace(ranks, each - launched, min(launched, each - launched))
    analysis = timed("analysis", lambda: analyse(trace))
    report = timed("report", lambda: report_of(analysis))
    return timed("view", lambda: create_app_of([Loaded("made up", analysis, report)]))


@contextmanager
def served(events: int, ranks: int, calls: float) -> Iterator[str]:
    """The app of a made up run; gives its address."""
    app = made_up_app(events, ranks, calls)
    with in_background(app.server) as address:
        yield address


def wait(page: Page, script: str) -> Any:
    """What a function of the page gives, once that is something."""
    while not (found := page.evaluate(script)):
        page.wait_for_timeout(20)
    return found


def first_paint(page: Page, address: str) -> None:
    """Prints the time from the address to the first frame with data, opened first and again."""
    for opened in ("first", "again"):
        page.goto(f"{address}/timeline")
        full = wait(page, "() => window.seen.full")
        first = page.evaluate("() => window.seen.first")
        print(f"opened {opened}: {first / 1e3:.2f} s with data, {full / 1e3:.2f} s in full")


def refined(page: Page) -> None:
    """Prints times and sizes of jumps to windows of each zoom."""
    t0, t1 = page.evaluate(f"() => [{_ENGINE}.whole.t0, {_ENGINE}.whole.t1]")
    places = random.Random(1)
    every: list[Jump] = []
    for zoom in ZOOMS:
        jumps = []
        for _ in range(PLACES):
            begin = t0 + places.random() * (t1 - t0) * (1 - zoom)
            found = page.evaluate(_JUMP, [begin, begin + (t1 - t0) * zoom])
            jumps.append(Jump(**found))
        every += jumps
        print(f"refined, {zoom:7.2%} of the run: {_told(jumps)}")
    print(f"refined, all: {_told(every)}")


def _told(jumps: Sequence[Jump]) -> str:
    ms = [jump.ms for jump in jumps]
    return (
        f"p50 {statistics.median(ms):4.0f} ms, worst {max(ms):4.0f} ms, at most "
        f"{max(jump.sent for jump in jumps) / 1e3:4.0f} kB sent, "
        f"{max(jump.bytes for jump in jumps) / 1e3:4.0f} kB unpacked"
    )


def wheel(page: Page) -> None:
    """Prints frames a second and the longest frame while the wheel zooms in and out."""
    page.evaluate(f"() => {_ENGINE}.lookAt({_ENGINE}.whole)")
    page.wait_for_timeout(800)
    page.mouse.move(WIDTH * 0.6, HEIGHT * 0.4)
    page.keyboard.down("Control")
    page.evaluate("() => { window.seen.frames = []; }")
    begin = time.monotonic()
    while (passed := time.monotonic() - begin) < WHEEL_SECONDS:
        page.mouse.wheel(0, -40 if passed < WHEEL_SECONDS * 0.6 else 40)
    frames = page.evaluate("() => window.seen.frames")
    page.keyboard.up("Control")
    lengths = [later - earlier for earlier, later in pairwise(frames)]
    rate = len(lengths) / (frames[-1] - frames[0]) * 1e3
    print(f"wheel zoom: {rate:.1f} frames a second, the longest {max(lengths):.0f} ms")


def main() -> None:
    """Measures, as the command line says."""
    parser = argparse.ArgumentParser(description="Measure the timeline in a browser.")
    parser.add_argument("--events", type=int, default=10_000_000, help="on all ranks together")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--calls", type=float, default=0.25, help="share of events on hosts")
    arguments = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with (
        served(arguments.events, arguments.ranks, arguments.calls) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.add_init_script(_WATCH)
        first_paint(page, address)
        refined(page)
        wheel(page)
        browser.close()


if __name__ == "__main__":
    main()
