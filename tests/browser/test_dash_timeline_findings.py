"""The timeline in Chromium: idle stretches, findings, and the way between them; what links keep."""

from __future__ import annotations

import pytest
from timeline_tab import ENGINE, SHOWN

from commscope.dashboards.theme import PALETTE

pytestmark = pytest.mark.long

_IDLE = 50_000_000  #: of rank 1, which the others wait for
#: For lanes, on a screen of 1280 by 800.
_ROOM = 486
_STRETCH = "[e.overlays.stretch?.rank, e.overlays.stretch?.t0, e.overlays.stretch?.t1]"
_STATE = (
    "[e.view.t0, e.view.t1].map(Math.round)"
    ".concat([e.state.expanded, e.overlays.stretch, e.overlays.marks])"
)


def test_a_click_on_an_idle_rank_leads_to_its_cause_and_its_link_does(tab):
    tab.open()
    tab.page.mouse.click(*tab.at(1, "compute", _IDLE))
    words = tab.drawer("Nothing runs on the GPU for 15.8 ms")
    idle = tab.views[0].idle_at(1, _IDLE)
    tab.wait(lambda: tab.engine(_STRETCH) == [1, idle.t0, idle.t1], "the stretch")
    tab.wait(lambda: "at=1.compute." in tab.page.url, "the address")
    tab.page.reload()
    tab.until(SHOWN)
    assert tab.drawer("Nothing runs on the GPU") == words
    assert tab.engine(_STRETCH) == [1, idle.t0, idle.t1]


def test_a_finding_is_shown_with_its_place_and_the_threads_of_its_rank(tab):
    tab.open()
    tab.page.mouse.click(*tab.at(1, "compute", _IDLE))
    tab.drawer("show finding C1")
    tab.page.get_by_text("show finding C1").click()
    words = tab.drawer("Seen on")
    tab.settled()
    assert "finding=C1" in tab.page.url
    assert tab.engine("e.overlays.stretch.marked") == 1
    threads = "e.rows.filter(row => row.lane?.kind === 'thread').map(row => row.rank)"
    assert set(tab.engine(threads)) == {1}
    state = tab.engine(_STATE)
    tab.page.reload()
    tab.until(SHOWN)
    assert tab.drawer("Seen on") == words
    assert tab.engine(_STATE) == state


def test_places_and_collectives_are_led_to_as_often_as_they_are_asked_for(tab):
    """The address changes without a new page, so that a link may lead to where it is already."""
    tab.open("&finding=C1")
    for _ in range(2):
        tab.page.locator(".cs-drawer a[href*='place=2']").click()
        tab.wait(lambda: "place=2" in tab.page.url, "the third place")
        tab.wait(lambda: tab.engine("e.overlays.stretch?.rank") == 0, "its rank")
        tab.settled()
        tab.page.mouse.click(*tab.at(1, "compute", tab.engine("e.overlays.stretch.t0")))
        tab.wait(lambda: "finding=" not in tab.page.url, "the click in the address")
        tab.page.get_by_text("show finding C1").click()
        tab.drawer("Seen on")
    tab.page.keyboard.press("Escape")
    tab.drawer("Drag over the timeline")
    assert tab.engine("e.overlays.stretch") is None
    tab.wait(lambda: "finding=" not in tab.page.url, "no finding in the address")


def test_marks_that_are_kept_are_in_the_address(tab):
    tab.open()
    for t0 in (45_000_000, 60_000_000):
        tab.engine("e.select({ t0: a, t1: a + 5e6, ranks: [0] })", t0)
        tab.page.keyboard.press("Shift+M")
    tab.wait(lambda: "marks=45000000-50000000,60000000-65000000" in tab.page.url, "the marks")
    tab.page.reload()
    tab.until(SHOWN)
    marks = "e.overlays.marks.map(mark => mark.t0)"
    assert tab.engine(marks) == [45e6, 60e6]
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("Shift+M")
    tab.wait(lambda: tab.page.url.endswith("marks=45000000-50000000"), "one mark in the address")


def test_an_event_is_selected_to_the_nanosecond(tab):
    tab.open()
    lane = next(of for of in tab.views[0].lanes if (of.kind, of.rank) == ("communication", 0))
    long = [tab.views[0].event(lane.id, event) for event in range(len(lane))]
    told = next(of for of in long if of.dur > 2**24 and of.dur % 2)
    tab.page.mouse.click(*tab.at(0, "communication", told.start + told.dur / 2))
    tab.wait(lambda: tab.engine("e.overlays.focus !== null"), "the event in focus")
    tab.page.keyboard.press("r")
    times = "[e.overlays.selection?.t0, e.overlays.selection?.t1]"
    assert tab.engine(times) == [told.start, told.start + told.dur]
    tab.wait(lambda: f"sel={told.start}-{told.start + told.dur}" in tab.page.url, "the address")


