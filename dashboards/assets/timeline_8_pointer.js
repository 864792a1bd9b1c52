// Mouse, pen, touch and wheel. A drag selects, with shift it pans; one finger pans, two zoom.
(function (cs) {
  "use strict";

  const NEAR = 3; // px: so far off a bar it is still meant
  const CLICK = 4; // px: less than this is no drag
  const EDGE = 7; // px on both sides of an edge of the minimap's window
  const LINE = 32; // px a line, where a wheel counts lines

  const at = (engine, event) => {
    const box = engine.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  function zoneOf(engine, { x, y }) {
    const area = engine.area();
    if (x >= area.right) return "scroll";
    if (x < area.left) return y < area.top ? "none" : "labels";
    if (y < cs.PLACES.minimap) return "minimap";
    return y < area.top ? "ruler" : "lanes";
  }

  function rowAt(engine, y) {
    const inside = y - cs.TOP;
    if (inside < engine.fixed) return cs.rowAt(engine.rows.filter((row) => row.isFixed), inside);
    return cs.rowAt(engine.rows.filter((row) => !row.isFixed), inside + engine.scroll);
  }

  // What is at a point: the row, the time, and the slice if one is there.
  function hit(engine, { x, y }) {
    const row = rowAt(engine, y);
    if (!row || row.kind !== "lane") return { row, slice: null };
    const area = engine.area();
    const t = area.scale.t(x);
    const lane = engine.store.fine.get(row.lane.id);
    if (!lane) return { row, t, slice: null };
    const depth = area.depthOf(row);
    const line = Math.min(Math.max(Math.floor(((y - area.yOf(row)) / row.height) * depth), 0), depth - 1);
    const i = cs.rectangleAt(lane, t, depth > 1 ? line : null, NEAR / area.scale.perNs, depth - 1);
    const isShown = i >= 0 && !engine.look.hidden.has(lane.cat[i]);
    return { row, t, lane, slice: isShown ? cs.slice(lane, i) : null };
  }

  function tell(engine, words, { x, y }) {
    const { tip } = engine;
    tip.replaceChildren(
      ...words.map((line, i) => Object.assign(document.createElement("div"), { textContent: line, className: i ? "cs-tip-more" : "" }))
    );
    tip.hidden = !words.length;
    if (!words.length) return;
    const left = Math.min(x + 14, engine.width - tip.offsetWidth - 6);
    const top = y + 18 + tip.offsetHeight > engine.height ? y - tip.offsetHeight - 10 : y + 18;
    tip.style.transform = `translate(${Math.max(left, 0)}px, ${Math.max(top, 0)}px)`;
  }

  function labelOf(engine, category) {
    const found = engine.layout.categories.find((each) => each.id === category);
    return found ? found.label || found.name : "";
  }

  function wordsFor(engine, found) {
    const { row, slice, lane, t } = found;
    const where = row ? `rank ${row.rank}, ${row.lane.label}` : "";
    if (slice) {
      const name = (engine.tipName = engine.store.name(slice.name));
      const title = name === undefined ? "\u2026" : name || labelOf(engine, slice.cat);
      const time = `${cs.span(slice.t1 - slice.t0)} at ${cs.moment(slice.t0, 1000)}`;
      return [title, `${labelOf(engine, slice.cat)}: ${time}`, where];
    }
    const shares = lane ? cs.sharesAt(lane, t) : [];
    if (!shares.length) return [];
    const parts = shares.map(([category, share]) => `${labelOf(engine, category)} ${Math.round(100 * share)} %`);
    return [`${parts.join(", ")} of ${cs.span(lane.column)}`, `${where}; zoom in for single events`];
  }

  // The names of what is hovered over may come after the pointer has come to rest.
  cs.renewTip = function (engine) {
    const { hovered, tip } = engine;
    if (tip.hidden || !hovered.slice || engine.tipName !== undefined) return;
    if (engine.store.names.has(hovered.slice.name)) tell(engine, wordsFor(engine, hovered), engine.tipAt);
  };

  function hover(engine, point) {
    const zone = zoneOf(engine, point);
    const found = zone === "lanes" ? hit(engine, point) : { row: null, slice: null };
    const row = zone === "labels" ? rowAt(engine, point.y) : found.row;
    engine.pointer = zone === "lanes" || zone === "ruler" ? point : null;
    engine.hoverRank = row && row.kind === "lane" ? row.rank : null;
    engine.overlays.hover = found.slice;
    engine.hovered = found;
    engine.tipAt = point;
    tell(engine, found.row && found.row.kind === "lane" ? wordsFor(engine, found) : [], point);
    engine.canvas.style.cursor = { labels: "pointer", minimap: "ew-resize", ruler: "col-resize", lanes: found.slice ? "pointer" : "crosshair" }[zone] || "default";
    engine.invalidate();
  }

  function clickLabels(engine, { x, y }) {
    const row = rowAt(engine, y);
    if (!row) return;
    if (row.kind === "lane" && row.head && x < 86) cs.toggleRank(engine, row.rank);
    else if (row.kind === "lane" && row.head && x < 104) cs.togglePin(engine, row.rank);
    else cs.toggleRow(engine, row);
  }

  // What is narrower than a column is drawn as density: the server knows what it is.
  async function pickNear(engine, { row, t, lane, slice }) {
    const turn = (engine.turn += 1);
    if (slice && cs.away(t, slice.t0, slice.t1) === 0) return engine.pick(slice, row, t);
    const near = await narrowAt(engine, row, t, lane);
    if (engine.turn !== turn) return undefined;
    const isCloser = near && (!slice || cs.away(t, near.t0, near.t1) <= cs.away(t, slice.t0, slice.t1));
    return engine.pick(isCloser ? near : slice, row, t);
  }

  async function narrowAt(engine, row, t, lane) {
    const column = lane ? lane.column : 0;
    const asked = {
      lane: row.lane.id,
      t: Math.round(t),
      slack: Math.ceil(Math.max(NEAR / engine.area().scale.perNs, column)),
    };
    if (lane) asked.below = Math.ceil(column);
    if (engine.state.hidden.length) asked.hide = engine.state.hidden.join(",");
    try {
      const { near } = await engine.store.json("near", asked);
      return near && { ...near, lane: row.lane.id, cat: near.category };
    } catch (error) {
      engine.say(cs.failure("What is here could not be read", error));
      return null;
    }
  }

  // What is shown is moved, so that the place of the minimap is in its middle.
  function showThere(engine, { x }) {
    const { left, right } = engine.area();
    const t = cs.scaleOf(engine.whole, left, right - left).t(x);
    const half = (engine.view.t1 - engine.view.t0) / 2;
    engine.lookAt({ t0: t - half, t1: t + half });
  }

  function click(engine, point) {
    const zone = zoneOf(engine, point);
    if (zone === "labels") return clickLabels(engine, point);
    if (zone === "minimap") return showThere(engine, point);
    if (zone !== "lanes") return undefined;
    const found = hit(engine, point);
    if (found.row && found.row.kind === "group") return cs.toggleRow(engine, found.row);
    return found.row ? pickNear(engine, found) : engine.clear();
  }

  const ranksIn = (rows) => [...new Set(rows.filter((row) => row.kind === "lane").map((row) => row.rank))];

  // Ranks that a drag from one height to another crosses; all that are shown, if none.
  function ranksBetween(engine, y0, y1) {
    const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
    const area = engine.area();
    const rows = engine.rows.filter((row) => row.kind === "lane");
    const touched = rows.filter((row) => area.yOf(row) <= bottom && area.yOf(row) + row.height >= top);
    return ranksIn(touched.length ? touched : rows);
  }

  function dragMinimap(engine, start) {
    const area = engine.area();
    const scale = cs.scaleOf(engine.whole, area.left, area.right - area.left);
    const view = { ...engine.view };
    const [x0, x1] = [scale.x(view.t0), scale.x(view.t1)];
    const grabbed = scale.t(start.x);
    if (Math.abs(start.x - x0) <= EDGE) return ({ x }) => engine.lookAt({ t0: Math.min(scale.t(x), view.t1 - 1), t1: view.t1 });
    if (Math.abs(start.x - x1) <= EDGE) return ({ x }) => engine.lookAt({ t0: view.t0, t1: Math.max(scale.t(x), view.t0 + 1) });
    if (start.x > x0 && start.x < x1) {
      return ({ x }) => engine.lookAt(cs.panned(view, scale.t(x) - grabbed, engine.whole));
    }
    return ({ x }) => {
      const [t0, t1] = [Math.min(grabbed, scale.t(x)), Math.max(grabbed, scale.t(x))];
      engine.lookAt({ t0, t1: Math.max(t1, t0 + 1) });
    };
  }

  function dragPan(engine, start) {
    const view = { ...engine.view };
    const scroll = engine.scroll;
    const { perNs } = engine.area().scale;
    return ({ x, y }) => {
      engine.lookAt(cs.panned(view, (start.x - x) / perNs, engine.whole));
      engine.scrollTo(scroll + start.y - y);
    };
  }

  // A stretch of the ranks that the drag crosses; of all that are shown, where it is on the ruler.
  function dragSelect(engine, start, zone) {
    const range = (x) => {
      const { scale, left, right } = engine.area();
      const [from, to] = [start.x, Math.min(Math.max(x, left), right)];
      return [Math.round(scale.t(Math.min(from, to))), Math.round(scale.t(Math.max(from, to)))];
    };
    const drag = ({ x, y }) => {
      const [t0, t1] = range(x);
      engine.overlays.selection = { t0, t1: Math.max(t1, t0 + 1), ranks: zone === "ruler" ? ranksIn(engine.rows) : ranksBetween(engine, start.y, y) };
      engine.invalidate();
    };
    drag.end = () => engine.select(engine.overlays.selection);
    return drag;
  }

  function dragScroll(engine, start) {
    const scroll = engine.scroll;
    const room = engine.height - cs.TOP;
    return ({ y }) => engine.scrollTo(scroll + ((y - start.y) * engine.rowsHeight) / room);
  }

  function dragOf(engine, event, point) {
    const zone = zoneOf(engine, point);
    if (zone === "minimap") return dragMinimap(engine, point);
    if (zone === "scroll") return dragScroll(engine, point);
    if (zone !== "ruler" && zone !== "lanes") return null;
    const isPan = event.shiftKey || event.button === 1 || event.pointerType === "touch";
    return isPan ? dragPan(engine, point) : dragSelect(engine, point, zone);
  }

  // Two fingers: what lay below them stays below them.
  function pinch(engine, fingers) {
    const [one, other] = [...fingers.values()].map((finger) => finger.x).sort((a, b) => a - b);
    if (other - one < 8) return;
    const { left, width } = engine.area().scale;
    const [from, to] = engine.pinched;
    const perNs = (other - one) / (to - from);
    const t0 = from - (one - left) / perNs;
    engine.lookAt({ t0, t1: t0 + width / perNs });
  }

  function wheel(engine, event) {
    const unit = event.deltaMode === 1 ? LINE : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    const point = at(engine, event);
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const { scale, left, right } = engine.area();
      const t = scale.t(Math.min(Math.max(point.x, left), right));
      engine.lookAt(cs.zoomed(engine.view, Math.exp(Math.max(Math.min(dy, 240), -240) * 0.0022), t, engine.whole));
    } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
      event.preventDefault();
      const ns = (dx || dy) / engine.area().scale.perNs;
      engine.lookAt(cs.panned(engine.view, ns, engine.whole));
    } else {
      const before = engine.scroll;
      engine.scrollTo(engine.scroll + dy);
      if (engine.scroll !== before) event.preventDefault();
    }
    hover(engine, point);
  }

  cs.listenToPointer = function (engine, options) {
    const { canvas } = engine;
    const fingers = new Map();
    let drag = null;
    let start = null;
    const listen = (name, act, more) => canvas.addEventListener(name, act, { ...options, ...more });

    listen("pointerdown", (event) => {
      const point = at(engine, event);
      canvas.focus({ preventScroll: true });
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, point);
      if (fingers.size === 2) {
        const { scale } = engine.area();
        engine.pinched = [...fingers.values()].map((finger) => scale.t(finger.x)).sort((a, b) => a - b);
        drag = null;
      } else if (fingers.size === 1) {
        start = { ...point, moved: false };
        drag = dragOf(engine, event, point);
      }
      tell(engine, [], point);
      event.preventDefault();
    });
    listen("pointermove", (event) => {
      const point = at(engine, event);
      if (fingers.has(event.pointerId)) fingers.set(event.pointerId, point);
      if (fingers.size === 2) return pinch(engine, fingers);
      if (!start) return hover(engine, point);
      start.moved = start.moved || Math.hypot(point.x - start.x, point.y - start.y) >= CLICK;
      if (start.moved && drag) drag(point);
      return undefined;
    });
    const release = (event) => {
      const isLast = fingers.delete(event.pointerId) && fingers.size === 0;
      if (!start || !isLast) return;
      const wasDrag = start.moved;
      if (wasDrag && drag && drag.end) drag.end();
      start = null;
      if (!wasDrag && event.type === "pointerup" && !engine.pinched) click(engine, at(engine, event));
      drag = engine.pinched = null;
    };
    listen("pointerup", release);
    listen("pointercancel", release);
    listen("pointerleave", () => {
      engine.overlays.hover = engine.hoverRank = engine.pointer = null;
      tell(engine, [], { x: 0, y: 0 });
      engine.invalidate();
    });
    listen("wheel", (event) => wheel(engine, event), { passive: false });
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
