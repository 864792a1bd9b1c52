// What keys and the bar ask for: the next slice, step, gap or match; marks; one collective's ranks.
(function (cs) {
  "use strict";

  const STEP_PAD = 0.04;
  const FOCUS_PAD = 0.1;
  const GAP_PAD = 1.5;
  const SLICE_SHARE = 0.002; // of the view: a slice that is narrower than this is zoomed to

  const laneRow = (engine, id) => engine.rows.find((row) => row.kind === "lane" && row.lane.id === id);
  const rankRow = (engine, rank, kind) =>
    engine.rows.find((row) => row.kind === "lane" && row.rank === rank && row.lane.kind === kind);

  function firstRank(engine) {
    const rows = engine.rows.filter((row) => row.kind === "lane");
    if (rows.some((row) => row.rank === engine.focusRank)) return engine.focusRank;
    return rows.length ? rows[0].rank : engine.layout.ranks[0].rank;
  }

  // Keys come faster than answers: each search begins where the one before it led.
  function inOrder(engine, act) {
    const done = (engine.lastSearch || Promise.resolve()).then(act);
    engine.lastSearch = done.catch(() => null);
    return done;
  }

  async function next(engine, values, route) {
    try {
      const answer = await engine.store.json(route || "next", values);
      const found = route ? answer.next : answer;
      return found && found.t0 !== null ? found : null;
    } catch (error) {
      engine.say(cs.failure("The next one could not be found", error));
      return null;
    }
  }

  // Where a search for the next thing begins: the thing itself, or the edge of the view.
  function from(engine, cursor, direction) {
    const { t0, t1 } = engine.view;
    const isSeen = cursor !== undefined && cursor >= t0 && cursor <= t1;
    return Math.round(isSeen ? cursor : direction > 0 ? t0 : t1);
  }

  async function goToNext(engine, what, direction, pad, kind) {
    const turn = (engine.turn += 1);
    const rank = firstRank(engine);
    const found = await inOrder(engine, async () => {
      const t = from(engine, engine.cursors[what], direction);
      const place = await next(engine, { rank, t, what, dir: direction });
      if (!place) return null;
      engine.cursors[what] = place.t0;
      engine.show(place.t0, place.t1, pad);
      return place;
    });
    if (!found) return void engine.announce(`no further ${what} on rank ${rank}`);
    engine.scrollToRank(rank);
    const row = rankRow(engine, rank, kind);
    if (row) await focusAt(engine, row, found, turn);
    engine.announce(`${what} of ${cs.span(found.t1 - found.t0)} at ${cs.moment(found.t0, 1000)}, rank ${rank}`);
  }

  // Waits until what is shown is there in full, or a second has gone by.
  function refined(engine) {
    const until = performance.now() + 1000;
    return new Promise((resolve) => {
      const look = () =>
        engine.isRefined() || performance.now() > until ? resolve() : requestAnimationFrame(look);
      requestAnimationFrame(look);
    });
  }

  function bringIntoView(engine, range) {
    const { t0, t1 } = engine.view;
    if (range.t1 - range.t0 < (t1 - t0) * SLICE_SHARE) engine.show(range.t0, range.t1, 20);
    else if (range.t0 < t0 || range.t1 > t1) {
      const middle = (range.t0 + range.t1) / 2;
      engine.lookAt({ t0: middle - (t1 - t0) / 2, t1: middle + (t1 - t0) / 2 });
    }
  }

  // Puts the slice that is in a lane at a range in focus, as soon as it is there; unless something
  // else was asked for in the meantime.
  async function focusAt(engine, row, range, turn) {
    bringIntoView(engine, range);
    await refined(engine);
    if (engine.turn !== turn) return;
    const lane = engine.store.fine.get(row.lane.id);
    const middle = (range.t0 + range.t1) / 2;
    const at = lane ? cs.rectangleAt(lane, middle, null, 0) : -1;
    engine.pick(at >= 0 ? cs.slice(lane, at) : null, row, middle);
  }

  Object.assign(cs, { focusAt, from, inOrder, next, bringIntoView, laneRow });

  cs.nextStep = (engine, direction) => goToNext(engine, "step", direction, STEP_PAD, "steps");
  cs.nextGap = (engine, direction) => goToNext(engine, "exposed", direction, GAP_PAD, "exposed");

  cs.nextSlice = async function (engine, direction) {
    const row = laneRow(engine, engine.focusRow) || rankRow(engine, firstRank(engine), "compute");
    if (!row) return;
    const turn = (engine.turn += 1);
    const found = await inOrder(engine, async () => {
      const at = engine.cursors.slice;
      const t = at && at.lane === row.lane.id ? Math.round(at.t0) : from(engine, undefined, direction);
      const place = await next(engine, { rank: row.rank, t, what: "slice", dir: direction, lane: row.lane.id });
      if (place) engine.cursors.slice = { lane: row.lane.id, t0: place.t0 };
      return place;
    });
    if (found) await focusAt(engine, row, found, turn);
    else engine.announce(`no further slice in ${row.lane.label}`);
  };

  // The same collective on the rank before or after.
  cs.nextMember = async function (engine, direction) {
    const instance = engine.overlays.instance;
    if (!instance) return engine.announce("click a collective first");
    const members = [...instance.members].sort((one, other) => one.rank - other.rank);
    const here = members.findIndex((member) => member.rank === engine.focusRank);
    const member = members[(here + direction + members.length) % members.length];
    const turn = (engine.turn += 1);
    engine.focusRank = member.rank;
    engine.scrollToRank(member.rank);
    const row = laneRow(engine, member.lane) || rankRow(engine, member.rank, "communication");
    if (row) await focusAt(engine, row, { t0: member.start, t1: member.end }, turn);
    return undefined;
  };

  // First what is selected; the whole run where it fills the view already, or nothing is.
  cs.focusView = function (engine) {
    const range = engine.overlays.focus || engine.overlays.selection;
    if (!range) return void engine.lookAt(engine.whole);
    const { t0, t1 } = engine.view;
    engine.show(range.t0, range.t1, FOCUS_PAD);
    const isSame = Math.abs(engine.view.t0 - t0) < 1 && Math.abs(engine.view.t1 - t1) < 1;
    if (isSame) engine.lookAt(engine.whole);
  };

  cs.selectFocus = function (engine) {
    const { focus, instance } = engine.overlays;
    if (!focus) return;
    const ranks = instance ? instance.members.map((member) => member.rank) : [engine.focusRank];
    engine.select({ t0: Math.round(focus.t0), t1: Math.round(focus.t1), ranks });
  };

  // Marks what is selected, or takes its mark away; without a selection the latest that was kept.
  cs.mark = function (engine, kept) {
    const range = engine.overlays.focus || engine.overlays.selection;
    const { marks } = engine.overlays;
    const isIt = (mark) => (range ? mark.t0 === range.t0 && mark.t1 === range.t1 : mark === marks[marks.length - 1]);
    const isThere = kept && marks.some((mark) => mark.kept && isIt(mark));
    if (!range && !isThere) return;
    const left = marks.filter((mark) => mark.kept && !(isThere && isIt(mark)));
    engine.overlays.marks = isThere ? left : [...left, { t0: range.t0, t1: range.t1, kept }];
    engine.announce(isThere ? "the mark is taken away" : "marked");
    engine.tellMarks();
    engine.invalidate();
  };

  cs.toggled = (list, value) =>
    list.includes(value) ? list.filter((each) => each !== value) : [...list, value];

  // Opens or closes what the row stands for.
  cs.toggleRow = function (engine, row) {
    const { state } = engine;
    if (row.kind === "group") {
      if (row.group.isFoldable) engine.change({ open: cs.toggled(state.open, row.group.id) });
    } else if (row.canOpen) engine.change({ expanded: cs.toggled(state.expanded, row.lane.id) });
  };

  cs.toggleRank = (engine, rank) =>
    engine.change({ collapsed: cs.toggled(engine.state.collapsed, rank) });
  cs.togglePin = (engine, rank) => engine.change({ pinned: cs.toggled(engine.state.pinned, rank) });

  // Moves the focus from row to row, for keyboards.
  cs.moveRow = function (engine, direction) {
    const rows = engine.rows.filter((row) => row.kind === "lane");
    const here = rows.findIndex((row) => row.lane.id === engine.focusRow);
    const row = rows[Math.min(Math.max(here + direction, 0), rows.length - 1)];
    if (!row) return;
    engine.focusRow = row.lane.id;
    engine.focusRank = row.rank;
    engine.scrollToRank(row.rank);
    engine.invalidate();
    const more = row.canOpen ? `, Enter ${row.open ? "closes" : "opens"} it` : "";
    engine.announce(`rank ${row.rank}, ${row.lane.label}${more}`);
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