def test_a_server_that_has_ended_is_told_once_and_looked_for(tab):
    tab.open()
    asked = []

    def refuse(route):
        asked.append(route.request.url)
        route.abort()

    tab.page.route("**/_cs/**", refuse)
    tab.engine("e.show(40e6, 41e6, 0)")
    header = "() => document.getElementById('server-state').textContent"
    tab.wait(lambda: "commscope dash has ended" in tab.page.evaluate(header), "the word")
    tab.wait(lambda: len([url for url in asked if "/lod?" in url]) == 2, "the second request")
    assert tab.page.evaluate("() => document.querySelector('.cs-message').hidden")
    tab.page.unroute("**/_cs/**")
    tab.wait(lambda: "answers again" in tab.page.evaluate(header), "the answer")
    tab.settled()
    tab.page.get_by_text("Load this page again").click()
    tab.until(SHOWN)
    tab.wait(lambda: tab.page.evaluate(header) == "", "nothing to be said")
    tab.errors.clear()


def test_what_a_search_found_before_is_not_shown_outside_the_view(tab):
    tab.open("&q=nccl")
    coarse = "[...e.store.coarse.values()].filter(lane => lane.text === a).length"
    assert tab.engine(coarse, "nccl") > 0
    tab.engine("e.show(40e6, 41e6, 0)")
    tab.engine("e.search('gemm')")
    tab.settled()
    assert tab.engine(coarse, "nccl") == 0


def test_a_picture_says_run_window_and_colours(tab):
    tab.open("&t0=40000000&t1=50000000&q=nccl")
    words = tab.page.evaluate(f"() => commscope_timeline.pictureWords({ENGINE})")
    assert words == ["ddp", "40.00 ms to 50.00 ms (10.0 ms), search: nccl"]
    name, width, more, found = tab.engine(
        """(() => {
          const made = commscope_timeline.pictureOf(e), { width, height } = made;
          const pixels = made.getContext("2d").getImageData(0, 0, width, height).data;
          const found = [];
          for (let at = 4 * width * (height - 40); at < pixels.length; at += 4) {
            found.push(pixels[at] << 16 | pixels[at + 1] << 8 | pixels[at + 2]);
          }
          const [wider, higher] = [width - e.canvas.width, height - e.canvas.height];
          return [e.layout.name, wider, higher, [...new Set(found)]];
        })()"""
    )
    assert (name, width) == ("ddp", 0)
    assert more > 40
    wanted = {int(PALETTE[of]["light"][1:], 16) for of in ("gemm", "communication", "copy")}
    assert wanted <= set(found)


def test_eight_ranks_fit_on_a_small_screen_and_names_of_lanes_do_not_touch(tab):
    tab.open()
    heights = tab.page.evaluate(
        """room => {
          const cs = commscope_timeline, ranks = [], lanes = [];
          const kinds = ["steps", "compute", "communication", "copy", "exposed"];
          for (let rank = 0; rank < 8; rank++) {
            const ids = kinds.map((kind, i) => 5 * rank + i + 1);
            ids.forEach((id, i) => {
              lanes.push({ id, rank, kind: kinds[i], depth: 1, parent: null });
            });
            ranks.push({ rank, lanes: ids });
          }
          const layout = { ranks, lanes, groups: [] }, view = cs.firstView(layout);
          const found = cs.rowsOf(layout, cs.indexOf(layout), view, room);
          const middles = found.rows.map(row => row.y + row.height / 2);
          const apart = middles.slice(1).map((y, i) => y - middles[i]);
          return [found.height, Math.min(...apart), found.rows.length];
        }""",
        _ROOM,
    )
    assert heights[0] <= _ROOM
    assert heights[1] >= 9
    assert heights[2] == 40


def test_a_search_for_a_rank_goes_there(tab):
    tab.open("&t0=60000000&t1=70000000")
    tab.page.locator("#search").fill("rank 1")
    tab.wait(lambda: tab.engine("e.focusRank ?? null") == 1, "the rank")
    words = "document.querySelector('.cs-found').textContent"
    count = tab.views[0].matches("rank 1").count
    tab.until(f"() => {words} === '{count} found'")
    tab.page.locator("#search").fill("xyzzy")
    tab.until(f"() => {words}.startsWith('nothing found of kernels')")


def test_the_link_at_the_top_leads_to_the_timeline_itself(tab):
    tab.open()
    tab.page.locator(".skip").focus()
    tab.page.keyboard.press("Enter")
    assert tab.engine("document.activeElement === e.canvas")


def test_an_address_beyond_the_run_shows_all_of_it_and_says_so(tab):
    tab.open("&t0=300000000&t1=400000000")
    assert tab.engine("[e.view.t0, e.view.t1]") == tab.engine("[e.whole.t0, e.whole.t1]")
    words = tab.page.locator(".cs-note").text_content()
    assert "asks for times from 300.0 ms to 400.0 ms" in words


def test_a_click_on_the_minimap_shows_that_place(tab):
    tab.open("&t0=10000000&t1=20000000")
    box = tab.page.locator(".cs-canvas").bounding_box()
    whole = tab.engine("[e.whole.t0, e.whole.t1]")
    left, right = tab.engine("[e.area().left, e.area().right]")
    tab.page.mouse.click(box["x"] + (left + right) / 2, box["y"] + 15)
    middle = "(e.view.t0 + e.view.t1) / 2"
    tab.wait(lambda: abs(tab.engine(middle) - sum(whole) / 2) < 2e5, "the middle")
    assert tab.engine("e.view.t1 - e.view.t0") == 10e6
