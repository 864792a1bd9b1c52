"""A tab of a browser on the timeline, and what is asked of the page in scripts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from commscope.dashboards.data import RunView

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = "<img src=x onerror=document.title='hacked'></script><script>document.title='hacked'//"
ENGINE = "document.querySelector('.cs-timeline > div').timeline"
#: Where on the page a lane (rank, kind) has a time.
PLACE = """(() => {
  const area = e.area(), box = e.canvas.getBoundingClientRect(), [rank, kind, t] = a;
  const isIt = r => r.kind === "lane" && r.rank === rank && r.lane.kind === kind;
  const row = e.rows.find(isIt);
  return [box.left + area.scale.x(t), box.top + area.yOf(row) + row.height / 2];
})()"""
#: The middle of the first rectangle of computing.
FIRST_KERNEL = """(() => {
  const isIt = lane => lane.n && e.index.lanes.get(lane.id).kind === "compute";
  const lane = [...e.store.fine.values()].find(isIt);
  return lane.t0 + lane.start[0] + lane.dur[0] / 2;
})()"""
#: The cells of the table of ranks.
ROWS = """() => Array.from(
  document.querySelector("[aria-labelledby=timeline-ranks-caption] tbody").rows,
  row => Array.from(row.cells, cell => cell.textContent)
)"""
#: Of 64 ranks on two hosts, those that a view (a) has rows of, and those that stay on top.
ROWS_OF_MANY = """view => {
  const cs = commscope_timeline, ranks = [], lanes = [];
  for (let rank = 0; rank < 64; rank++) {
    const kinds = ["steps", "compute", "exposed"];
    const ids = kinds.map((kind, i) => 3 * rank + i + 1);
    kinds.forEach((kind, i) => lanes.push({ id: ids[i], rank, kind, depth: 1, parent: null }));
    ranks.push({ rank, lanes: ids });
  }
  const host = (id, from) => ({ id, label: id, by: "host", least: from + 1, median: from + 9,
    most: from + 5, ranks: Array.from({ length: 32 }, (_, i) => from + i) });
  const layout = { ranks, lanes, groups: [host("a", 0), host("b", 32)] };
  const state = { ...cs.firstView(layout), ...view };
  const rows = cs.rowsOf(layout, cs.indexOf(layout), state).rows.filter(row => row.kind === "lane");
  const of = rows => [...new Set(rows.map(row => row.rank))];
  return [of(rows), of(rows.filter(row => row.isFixed)), rows.length];
}"""
SHOWN = "() => Boolean(document.querySelector('.cs-timeline > div')?.timeline)"
_MOST_WAIT_S = 10
#: Of each rectangle in view that is wide enough, the pixel at its middle (above its name).
PIXELS = """(() => {
  const area = e.area(), found = [], { width, height } = e.canvas;
  const pixels = e.context.getImageData(0, 0, width, height).data;
  for (const row of e.rows) {
    const lane = row.kind === "lane" && e.store.fine.get(row.lane.id);
    if (!lane || area.depthOf(row) > 1) continue;
    for (let i = 0; i < lane.n; i++) {
      const x0 = Math.max(area.scale.x(lane.t0 + lane.start[i]), area.left);
      const x1 = Math.min(area.scale.x(lane.t0 + lane.start[i] + lane.dur[i]), area.right);
      if (x1 - x0 < 5) continue;
      const [x, y] = [(x0 + x1) / 2, area.yOf(row) + 1.5].map(each => Math.floor(each * e.ratio));
      const pixel = pixels.slice(4 * (y * width + x), 4 * (y * width + x) + 3);
      const name = e.layout.categories.find(each => each.id === lane.cat[i]).name;
      found.push([row.lane.kind, name, [pixel[0], pixel[1], pixel[2]]]);
    }
  }
  return found;
})()"""


@dataclass
class Tab:
    """A tab on the app, and what it complained of."""

    page: Page
    base: str
    views: list[RunView]
    errors: list[str] = field(default_factory=list)

    def open(self, query: str = "", run: int = 0) -> None:
        """The timeline, drawn in full."""
        self.page.goto(f"{self.base}/timeline?run={run}{query}")
        self.until(SHOWN)
        self.settled()

    def engine(self, script: str, argument: Any = None) -> Any:
        """What a function of the engine (``e``) and an argument (``a``) gives."""
        return self.page.evaluate(f"a => {{ const e = {ENGINE}; return {script}; }}", argument)

    def until(self, script: str) -> None:
        """Waits for it: the policy forbids the waiting that evaluates texts in the page."""
        self.wait(lambda: bool(self.page.evaluate(script)), script)

    def wait(self, holds: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + _MOST_WAIT_S
        while not holds():
            assert time.monotonic() < end, f"never came: {what}"
            self.page.wait_for_timeout(15)

    def settled(self) -> None:
        """Drawn in full, with names, and told to the page."""
        self.wait(
            lambda: self.engine("e.isRefined() && !e.isMoving() && !e.store.missing.size"), "data"
        )

    def drawer(self, words: str) -> str:
        """The text of the drawer once it has these words."""
        self.until(f"() => document.querySelector('.cs-drawer').textContent.includes({words!r})")
        return str(self.page.locator(".cs-drawer").text_content())

    def at(self, rank: int, kind: str, t: float) -> tuple[float, float]:
        """Where on the page a lane has a time."""
        x, y = self.engine(PLACE, [rank, kind, t])
        return x, y
