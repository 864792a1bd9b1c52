"""The timeline in Chromium, under the app's own policy for scripts: drawing, keys, links, sums."""

from __future__ import annotations

import pytest
from timeline_tab import ENGINE, FIRST_KERNEL, PIXELS, ROWS, ROWS_OF_MANY, SHOWN

from commscope.dashboards.theme import PALETTE
from commscope.units import percent, span

pytestmark = pytest.mark.long


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_events_have_the_colours_of_their_categories(tab, theme):
    tab.page.emulate_media(color_scheme=theme)
    tab.open("&t0=40000000&t1=50000000")
    found = tab.engine(PIXELS)
    tab.page.emulate_media(color_scheme="light")
    assert {"steps", "compute", "communication", "exposed"} <= {kind for kind, _, _ in found}
    for kind, name, pixel in found:
        wanted = PALETTE[name][theme].removeprefix("#")
        assert (kind, name, bytes(pixel).hex()) == (kind, name, wanted)


def test_keys_move_what_is_shown(tab):
    tab.open()
    view = "[e.view.t0, e.view.t1]"
    whole = tab.engine(view)

    def press(key: str) -> tuple[float, float]:
        before = tab.engine(view)
        tab.page.keyboard.press(key)
        tab.wait(lambda: tab.engine(view) != before, key)
        tab.settled()
        t0, t1 = tab.engine(view)
        return t0, t1

    t0, t1 = press("w")
    assert whole[0] < t0 < t1 < whole[1]
    assert press("d")[0] > t0
    moved = press("a")
    assert press("s")[1] - moved[0] > moved[1] - moved[0]
    press("w")
    assert press("0") == tuple(whole)
    first = press("n")
    assert press("n")[0] > first[0]
    assert press("p") == pytest.approx(first, abs=1)
    exposed = press("e")
    tab.wait(lambda: tab.engine("e.overlays.focus !== null"), "the gap in focus")
    assert press("Shift+E")[0] < exposed[0]
    press("0")
    tab.page.keyboard.press("Escape")
    assert tab.engine("e.overlays.focus") is None


def test_keys_are_obeyed_one_after_the_other_however_fast_they_come(tab):
    tab.open()
    steps = [lane for lane in tab.views[0].lanes if lane.kind == "steps" and lane.rank == 0]
    second = int(steps[0].events.start[1])
    for _ in range(2):
        tab.page.keyboard.press("n")
    tab.wait(lambda: tab.engine("e.cursors.step") == second, "the second step")
    tab.wait(lambda: tab.engine("e.overlays.focus?.t0") == second, "the second step in focus")


def test_what_was_clicked_is_not_replaced_by_what_a_key_asked_for_before(tab):
    tab.open()
    tab.page.keyboard.press("n")
    tab.engine("e.select({ t0: 45e6, t1: 50e6, ranks: [0] })")
    tab.drawer("5.00 ms selected")
    tab.settled()
    tab.page.wait_for_timeout(100)
    assert tab.engine("[e.overlays.focus, e.overlays.selection.t0]") == [None, 45e6]


def test_a_mark_lasts_as_long_as_was_asked_for(tab):
    tab.open()
    for key, left in (("m", 0), ("Shift+M", 1)):
        tab.engine("e.select({ t0: 45e6, t1: 50e6, ranks: [0] })")
        tab.drawer("5.00 ms selected")
        tab.page.keyboard.press(key)
        assert tab.engine("e.overlays.marks.length") == 1
        tab.page.keyboard.press("Escape")
        tab.drawer("Ranks (whole trace)")
        assert tab.engine("e.overlays.marks.length") == left


def test_the_wheel_zooms_with_control_and_pans_with_shift(tab):
    tab.open()
    x, y = tab.at(0, "compute", 50e6)
    tab.page.mouse.move(x, y)
    tab.page.keyboard.down("Control")
    tab.page.mouse.wheel(0, -300)
    tab.page.keyboard.up("Control")
    tab.wait(lambda: tab.engine("e.view.t1 - e.view.t0 < 0.7 * (e.whole.t1 - e.whole.t0)"), "zoom")
    assert tab.at(0, "compute", 50e6)[0] == pytest.approx(x, abs=0.5)
    before = tab.engine("e.view.t0")
    tab.page.keyboard.down("Shift")
    tab.page.mouse.wheel(0, 200)
    tab.page.keyboard.up("Shift")
    tab.wait(lambda: tab.engine("e.view.t0") > before, "pan")


