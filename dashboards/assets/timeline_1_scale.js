// Windows of time: what to ask for, where a time lies, and how it is written.
(function (cs) {
  "use strict";

  const ALIGN = 256; // columns: windows start on these, so that equal views ask for equal answers
  const MOST_COLUMNS = 5000; // of a view: with what lies around it, less than the server gives
  const LEAST_SPAN = 64; // ns
  const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

  // The width of a column in ns: the power of two nearest to one pixel.
  cs.columnOf = function (span, width) {
    const columns = Math.min(Math.max(width, 1), MOST_COLUMNS);
    return 2 ** Math.max(0, Math.round(Math.log2(span / columns)));
  };

  // The window to ask for, so that a view and half of it on each side is there; whole columns,
  // inside the run.
  cs.windowOf = function (view, width, whole) {
    const column = cs.columnOf(view.t1 - view.t0, width);
    const pad = (view.t1 - view.t0) / 2;
    const step = ALIGN * column;
    const least = Math.floor(whole.t0 / column) * column;
    const most = Math.ceil(whole.t1 / column) * column;
    const t0 = Math.max(Math.floor((view.t0 - pad) / step) * step, least);
    const t1 = Math.min(Math.ceil((view.t1 + pad) / step) * step, Math.max(most, t0 + column));
    return { t0, t1, column, px: (t1 - t0) / column };
  };

  // A view inside the run, moved rather than cut where it can be; whole ns.
  cs.inside = function (view, whole) {
    const length = Math.max(whole.t1 - whole.t0, 1);
    const span = Math.min(Math.max(view.t1 - view.t0, Math.min(LEAST_SPAN, length)), length);
    const middle = (view.t0 + view.t1) / 2;
    const t0 = Math.min(Math.max(middle - span / 2, whole.t0), whole.t1 - span);
    return { t0, t1: t0 + span };
  };

  cs.zoomed = function (view, factor, at, whole) {
    const span = view.t1 - view.t0;
    const length = Math.max(whole.t1 - whole.t0, 1);
    const least = Math.min(LEAST_SPAN, length);
    const next = Math.min(Math.max(span * factor, least), length);
    const share = (at - view.t0) / span;
    const t0 = at - share * next;
    return cs.inside({ t0, t1: t0 + next }, whole);
  };

  cs.panned = function (view, ns, whole) {
    return cs.inside({ t0: view.t0 + ns, t1: view.t1 + ns }, whole);
  };

  // Times of a ruler, at least so many pixels apart, in steps of 1, 2 or 5.
  cs.ticks = function (view, width, apart) {
    const least = ((view.t1 - view.t0) * apart) / Math.max(width, 1);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = Math.max([1, 2, 5, 10].find((each) => each * power >= least) * power, 1);
    const times = [];
    for (let t = Math.ceil(view.t0 / step) * step; t <= view.t1; t += step) times.push(t);
    return { step, times };
  };

  function grouped(text) {
    const [whole, rest] = text.split(".");
    const spaced = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return rest === undefined ? spaced : `${spaced}.${rest}`;
  }

  // A time since the origin, as exact as a step of the ruler: 84.75 ms.
  cs.moment = function (t, step) {
    const [factor, unit] = Math.abs(t) >= 1e10 && step >= 1e7 ? UNITS[0] : UNITS[1];
    const decimals = Math.min(Math.max(Math.ceil(-Math.log10(step / factor) - 1e-9), 0), 6);
    return `${grouped((t / factor).toFixed(decimals))} ${unit}`;
  };

  // A length of time, as the reports write it: 27.2 ms.
  cs.span = function (ns) {
    const [factor, unit] = UNITS.find(([each]) => Math.abs(ns) >= each) || UNITS[3];
    const scaled = ns / factor;
    const size = Math.abs(scaled);
    const decimals = factor === 1 ? 0 : size < 10 ? 2 : size < 1000 ? 1 : 0;
    return `${grouped(scaled.toFixed(decimals))} ${unit}`;
  };

  // Time to pixel and back, for a view drawn between two edges.
  cs.scaleOf = function (view, left, width) {
    const perNs = width / (view.t1 - view.t0);
    return {
      left,
      width,
      perNs,
      x: (t) => left + (t - view.t0) * perNs,
      t: (x) => view.t0 + (x - left) / perNs,
    };
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
