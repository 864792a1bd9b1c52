// Keys, those of Perfetto: they are heard anywhere on the page but where text is written. Of
// several timelines on a page they move the one that was last pointed at.
(function (cs) {
  "use strict";

  const ZOOM = 2.2; // e-folds a second while a key is held
  const PAN = 1.1; // views a second
  const FIRST = 0.09; // seconds: what a tap is worth
  const HELD = { w: ["zoom", -1], s: ["zoom", 1], a: ["pan", -1], d: ["pan", 1], arrowleft: ["pan", -1], arrowright: ["pan", 1] };

  function isWriting(event) {
    const { target } = event;
    return target instanceof Element && Boolean(target.closest("input, textarea, select, [contenteditable=true], dialog"));
  }

  function isPressing(event) {
    return event.target instanceof Element && Boolean(event.target.closest("button, a, summary, [role=tab]"));
  }

  // Moves on while keys are held; what a tap is worth was done when the key went down.
  function whileHeld(engine, keys, signal) {
    let last = 0;
    const frame = (now) => {
      if (signal.aborted) return; // the page was left with a key down
      const seconds = last ? Math.min((now - last) / 1000, 0.05) : 0;
      last = now;
      for (const key of keys) move(engine, HELD[key], seconds);
      if (keys.size) requestAnimationFrame(frame);
    };
    return () => {
      last = 0;
      requestAnimationFrame(frame);
    };
  }

  function move(engine, [what, sign], seconds) {
    const { view, whole } = engine;
    if (what === "pan") {
      engine.lookAt(cs.panned(view, sign * PAN * seconds * (view.t1 - view.t0), whole));
      return;
    }
    const { scale } = engine.area();
    const t = engine.pointer ? scale.t(engine.pointer.x) : (view.t0 + view.t1) / 2;
    engine.lookAt(cs.zoomed(view, Math.exp(sign * ZOOM * seconds), t, whole));
  }

  const focusedRow = (engine) => engine.rows.find((row) => row.kind === "lane" && row.lane.id === engine.focusRow);

  const ACTIONS = {
    f: (engine) => cs.focusView(engine),
    r: (engine) => cs.selectFocus(engine),
    m: (engine, shift) => cs.mark(engine, shift),
    ".": (engine) => cs.nextSlice(engine, 1),
    ",": (engine) => cs.nextSlice(engine, -1),
    "]": (engine) => cs.nextMember(engine, 1),
    "[": (engine) => cs.nextMember(engine, -1),
    n: (engine) => cs.nextStep(engine, 1),
    p: (engine) => cs.nextStep(engine, -1),
    e: (engine, shift) => cs.nextGap(engine, shift ? -1 : 1),
    c: (engine) => focusedRow(engine) && cs.toggleRank(engine, engine.focusRank),
    i: (engine) => focusedRow(engine) && cs.togglePin(engine, engine.focusRank),
    enter: (engine) => focusedRow(engine) && cs.toggleRow(engine, focusedRow(engine)),
    arrowdown: (engine) => cs.moveRow(engine, 1),
    arrowup: (engine) => cs.moveRow(engine, -1),
    0: (engine) => engine.lookAt(engine.whole),
    escape: (engine) => engine.clear(),
  };
  const ON_CANVAS = ["arrowdown", "arrowup", "arrowleft", "arrowright", "enter"];

  cs.listenToKeys = function (engine, options) {
    const keys = new Set();
    const start = whileHeld(engine, keys, options.signal);
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event) || event.defaultPrevented) return;
      if (cs.active !== engine) return;
      const key = event.key.toLowerCase();
      if (ON_CANVAS.includes(key) && event.target !== engine.canvas) return;
      if (key === "enter" && isPressing(event)) return;
      if (HELD[key]) {
        if (!keys.size) start();
        if (!keys.has(key)) move(engine, HELD[key], FIRST);
        keys.add(key);
      } else if (ACTIONS[key] && !event.repeat) ACTIONS[key](engine, event.shiftKey);
      else return;
      event.preventDefault();
    }, options);
    document.addEventListener("keyup", (event) => keys.delete(event.key.toLowerCase()), options);
    window.addEventListener("blur", () => keys.clear(), options);
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
