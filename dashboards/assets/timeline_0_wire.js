// The answers of /_cs/lod: typed arrays over the bytes that came, nothing copied.
(function (cs) {
  "use strict";

  const MAGIC = 0x314c5343; // "CSL1", little endian

  // The arrays of one lane, and the window they are of; times are ns since the run's origin.
  function laneOf(buffer, header, lane, text) {
    const { n, o: at, cats } = lane;
    const px = header.px;
    return {
      id: lane.id,
      text,
      t0: header.t0,
      t1: header.t1,
      px,
      column: (header.t1 - header.t0) / px,
      n,
      cats,
      rows: Math.max(lane.depth || 1, 1),
      start: new Float64Array(buffer, at.start, n),
      dur: new Float64Array(buffer, at.dur, n),
      name: new Uint32Array(buffer, at.name, n),
      event: new Uint32Array(buffer, at.event, n),
      cat: new Uint8Array(buffer, at.cat, n),
      row: new Uint8Array(buffer, at.row, n),
      hit: at.hit === undefined ? null : new Uint8Array(buffer, at.hit, n),
      density: new Uint8Array(buffer, at.density, cats.length * px),
      hits: at.hits === undefined ? null : new Uint8Array(buffer, at.hits, px),
    };
  }

  cs.decode = function (buffer, text) {
    const view = new DataView(buffer);
    if (buffer.byteLength < 8 || view.getUint32(0, true) !== MAGIC) {
      throw new Error("the server's answer is not a view of the timeline");
    }
    const bytes = new Uint8Array(buffer, 8, view.getUint32(4, true));
    const header = JSON.parse(new TextDecoder().decode(bytes));
    return header.lanes.map((lane) => laneOf(buffer, header, lane, text || ""));
  };

  // Rectangles are sorted by start, but a long one may begin far before: the latest end so far
  // says how far back a search has to go.
  function latestEnds(lane) {
    if (!lane.ends) {
      lane.ends = new Float64Array(lane.n);
      let latest = -Infinity;
      for (let i = 0; i < lane.n; i++) {
        latest = Math.max(latest, lane.start[i] + lane.dur[i]);
        lane.ends[i] = latest;
      }
    }
    return lane.ends;
  }

  // The first rectangle that starts after a time (relative to the lane's window).
  cs.firstAfter = function (lane, time) {
    let low = 0;
    let high = lane.n;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.start[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  };

  // How far a time is from a range; nothing where the range covers it.
  cs.away = (t, t0, t1) => Math.max(t0 - t, t - t1, 0);

  // The rectangle at a time and a depth row (any row where null), else the nearest within a
  // tolerance; -1 if none. Deeper rows than are drawn lie in the last.
  cs.rectangleAt = function (lane, t, row, slack, last) {
    const time = t - lane.t0;
    const ends = latestEnds(lane);
    let found = -1;
    let least = Infinity;
    for (let i = cs.firstAfter(lane, time + slack) - 1; i >= 0 && least > 0; i--) {
      if (ends[i] < time - slack) break;
      const away = cs.away(time, lane.start[i], lane.start[i] + lane.dur[i]);
      const isHere = row === null || Math.min(lane.row[i], last) === row;
      if (isHere && away <= slack && away < least) [found, least] = [i, away];
    }
    return found;
  };

  // The rectangles that touch a time range: [first, end).
  cs.rectanglesIn = function (lane, t0, t1) {
    const ends = latestEnds(lane);
    let low = 0;
    let high = lane.n;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] > t0 - lane.t0) high = middle;
      else low = middle + 1;
    }
    return [low, cs.firstAfter(lane, t1 - lane.t0)];
  };

  // What of one rectangle other parts need to know.
  cs.slice = function (lane, i) {
    const start = lane.t0 + lane.start[i];
    return {
      lane: lane.id,
      event: lane.event[i],
      name: lane.name[i],
      cat: lane.cat[i],
      row: lane.row[i],
      t0: start,
      t1: start + lane.dur[i],
    };
  };

  // The share of a column that each category covers, as [category, share], what is there only.
  cs.sharesAt = function (lane, t) {
    const column = Math.floor((t - lane.t0) / lane.column);
    if (column < 0 || column >= lane.px) return [];
    return lane.cats
      .map((category, i) => [category, lane.density[i * lane.px + column] / 255])
      .filter(([, share]) => share > 0);
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
