// What is drawn over the lanes: selection, marks, one collective over all ranks, the arrow from a
// launch to its kernel, the slice in focus.
(function (cs) {
  "use strict";

  const PILL = "600 11px ui-sans-serif, system-ui, sans-serif";

  function pill(context, text, x, y, bounds, fill, ink) {
    context.font = PILL;
    const width = context.measureText(text).width + 16;
    const left = Math.min(Math.max(x - width / 2, bounds.left + 2), bounds.right - width - 2);
    context.fillStyle = fill;
    context.beginPath();
    context.roundRect(left, y, width, 18, 9);
    context.fill();
    context.fillStyle = ink;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(text, left + 8, y + 9.5);
  }

  function line(context, x, y0, y1) {
    context.beginPath();
    context.moveTo(x, y0);
    context.lineTo(x, y1);
    context.stroke();
  }

  // Where a rank is drawn, from its first to its last lane; by rank.
  function blocksOf(area) {
    const blocks = new Map();
    for (const row of area.rows) {
      if (row.kind !== "lane") continue;
      const y = area.yOf(row);
      const block = blocks.get(row.rank);
      if (block) block.bottom = y + row.height;
      else blocks.set(row.rank, { top: y, bottom: y + row.height });
    }
    return blocks;
  }

  // What is told of below: a stretch in which a rank is idle, or where a finding can be seen.
  cs.drawStretch = function (context, area, stretch) {
    const block = blocksOf(area).get(stretch.rank);
    const [x0, x1] = [area.scale.x(stretch.t0), area.scale.x(stretch.t1)].map(Math.round);
    if (!block || x1 < area.left || x0 > area.right) return;
    const [top, bottom] = [block.top - 2, block.bottom + 2];
    context.fillStyle = context.strokeStyle = area.colours.wait;
    context.globalAlpha = 0.1;
    context.fillRect(x0, top, Math.max(x1 - x0, 1), bottom - top);
    context.globalAlpha = 1;
    context.lineWidth = 1.5;
    context.strokeRect(x0 + 0.5, top, Math.max(x1 - x0 - 1, 1), bottom - top);
    if (!stretch.words) return;
    const words = `${stretch.words}: ${cs.span(stretch.t1 - stretch.t0)}`;
    const middle = (Math.max(x0, area.left) + Math.min(x1, area.right)) / 2;
    pill(context, words, middle, Math.min(bottom, area.bottom) - 20, area, area.colours.wait, "#fff");
  };

  cs.drawSelection = function (context, area, selection) {
    const { scale, colours } = area;
    const x0 = Math.max(scale.x(selection.t0), area.left);
    const x1 = Math.min(scale.x(selection.t1), area.right);
    if (x1 < area.left || x0 > area.right) return;
    const chosen = new Set(selection.ranks);
    context.fillStyle = colours.link;
    context.strokeStyle = colours.link;
    context.lineWidth = 1;
    for (const [rank, block] of blocksOf(area)) {
      if (chosen.size && !chosen.has(rank)) continue;
      const [top, bottom] = [block.top - 2, block.bottom + 2];
      context.globalAlpha = 0.16;
      context.fillRect(x0, top, Math.max(x1 - x0, 1), bottom - top);
      context.globalAlpha = 1;
      if (scale.x(selection.t0) >= area.left) line(context, Math.round(x0) + 0.5, top, bottom);
      if (scale.x(selection.t1) <= area.right) line(context, Math.round(x1) - 0.5, top, bottom);
    }
    const text = `${cs.span(selection.t1 - selection.t0)}, ${ranksIn(area.index, chosen)}`;
    pill(context, text, (x0 + x1) / 2, area.top + 2, area, colours.link, colours.paper);
  };

  // Of which ranks a selection is, in words.
  function ranksIn(index, chosen) {
    const every = index.ranks.size;
    if (!chosen.size || chosen.size === every) return every === 1 ? "the one rank" : `all ${every} ranks`;
    const ranks = [...chosen].sort((one, other) => one - other);
    const told = ranks.slice(0, 4).join(", ") + (ranks.length > 4 ? "\u2026" : "");
    return ranks.length === 1 ? `rank ${told} only` : `ranks ${told} (${ranks.length} of ${every})`;
  }

  cs.drawMarks = function (context, area, marks) {
    for (const mark of marks) {
      const x0 = area.scale.x(mark.t0);
      const x1 = area.scale.x(mark.t1);
      if (x1 < area.left || x0 > area.right) continue;
      const [left, right] = [Math.max(x0, area.left), Math.min(x1, area.right)];
      context.fillStyle = context.strokeStyle = area.colours.link;
      context.globalAlpha = 0.5;
      context.setLineDash(mark.kept ? [] : [3, 3]);
      if (x0 >= area.left) line(context, Math.round(x0) + 0.5, area.top, area.bottom);
      if (x1 <= area.right && x1 > x0) line(context, Math.round(x1) - 0.5, area.top, area.bottom);
      context.setLineDash([]);
      context.globalAlpha = 1;
      context.fillRect(left, area.top - 4, Math.max(right - left, 3), 3);
    }
  };

  // The row in which a lane is drawn: its own, its parent's, or the one of the rank's communication.
  function rowOf(area, id, rank) {
    const shown = (lane) => area.rows.find((row) => row.kind === "lane" && row.lane.id === lane);
    const kind = (name) =>
      area.rows.find((row) => row.kind === "lane" && row.rank === rank && row.lane.kind === name);
    return shown(id) || shown(area.index.parents.get(id)) || kind("communication") || kind("exposed");
  }

  function arrivalsOf(area, instance) {
    const found = [];
    for (const member of instance.members) {
      const row = rowOf(area, member.lane, member.rank);
      if (row) found.push({ ...member, y: area.yOf(row) + row.height / 2, x: area.scale.x(member.arrival) });
    }
    return found.sort((one, other) => one.y - other.y);
  }

  function shadeWaits(context, area, found, last) {
    const blocks = blocksOf(area);
    const end = Math.min(area.scale.x(last), area.right);
    context.fillStyle = area.colours.wait;
    context.globalAlpha = 0.2;
    for (const { rank, x } of found) {
      const block = blocks.get(rank);
      const from = Math.max(x, area.left);
      if (block && end > from) context.fillRect(from, block.top, end - from, block.bottom - block.top);
    }
    context.globalAlpha = 1;
  }

  function drawArrivals(context, area, found) {
    context.strokeStyle = context.fillStyle = area.colours.wait;
    context.lineWidth = 1.5;
    context.beginPath();
    found.forEach(({ x, y }, i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
    for (const { x, y } of found) {
      context.beginPath();
      context.arc(x, y, 4, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  }

  // One collective over all ranks: who arrived when, the last arrival, and the waiting before it.
  cs.drawInstance = function (context, area, instance) {
    const found = arrivalsOf(area, instance);
    const last = instance.last_arrival;
    shadeWaits(context, area, found, last);
    drawArrivals(context, area, found);
    const x = area.scale.x(last);
    if (x < area.left || x > area.right) return;
    context.strokeStyle = area.colours.wait;
    context.setLineDash([5, 3]);
    line(context, Math.round(x) + 0.5, area.top, area.bottom);
    context.setLineDash([]);
    const skew = last - Math.min(...instance.members.map((member) => member.arrival));
    const isTold = instance.straggler !== null && instance.straggler !== undefined;
    const text = isTold
      ? `rank ${instance.straggler} arrives last, ${cs.span(skew)} after the first`
      : `all arrive within ${cs.span(skew)}: the clocks tell no more`;
    if (instance.members.length > 1) pill(context, text, x, area.bottom - 22, area, area.colours.wait, "#fff");
  };

  // A curve ends level; where it is hardly wider than an arrow's head it is all but straight.
  function arrowHead(context, from, to, bend) {
    const angle = bend > 12 ? 0 : Math.atan2(to.y - from.y, to.x - from.x);
    context.save();
    context.translate(to.x, to.y);
    context.rotate(angle);
    context.beginPath();
    context.moveTo(0, 0);
    context.lineTo(-8, -4);
    context.lineTo(-8, 4);
    context.fill();
    context.restore();
  }

  // From where a kernel was launched to where it ran; along its own lane, where that of the host's
  // thread is closed.
  cs.drawFlow = function (context, area, flow) {
    const isShown = (id) => area.rows.some((row) => row.kind === "lane" && row.lane.id === id);
    const launch = area.index.lanes.get(flow.from.lane);
    const isOpen = isShown(flow.from.lane) || (launch && launch.kind !== "thread");
    const lanes = [isOpen ? flow.from.lane : flow.to.lane, flow.to.lane];
    const ends = [flow.from.t, flow.to.t].map((t, place) => {
      const lane = lanes[place];
      const row = rowOf(area, lane, (area.index.lanes.get(lane) || {}).rank);
      return row && { x: area.scale.x(t), y: area.yOf(row) + row.height / 2 };
    });
    if (!ends[0] || !ends[1]) return;
    const [from, to] = ends;
    const bend = Math.abs(to.x - from.x) / 2;
    context.strokeStyle = context.fillStyle = area.colours.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
    context.stroke();
    arrowHead(context, from, to, bend);
    context.beginPath();
    context.arc(from.x, from.y, 3, 0, 2 * Math.PI);
    context.fill();
  };

  // A ring around a slice.
  cs.drawRing = function (context, area, slice, width) {
    const row = area.rows.find((each) => each.kind === "lane" && each.lane.id === slice.lane);
    if (!row) return;
    const depth = area.depthOf(row);
    const high = row.height / depth;
    const x0 = Math.max(area.scale.x(slice.t0), area.left - 4);
    const x1 = Math.min(area.scale.x(slice.t1), area.right + 4);
    if (x1 < area.left || x0 > area.right) return;
    const y = area.yOf(row) + Math.min(slice.row || 0, depth - 1) * high;
    context.strokeStyle = area.colours.mark;
    context.lineWidth = width;
    context.strokeRect(x0, y, Math.max(x1 - x0, 2), high);
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
