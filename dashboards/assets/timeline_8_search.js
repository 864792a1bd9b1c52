// The search: how much it finds in the lanes that are shown, and the way from one to the next.
(function (cs) {
  "use strict";

  const MOST_LANES = 2048; // a request
  const SEARCHED = "kernels, calls, collectives, steps";

  const lanesShown = (engine) =>
    new Set(engine.rows.filter((row) => row.kind === "lane").map((row) => row.lane.id));

  function countShown(engine) {
    const shown = lanesShown(engine);
    return engine.found.lanes.filter(({ id }) => shown.has(id)).reduce((sum, { count }) => sum + count, 0);
  }

  cs.foundWords = function (engine) {
    const { count } = engine.found;
    const shown = countShown(engine);
    const every = `${count.toLocaleString("en")} found`;
    if (!count) return `nothing found of ${SEARCHED}`;
    return shown === count ? every : `${shown.toLocaleString("en")} shown of ${every}`;
  };

  cs.countMatches = function (engine) {
    const { text } = engine;
    engine.found = null;
    engine.bar.showFound(text ? "searching" : "");
    if (!text) return;
    engine.counted = engine.store.json("search", { q: text }).then(
      (found) => {
        if (text !== engine.text) return;
        engine.found = found;
        engine.bar.showFound(cs.foundWords(engine));
      },
      (error) => engine.say(cs.failure("The search failed", error))
    );
  };

  function noneWords(engine) {
    const some = engine.found && countShown(engine);
    return some ? "nothing else is found in the lanes that are shown" : "nothing is found in the lanes that are shown";
  }

  // What there is to go to: the lanes that are shown and have matches.
  function lanesToSearch(engine) {
    const shown = lanesShown(engine);
    return engine.found.lanes.map(({ id }) => id).filter((id) => shown.has(id)).slice(0, MOST_LANES);
  }

  // The next event that a search finds, in a lane that is shown.
  cs.nextMatch = async function (engine, direction) {
    if (!engine.text) return;
    const turn = (engine.turn += 1);
    const found = await cs.inOrder(engine, async () => {
      await engine.counted;
      const lanes = engine.found ? lanesToSearch(engine) : [];
      if (!lanes.length) return null;
      const t = cs.from(engine, engine.cursors.match, direction);
      const asked = { t, dir: direction, q: engine.text, lanes: lanes.join(",") };
      const place = await cs.next(engine, asked, "search");
      if (place) {
        engine.cursors.match = place.t0;
        cs.bringIntoView(engine, place);
      }
      return place;
    });
    const row = found && cs.laneRow(engine, found.lane);
    if (!row) return void engine.announce(noneWords(engine));
    engine.scrollToRank(row.rank);
    await cs.focusAt(engine, row, found, turn);
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