def test_a_selection_is_summed_as_the_library_sums(tab):
    tab.open()
    (x0, y), (x1, y1) = (tab.at(rank, "compute", t) for rank, t in enumerate((45e6, 80e6)))
    tab.page.mouse.move(x0, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x1, y1, steps=3)
    tab.page.mouse.up()
    tab.drawer("What each rank did")
    told = tab.engine("e.overlays.selection")
    wanted = tab.views[0].select(told["t0"], told["t1"], [0, 1])
    rows = tab.page.evaluate(ROWS)
    for row, part in zip(rows, wanted.ranks, strict=True):
        parts = (part.compute_ns, part.communication_ns, part.exposed_comm_ns)
        assert row[1:4] == [f"{span(ns)} ({percent(ns / part.window_ns)})" for ns in parts]
        assert row[-1] == f"{span(part.idle_ns)} ({percent(part.idle_ns / part.window_ns)})"
    href = tab.page.locator("a.cs-export").first.get_attribute("href")
    answer = tab.page.request.get(tab.base + href)
    assert (answer.status, answer.body()[:6]) == (200, b'"rank"')


def test_a_collective_is_shown_over_all_ranks(tab):
    tab.open()
    x, y = tab.at(0, "communication", 20e6)
    tab.page.mouse.click(x, y)
    words = tab.drawer("arrives last")
    assert "rank 1 arrives last" in words
    tab.wait(
        lambda: tab.engine("e.overlays.instance !== null && e.overlays.flow !== null"), "overlay"
    )
    number = tab.engine("e.overlays.instance.number")
    wanted = tab.views[0].instance(number)
    assert tab.engine("e.overlays.instance.last_arrival") == wanted.last_arrival
    assert wanted.straggler == 1
    tab.page.keyboard.press("]")
    tab.wait(lambda: tab.engine("e.focusRank") == 1, "the same collective on the other rank")
    tab.wait(lambda: f"inst={number}" in tab.page.url, "the collective in the address")


def test_a_click_on_an_exposure_tells_why(tab):
    tab.open()
    tab.page.mouse.click(*tab.at(0, "exposed", 25e6))
    assert "waiting for rank 1" in tab.drawer("Exposed for")


def test_an_address_leads_to_what_it_was_taken_from(tab):
    asked = "&t0=40000000&t1=60000000&sel=45000000-50000000&ranks=1&q=nccl&lanes=13,15"
    tab.open(asked)
    assert "5.00 ms selected" in tab.drawer("What each rank did")
    state = (
        "[e.view.t0, e.view.t1, e.state.ranks, e.state.expanded, e.text, e.overlays.selection.t0]"
    )
    shown = tab.engine(state)
    assert shown == [40000000, 60000000, [1], [13, 15], "nccl", 45000000]
    assert tab.page.locator("#search").input_value() == "nccl"
    tab.page.keyboard.press("d")
    tab.wait(lambda: "t0=40000000" not in tab.page.url, "the address of what is shown now")
    tab.settled()
    shown = tab.engine(state)
    tab.page.reload()
    tab.until(SHOWN)
    tab.settled()
    again = tab.engine(state)
    assert again[:2] == pytest.approx(shown[:2], abs=1)
    assert again[2:] == shown[2:]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("&t0=5&t1=5", "5 is not after 5"),
        ("&ranks=7", "rank 7"),
        ("&inst=99999", "99999: there are 18"),
    ],
)
def test_an_address_that_cannot_be_is_told(tab, query, says):
    tab.page.goto(f"{tab.base}/timeline?run=0{query}")
    tab.until(f"() => document.querySelector('#content')?.textContent.includes({says!r})")


def test_a_search_counts_highlights_and_leads_from_one_to_the_next(tab):
    tab.open()
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("AllReduce")
    count = tab.views[0].matches("AllReduce").count
    tab.until(f"() => document.querySelector('.cs-found').textContent === '{count:,} found'")
    tab.page.keyboard.press("Enter")
    tab.wait(lambda: tab.engine("e.overlays.focus !== null"), "the first match")
    first = tab.engine("e.overlays.focus.t0")
    tab.page.keyboard.press("Enter")
    tab.wait(lambda: tab.engine("e.overlays.focus.t0") > first, "the second match")


