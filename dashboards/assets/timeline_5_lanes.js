// Drawing of lanes: the density of what is narrower than a column as an image that is made once an
// answer, over it the rectangles of the rest with their names.
(function (cs) {
  "use strict";

  const WAITS = /^waiting for ((rank (\d+)))$/; // who is waited for stays, however narrow it is
  const LABEL_FROM = 36; // px
  const MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
  const FONTS = [`8.5px ${MONO}`, `10.5px ${MONO}`]; // in low lanes, and in others
  const LOW = 12; // px
  const MOST_LEVELS = 96;
  const SEPARATED = 3; // px: from here on neighbours have a line between them

  const word = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

  function fillColumn(pixels, width, levels, column, from, to, colour) {
    const top = Math.max(levels - to, 0);
    for (let y = levels - from - 1; y >= top; y--) pixels[y * width + column] = colour;
  }

  // One pixel a column and one a level: the shares of the categories on top of one another.
  function paintDensity(lane, levels, pixels, look) {
    const isSearch = lane.hits !== null;
    const shown = lane.cats
      .map((category, i) => ({ category, at: i * lane.px }))
      .filter(({ category }) => !look.hidden.has(category))
      .map(({ category, at }) => {
        const colour = look.colours.of(category);
        return { at, word: word((isSearch ? colour.faded : colour.full).bytes) };
      });
    const found = word(look.colours.found.bytes);
    for (let column = 0; column < lane.px; column++) {
      let sum = 0;
      let level = 0;
      for (const { at, word: colour } of shown) {
        const share = lane.density[at + column];
        if (!share) continue;
        sum += share;
        const next = Math.min(Math.max(Math.round((sum / 255) * levels), level || 1), levels);
        fillColumn(pixels, lane.px, levels, column, level, next, colour);
        level = next;
      }
      if (isSearch && lane.hits[column]) {
        fillColumn(pixels, lane.px, levels, column, 0, Math.max(level, Math.ceil(levels / 2)), found);
      }
    }
  }

  const levelsOf = (height) => Math.min(Math.max(Math.round(height), 1), MOST_LEVELS);

  const hasImage = (lane, height, look) =>
    !lane.cats.length ||
    Boolean(lane.image && lane.imageOf === look.stamp && lane.image.height === levelsOf(height));

  function densityImage(lane, height, look) {
    if (hasImage(lane, height, look)) return lane.image;
    const begun = performance.now();
    const levels = levelsOf(height);
    const image = document.createElement("canvas");
    image.width = lane.px;
    image.height = levels;
    const context = image.getContext("2d");
    const data = context.createImageData(lane.px, levels);
    paintDensity(lane, levels, new Uint32Array(data.data.buffer), look);
    context.putImageData(data, 0, 0);
    lane.image = image;
    lane.imageOf = look.stamp;
    look.budget -= performance.now() - begun;
    return image;
  }

  function drawDensity(context, lane, box, scale, look) {
    if (!lane.cats.length) return;
    const image = densityImage(lane, box.height * look.ratio, look);
    const first = Math.max(Math.floor((scale.t(box.left) - lane.t0) / lane.column), 0);
    const last = Math.min(Math.ceil((scale.t(box.right) - lane.t0) / lane.column), lane.px);
    if (last <= first) return;
    const x = scale.x(lane.t0 + first * lane.column);
    const width = (last - first) * lane.column * scale.perNs;
    context.imageSmoothingEnabled = lane.column * scale.perNs < 0.6;
    context.drawImage(image, first, 0, last - first, image.height, x, box.y, width, box.height);
  }

  function colourOf(lane, i, look) {
    if (lane.hit !== null && lane.hit[i]) return look.colours.found;
    const colour = look.colours.of(lane.cat[i]);
    return lane.hit === null ? colour.full : colour.faded;
  }

  // The part of a name that fits; the name is text of the trace, and only ever drawn.
  function fitted(name, width, letter) {
    const most = Math.floor(width / letter);
    const waits = WAITS.exec(name);
    if (waits) return waits.find((part) => part.length <= most) || "";
    return name.length <= most ? name : most > 2 ? `${name.slice(0, most - 1)}\u2026` : "";
  }

  function drawRectangles(context, lane, box, scale, look, labels) {
    const [first, end] = cs.rectanglesIn(lane, scale.t(box.left), scale.t(box.right));
    const depth = box.depth;
    const high = box.height / depth;
    const snap = (x) => Math.round(x * look.ratio) / look.ratio;
    let fill = "";
    for (let i = first; i < end; i++) {
      if (look.hidden.has(lane.cat[i])) continue;
      const from = Math.max(scale.x(lane.t0 + lane.start[i]), box.left);
      const to = Math.min(scale.x(lane.t0 + lane.start[i] + lane.dur[i]), box.right);
      if (to <= from) continue;
      const wide = to - from;
      const x = wide > 1 ? snap(from) : from;
      const drawn = wide > SEPARATED ? snap(to) - x - 1 / look.ratio : Math.max(wide, 1 / look.ratio);
      const y = box.y + Math.min(lane.row[i], depth - 1) * high;
      const colour = colourOf(lane, i, look);
      if (colour.fill !== fill) context.fillStyle = fill = colour.fill;
      context.fillRect(x, y, drawn, depth > 1 ? high - 1 / look.ratio : high);
      if (wide >= LABEL_FROM && high >= 9) labels.push([i, x, y, drawn, high, colour.text]);
    }
  }

  // All labels of a lane are as high as each other.
  function drawLabels(context, lane, labels, store) {
    if (!labels.length) return;
    context.font = FONTS[labels[0][4] < LOW ? 0 : 1];
    context.textBaseline = "middle";
    context.textAlign = "left";
    const letter = context.measureText("M").width;
    for (const [i, x, y, width, high, colour] of labels) {
      const name = store.name(lane.name[i]);
      const text = name ? fitted(name, width - 6, letter) : "";
      if (!text) continue;
      context.fillStyle = colour;
      context.fillText(text, x + 3, y + high / 2 + 0.5);
    }
  }

  function drawAnswer(context, lane, box, scale, look, store) {
    const labels = [];
    drawDensity(context, lane, box, scale, look);
    drawRectangles(context, lane, box, scale, look, labels);
    drawLabels(context, lane, labels, store);
  }

  function drawBetween(context, lane, box, left, right, scale, look, store) {
    if (right <= left) return;
    context.save();
    context.beginPath();
    context.rect(left, box.y, right - left, box.height);
    context.clip();
    drawAnswer(context, lane, { ...box, left, right }, scale, look, store);
    context.restore();
  }

  // The latest answer; while the view moves and this frame's time is spent, the one before it.
  function answerOf(store, row, box, look) {
    const latest = store.fine.get(row.lane.id);
    if (!latest || !latest.before) return latest;
    if (look.budget <= 0 && !hasImage(latest, box.height * look.ratio, look)) {
      look.isLate = true;
      return latest.before;
    }
    latest.before = null;
    return latest;
  }

  // A lane from its latest answer, and where that does not reach from the one of the whole run.
  cs.drawLane = function (context, store, row, box, scale, look) {
    const fine = answerOf(store, row, box, look);
    const coarse = store.coarse.get(row.lane.id);
    const [from, to] = fine ? [scale.x(fine.t0), scale.x(fine.t1)] : [box.right, box.right];
    if (coarse && coarse !== fine) {
      drawBetween(context, coarse, box, box.left, Math.min(from, box.right), scale, look, store);
      drawBetween(context, coarse, box, Math.max(to, box.left), box.right, scale, look, store);
    }
    if (fine) drawAnswer(context, fine, box, scale, look, store);
  };

  Object.assign(cs, { drawDensity, fitted });
})((window.commscope_timeline = window.commscope_timeline || {}));
