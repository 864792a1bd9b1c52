// One frame: minimap, ruler, the names of ranks and lanes, the lanes, and what lies over them.
(function (cs) {
  "use strict";

  const PLACES = { left: 182, minimap: 30, ruler: 24, bar: 12 };
  const SANS = "ui-sans-serif, system-ui, 'Segoe UI', Roboto, sans-serif";
  const TEXT = { rank: `600 12px ${SANS}`, lane: `11px ${SANS}`, low: `9px ${SANS}`, note: `10.5px ${SANS}` };

  const HEAD_HEIGHT = 46; // px: the name of a rank with what is told below it
  const LEAST_APART = 9; // px from the middle of a lane's name to that of the next

  cs.PLACES = PLACES;
  cs.TOP = PLACES.minimap + PLACES.ruler;

  function text(context, words, x, y, font, colour, align) {
    context.font = font;
    context.fillStyle = colour;
    context.textAlign = align || "left";
    context.textBaseline = "middle";
    context.fillText(words, x, y);
  }

  // Cuts text by measuring it: names of hosts and threads are of any length.
  function within(context, words, font, width) {
    context.font = font;
    let kept = words.slice(0, 60);
    while (kept.length > 1 && context.measureText(kept).width > width) kept = kept.slice(0, -2);
    return kept.length < words.length ? `${kept}\u2026` : kept;
  }

  function clipped(context, left, top, right, bottom, draw) {
    context.save();
    context.beginPath();
    context.rect(left, top, Math.max(right - left, 0), Math.max(bottom - top, 0));
    context.clip();
    draw();
    context.restore();
  }

  function drawMinimap(context, frame) {
    const { area, colours, overview, look, view, whole } = frame;
    const scale = cs.scaleOf(whole, area.left, area.right - area.left);
    const box = { left: area.left, right: area.right, y: 2, height: PLACES.minimap - 4 };
    context.fillStyle = colours.card;
    context.fillRect(box.left, box.y, box.right - box.left, box.height);
    if (overview) cs.drawDensity(context, overview, box, scale, look);
    const x0 = Math.max(scale.x(view.t0), box.left);
    const x1 = Math.max(Math.min(scale.x(view.t1), box.right), x0 + 2);
    context.fillStyle = colours.paper;
    context.globalAlpha = 0.62;
    context.fillRect(box.left, box.y, x0 - box.left, box.height);
    context.fillRect(x1, box.y, box.right - x1, box.height);
    context.globalAlpha = 1;
    context.strokeStyle = colours.mark;
    context.lineWidth = 1;
    context.strokeRect(Math.round(x0) + 0.5, box.y - 0.5, Math.round(x1 - x0) - 1, box.height + 1);
    context.fillStyle = colours.mark;
    for (const x of [x0, x1]) context.fillRect(Math.round(x) - 2, box.y + 7, 4, box.height - 14);
    text(context, `whole run ${cs.span(whole.t1 - whole.t0)}`, 8, PLACES.minimap / 2, TEXT.note, colours.dim);
  }

  function drawRuler(context, frame) {
    const { area, colours, view } = frame;
    const { step, times } = cs.ticks(view, area.right - area.left, 110);
    const y = PLACES.minimap + PLACES.ruler / 2;
    text(context, `showing ${cs.span(view.t1 - view.t0)}`, 8, y, TEXT.note, colours.ink);
    clipped(context, area.left, PLACES.minimap, area.right, area.bottom, () => {
      for (const t of times) {
        const x = Math.round(area.scale.x(t));
        context.fillStyle = colours.line;
        context.fillRect(x, area.top - 7, 1, 7);
        text(context, cs.moment(t, step), x + 4, y, TEXT.lane, colours.dim);
      }
    });
    context.fillStyle = colours.line;
    context.fillRect(0, area.top - 1, area.right, 1);
  }

  function chevron(context, x, y, isOpen, colour) {
    context.strokeStyle = colour;
    context.lineWidth = 1.4;
    context.beginPath();
    if (isOpen) {
      context.moveTo(x - 3.5, y - 2);
      context.lineTo(x, y + 2);
      context.lineTo(x + 3.5, y - 2);
    } else {
      context.moveTo(x - 2, y - 3.5);
      context.lineTo(x + 2, y);
      context.lineTo(x - 2, y + 3.5);
    }
    context.stroke();
  }

  function pin(context, x, y, isPinned, colour) {
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = 1.2;
    context.beginPath();
    context.arc(x, y - 2, 3, 0, 2 * Math.PI);
    if (isPinned) context.fill();
    context.moveTo(x, y + 1);
    context.lineTo(x, y + 5);
    context.stroke();
  }

  // Lines below the name of a rank.
  function rankNotes(found, why) {
    const share = found.exposed_share;
    if (share === null || share === undefined) return [why];
    return why ? [why, `${(100 * share).toFixed(1)} %`] : [`${Math.round(100 * share)} % exposed`];
  }

  function drawRankHead(context, frame, row, y) {
    const { colours, index, state } = frame;
    const found = index.ranks.get(row.rank);
    const middle = y + Math.max(Math.min(row.height, 22) / 2, 7);
    chevron(context, 10, middle, !row.head.collapsed, colours.dim);
    const { stretch } = frame.overlays;
    const isMarked = stretch && stretch.marked === row.rank;
    if (isMarked) {
      context.fillStyle = colours.wait;
      context.fillRect(0, y - 2, 3, Math.max(row.height, 30));
    }
    const ink = isMarked ? colours.wait : colours.ink;
    text(context, within(context, found.label || `rank ${row.rank}`, TEXT.rank, 72), 20, middle, TEXT.rank, ink);
    const isPinned = state.pinned.includes(row.rank);
    if (isPinned || frame.hoverRank === row.rank) pin(context, 94, middle, isPinned, colours.dim);
    if (row.head.collapsed) return;
    const notes = rankNotes(found, isMarked ? stretch.words : row.head.why);
    notes.forEach((note, i) =>
      text(context, within(context, note, TEXT.note, 84), 20, middle + 13 + 12 * i, TEXT.note, i || !isMarked ? colours.dim : ink)
    );
  }

  function drawGroupHead(context, frame, row, y) {
    const { colours, area } = frame;
    const { group } = row;
    context.fillStyle = colours.card;
    context.fillRect(0, y, area.right, row.height);
    const middle = y + row.height / 2;
    if (group.isFoldable) chevron(context, 10, middle, group.open, colours.dim);
    const count = group.id === "pinned" ? "" : ` (${group.ranks.length} ranks)`;
    const label = within(context, group.label + count, TEXT.rank, area.right - 480);
    text(context, label, 20, middle, TEXT.rank, colours.ink);
    if (!group.open) {
      const x = Math.max(area.left + 4, 36 + context.measureText(label).width);
      const words = "the ranks with least, median and most exposed communication; click to show all";
      text(context, words, x, middle, TEXT.note, colours.dim);
    }
  }

  function drawLaneHead(context, frame, row, y) {
    const { colours, area } = frame;
    const label = row.lane.label || row.lane.kind;
    const right = area.left - 8;
    const colour = row.lane.kind === "exposed" ? colours.exposed : colours.dim;
    const middle = y + row.height / 2;
    if (middle - frame.labelled < LEAST_APART) return;
    frame.labelled = middle;
    const most = row.depth && y >= frame.headBottom ? 156 : row.depth ? 78 : 96;
    const font = row.height < 12 ? TEXT.low : TEXT.lane;
    text(context, within(context, label, font, most), right, middle, font, colour, "right");
    if (row.canOpen) chevron(context, right - context.measureText(label).width - 8, middle, row.open, colours.dim);
    if (frame.focusRow === row.lane.id) {
      context.fillStyle = colours.link;
      context.fillRect(area.left - 4, y, 2, row.height);
    }
  }

  function drawRow(context, frame, row) {
    const { area, colours, look, store } = frame;
    const y = area.yOf(row);
    if (y > area.bottom || y + row.height < area.top) return;
    if (row.kind === "group") return drawGroupHead(context, frame, row, y);
    if (row.head) {
      frame.headBottom = y + HEAD_HEIGHT;
      context.fillStyle = colours.line;
      context.fillRect(0, y - 4, area.right, 1);
    }
    context.fillStyle = colours.card;
    context.fillRect(area.left, y, area.right - area.left, row.height);
    const box = { left: area.left, right: area.right, y, height: row.height, depth: area.depthOf(row) };
    clipped(context, area.left, y, area.right, y + row.height, () =>
      cs.drawLane(context, store, row, box, area.scale, look)
    );
    drawLaneHead(context, frame, row, y);
    if (row.head) drawRankHead(context, frame, row, y);
  }

  function drawOverlays(context, frame) {
    const { area, overlays } = frame;
    if (overlays.selection) cs.drawSelection(context, area, overlays.selection);
    if (overlays.stretch) cs.drawStretch(context, area, overlays.stretch);
    if (overlays.instance) cs.drawInstance(context, area, overlays.instance);
    if (overlays.flow) cs.drawFlow(context, area, overlays.flow);
    if (overlays.hover) cs.drawRing(context, area, overlays.hover, 1);
    if (overlays.focus) cs.drawRing(context, area, overlays.focus, 2);
  }

  function drawScrollbar(context, frame) {
    const { area, colours, scroll, most, height } = frame;
    if (most <= 0) return;
    const room = area.bottom - area.top;
    const length = Math.max((room * room) / height, 24);
    const y = area.top + (scroll / most) * (room - length);
    context.fillStyle = colours.dim;
    context.globalAlpha = 0.5;
    context.fillRect(area.right + 3, y, 6, length);
    context.globalAlpha = 1;
  }

  cs.drawFrame = function (context, frame) {
    const { area, colours, fixed } = frame;
    context.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, frame.width, area.bottom);
    const below = area.top + fixed;
    const drawRows = (isFixed) => () => {
      frame.labelled = -Infinity;
      area.rows.filter((row) => row.isFixed === isFixed).forEach((row) => drawRow(context, frame, row));
    };
    clipped(context, 0, below, area.right, area.bottom, drawRows(false));
    clipped(context, 0, area.top, area.right, Math.min(below, area.bottom), drawRows(true));
    context.fillStyle = colours.dim;
    if (fixed) context.fillRect(0, below - 3, area.right, 1);
    clipped(context, area.left, area.top, area.right, area.bottom, () => drawOverlays(context, frame));
    drawMinimap(context, frame);
    drawRuler(context, frame);
    clipped(context, area.left, 0, area.right, area.bottom, () =>
      cs.drawMarks(context, area, frame.overlays.marks)
    );
    drawScrollbar(context, frame);
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