def test_hostile_names_do_nothing(tab):
    tab.open(run=1)
    t = tab.engine(FIRST_KERNEL)
    x, y = tab.at(0, "compute", t)
    tab.page.mouse.move(x, y)
    tab.until("() => document.querySelector('.cs-tip').textContent.includes('onerror')")
    tab.page.mouse.click(x, y)
    assert "<img src=x" in tab.drawer("onerror")
    assert tab.page.title() != "hacked"
    assert tab.page.locator("#content img, #content script").count() == 0


def test_two_fingers_zoom_where_they_are(tab):
    tab.open()
    x, y = tab.at(0, "compute", 50e6)
    tab.page.evaluate(
        f"""([x, y]) => {{
          const canvas = {ENGINE}.canvas;
          canvas.setPointerCapture = () => {{}};
          const send = (name, id, x) => canvas.dispatchEvent(new PointerEvent(name,
            {{pointerId: id, pointerType: "touch", clientX: x, clientY: y, bubbles: true}}));
          send("pointerdown", 1, x - 50); send("pointerdown", 2, x + 50);
          send("pointermove", 1, x - 100); send("pointermove", 2, x + 100);
          send("pointerup", 1, x - 100); send("pointerup", 2, x + 100);
        }}""",
        [x, y],
    )
    assert tab.at(0, "compute", 50e6)[0] == pytest.approx(x, abs=2)
    assert tab.engine("(e.view.t1 - e.view.t0) / (e.whole.t1 - e.whole.t0)") == pytest.approx(
        0.5, abs=0.02
    )
    assert tab.engine("e.overlays.selection") is None


def test_what_is_not_shown_of_a_rank_or_kind_leaves_no_row(tab):
    tab.open()
    rows = "new Set(e.rows.filter(r => r.kind === 'lane').map(r => r.rank)).size"
    assert tab.engine(rows) == 2
    tab.page.locator(".cs-field input").fill("1")
    tab.page.locator(".cs-field input").press("Enter")
    tab.wait(lambda: tab.engine(rows) == 1, "one rank")
    gemm = tab.page.get_by_role("button", name="gemm")
    gemm.click()
    assert gemm.get_attribute("aria-pressed") == "false"
    assert tab.engine("e.look.hidden.size") == 1


def test_lengths_and_windows_are_those_of_the_library(tab):
    tab.open()
    lengths = [0, 7, 999, 1_000, 9_994, 12_345, 999_999, 1_234_567, 27_200_000, 1_500_000_000]
    lengths += [65_000_000_000, 4_000_000_000_000]
    told = tab.page.evaluate("all => all.map(ns => commscope_timeline.span(ns))", lengths)
    assert told == [span(ns) for ns in lengths]
    asked = tab.page.evaluate(
        "() => commscope_timeline.windowOf({t0: 1e6, t1: 2e6}, 1000, {t0: 0, t1: 1e7})"
    )
    assert asked == {"t0": 262144, "t1": 2621440, "column": 1024, "px": 2304}


def test_what_is_drawn_says_what_it_is(tab):
    tab.open()
    canvas = tab.page.locator(".cs-canvas")
    assert canvas.get_attribute("role") == "application"
    assert "2 ranks" in (canvas.get_attribute("aria-label") or "")
    canvas.focus()
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    live = tab.page.locator(".cs-live")
    assert live.text_content() == "rank 0, compute, Enter opens it"
    tab.page.keyboard.press("Enter")
    assert tab.engine("e.rows.filter(r => r.depth === 1).map(r => r.lane.label)") == ["stream 7"]
    tab.page.keyboard.press(".")
    tab.wait(lambda: "rank 0, compute" in (live.text_content() or ""), "the slice in words")


@pytest.mark.parametrize(
    ("view", "ranks", "fixed", "rows"),
    [
        ({}, [1, 9, 5, 33, 41, 37], [], 18),
        ({"open": ["b"]}, [1, 9, 5, *range(32, 64)], [], 105),
        ({"pinned": [40]}, [40, 1, 9, 5, 33, 41, 37], [40], 21),
        ({"by": "", "ranks": [3, 60], "collapsed": [3]}, [3, 60], [], 5),
    ],
)
def test_many_ranks_are_shown_by_least_median_and_most_exposed(tab, view, ranks, fixed, rows):
    if "timeline" not in tab.page.url:
        tab.open()
    assert tab.page.evaluate(ROWS_OF_MANY, view) == [ranks, fixed, rows]
