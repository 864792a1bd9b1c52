"""The timeline in Chromium: what clicks, drags and searches mean, and what an address keeps."""

from __future__ import annotations

import pytest
from timeline_tab import SHOWN

pytestmark = pytest.mark.long


def test_a_mark_is_taken_away_again(tab):
    tab.open()
    for t0 in (45e6, 60e6):
        tab.engine("e.select({ t0: a, t1: a + 5e6, ranks: [0] })", t0)
        tab.page.keyboard.press("Shift+M")
    marks = "e.overlays.marks.map(mark => mark.t0)"
    assert tab.engine(marks) == [45e6, 60e6]
    tab.engine("e.select({ t0: 45e6, t1: 50e6, ranks: [0] })")
    tab.page.keyboard.press("Shift+M")
    assert tab.engine(marks) == [60e6]
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("Shift+M")
    assert tab.engine(marks) == []


def test_f_shows_what_is_selected_and_then_the_whole_run(tab):
    tab.open("&t0=20000000&t1=30000000")
    view = "[e.view.t0, e.view.t1]"
    whole = tab.engine("[e.whole.t0, e.whole.t1]")
    tab.page.keyboard.press("f")
    assert tab.engine(view) == whole
    tab.engine("e.select({ t0: 45e6, t1: 55e6, ranks: [0] })")
    tab.page.keyboard.press("f")
    assert tab.engine(view) == [44e6, 56e6]
    tab.page.keyboard.press("f")
    assert tab.engine(view) == whole
    tab.page.keyboard.press("f")
    assert tab.engine(view) == [44e6, 56e6]


def test_a_click_on_density_gives_the_kernel_that_is_drawn_there(tab):
    """Of the whole run nearly all kernels are narrower than a column."""
    tab.open()
    lane = next(of for of in tab.views[0].lanes if (of.kind, of.rank) == ("compute", 0))
    for event in range(5, len(lane), len(lane) // 4):
        told = tab.views[0].event(lane.id, event)
        tab.page.mouse.click(*tab.at(0, "compute", told.start + told.dur / 2))
        tab.wait(lambda: tab.engine("e.overlays.focus !== null"), "the kernel in focus")
        focus = tab.engine("e.overlays.focus")
        assert focus["lane"] == lane.id
        assert abs(focus["t0"] - told.start) < 400_000
        tab.drawer(tab.views[0].event(lane.id, focus["event"]).name)
        tab.page.keyboard.press("Escape")


def test_a_drag_along_the_lanes_of_a_rank_selects_that_rank_and_its_link_does(tab):
    tab.open()
    (x0, y), (x1, _) = (tab.at(0, "compute", t) for t in (45e6, 80e6))
    tab.page.mouse.move(x0, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x1, y, steps=3)
    tab.page.mouse.up()
    words = tab.drawer("selected, rank 0 only")
    tab.wait(lambda: "selranks=0" in tab.page.url, "its rank in the address")
    tab.page.reload()
    tab.until(SHOWN)
    assert tab.drawer("selected, rank 0 only") == words
    assert tab.engine("e.overlays.selection.ranks") == [0]


def test_a_link_keeps_what_was_clicked_and_how_lanes_are_shown(tab):
    tab.open()
    tab.page.mouse.click(*tab.at(1, "steps", 45e6))
    words = tab.drawer("of rank 1")
    tab.page.keyboard.press("i")
    tab.page.locator(".cs-kind", has_text="gemm").click()
    tab.wait(lambda: "pin=1" in tab.page.url and "hide=gemm" in tab.page.url, "the address")
    assert "at=1.steps." in tab.page.url
    state = "[e.overlays.focus.t0, e.overlays.focus.lane, e.state.pinned, e.state.hidden]"
    shown = tab.engine(state)
    tab.page.reload()
    tab.until(SHOWN)
    assert tab.drawer("of rank 1") == words
    assert tab.engine(state) == shown


def test_a_search_leads_to_what_is_shown_only_and_says_how_much_that_is(tab):
    tab.open("&q=nccl")
    view = tab.views[0]
    matches = view.matches("nccl")
    shown = sum(n for lane, n in matches.lanes if view.lane(lane).kind != "thread")
    words = "document.querySelector('.cs-found').textContent"
    tab.until(f"() => {words} === '{shown} shown of {matches.count} found'")
    begins = set()
    for _ in range(shown):
        tab.page.locator("#search").press("Enter")
        tab.wait(
            lambda: tab.engine("e.cursors.match ?? null") not in {None, *begins}, "the next match"
        )
        begins.add(tab.engine("e.cursors.match"))
    tab.wait(lambda: tab.engine("e.overlays.focus?.t0") == max(begins), "the last match")
    steps = next(lane.id for lane in view.lanes if (lane.kind, lane.rank) == ("steps", 0))
    tab.engine("e.change({ expanded: [a] })", steps)
    tab.wait(lambda: tab.page.evaluate(words) != f"{shown} shown of {matches.count} found", "more")


def test_a_bar_without_room_for_its_name_tells_it_as_soon_as_it_is_known(tab):
    tab.open("&t0=6150000&t1=7300000")
    narrow = """(() => {
      const isIt = lane => e.index.lanes.get(lane.id).kind === "compute";
      const area = e.area(), lane = [...e.store.fine.values()].find(isIt);
      for (let i = 0; i < lane.n; i++) {
        const t = lane.t0 + lane.start[i] + lane.dur[i] / 2, wide = lane.dur[i] * area.scale.perNs;
        const x = area.scale.x(t);
        if (wide < 36 && wide > 4 && x > area.left && !e.store.names.has(lane.name[i])) return t;
      }
      return null;
    })()"""
    t = tab.engine(narrow)
    assert t is not None
    tab.page.mouse.move(*tab.at(0, "compute", t))
    tab.until("() => document.querySelector('.cs-tip > div').textContent.length > 3")


def test_what_waits_is_told_by_its_rank_however_narrow(tab):
    tab.open()
    texts = [
        tab.page.evaluate("n => commscope_timeline.fitted('waiting for rank 17', 6 * n, 6)", most)
        for most in (19, 18, 7, 6, 2, 1)
    ]
    assert texts == ["waiting for rank 17", "rank 17", "rank 17", "17", "17", ""]


def test_what_lies_below_stays_where_it_is_when_lanes_are_opened(tab):
    tab.open()
    top = "() => document.querySelector('.cs-drawer').getBoundingClientRect().top"
    before = tab.page.evaluate(top)
    steps = [lane.id for lane in tab.views[0].lanes if lane.kind in ("steps", "compute")]
    tab.engine("e.change({ expanded: a, pinned: [1] })", steps)
    tab.settled()
    assert tab.engine("e.rows.some(row => row.depth === 1)")
    assert tab.page.evaluate(top) == before
