"""Takes the pictures of the app that docs/dash.md shows, one of each page.

python tools/dash_pictures.py docs/pictures RUN...            in the light theme
python tools/dash_pictures.py docs/pictures RUN... --dark     in the dark one

It needs Playwright, and Chromium or what CHROMIUM names.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

import commscope
from commscope.api import examine
from commscope.dashboards.app import Loaded, create_app_of
from commscope.dashboards.pages import PAGES
from commscope.dashboards.serve import in_background

_SIZE: ViewportSize = {"width": 1280, "height": 800}
#: Charts and the timeline are drawn after a page has come; nothing tells when the last one is.
_SETTLED_MS = 2_500


@contextmanager
def served(runs: list[Path]) -> Iterator[str]:
    """The address of the app with these runs, while it is open."""
    loaded = [Loaded(run.name, *examine(commscope.load(run))) for run in runs]
    with in_background(create_app_of(loaded).server) as address:
        yield address


def take(page: Page, address: str, folder: Path, name: str) -> None:
    """A picture of each page of the first run."""
    folder.mkdir(parents=True, exist_ok=True)
    for of in PAGES:
        page.goto(f"{address}{of.PATH}")
        page.wait_for_timeout(_SETTLED_MS)
        page.screenshot(path=folder / f"{name}_{of.PATH.strip('/')}.png")


def main() -> None:
    """Takes the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--dark", action="store_true")
    asked = parser.parse_args()
    with served(asked.runs) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=_SIZE, color_scheme="dark" if asked.dark else "light")
        take(page, address, asked.folder, asked.runs[0].stem + ("_dark" if asked.dark else ""))
        browser.close()


if __name__ == "__main__":
    main()
