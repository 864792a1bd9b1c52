"""Takes the pictures of the app that the documentation shows, each page light and dark.

python tools/dash_pictures.py docs/pictures RUN...

Of the first run it writes FOLDER/RUN/PAGE_light.png and PAGE_dark.png, 1280 by 800; with several
runs, Compare shows the first two. It needs Playwright, and Chromium or what CHROMIUM names.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, ViewportSize, sync_playwright

import commscope
from commscope.api import examine
from commscope.dashboards.app import Loaded, create_app_of
from commscope.dashboards.pages import PAGES
from commscope.dashboards.serve import in_background

_SIZE: ViewportSize = {"width": 1280, "height": 800}
#: Charts and the timeline are drawn after a page has come; nothing tells when the last one is.
_SETTLED_MS = 2_500
_MOST_BYTES = 150_000
_THEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")


@contextmanager
def served(runs: list[Path]) -> Iterator[str]:
    """The address of the app with these runs, while it is open."""
    loaded = [Loaded(run.name, *examine(commscope.load(run))) for run in runs]
    with in_background(create_app_of(loaded).server) as address:
        yield address


def take(page: Page, address: str, folder: Path, theme: str) -> None:
    """A picture of each page of the first run."""
    for of in PAGES:
        page.goto(f"{address}{of.PATH}")
        page.wait_for_timeout(_SETTLED_MS)
        path = folder / f"{of.PATH.strip('/')}_{theme}.png"
        size = len(page.screenshot(path=path))
        if size > _MOST_BYTES:
            print(f"{path}: {size:,} bytes are more than {_MOST_BYTES:,}")


def main() -> None:
    """Takes the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    asked = parser.parse_args()
    folder: Path = asked.folder / asked.runs[0].stem
    folder.mkdir(parents=True, exist_ok=True)
    with served(asked.runs) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"]
        )
        for theme in _THEMES:
            page = browser.new_page(viewport=_SIZE, color_scheme=theme)
            take(page, address, folder, theme)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
