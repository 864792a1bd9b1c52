// Which lanes are shown, in which order, and where: the layout of the run and the state of the
// view give a list of rows, each with its place in a column that can be scrolled.
(function (cs) {
  "use strict";

  // Heights of lanes by kind, of a further depth row, and between ranks, in px.
  const WIDE = { steps: 13, compute: 20, communication: 15, copy: 9, exposed: 11, stream: 14, thread: 11, stacked: 9, space: 6 };
  const TIGHT = { steps: 10, compute: 14, communication: 12, copy: 8, exposed: 9, stream: 11, thread: 9, stacked: 7, space: 2 };
  const MOST_STACKED = 8;
  const GROUP = 22;
  const GAP = 1; // between the lanes of a rank
  const MOST_STRETCH = 5;
  const MANY_RANKS = 16;

  // The view as it is before anyone changed it: where there are many ranks, groups are closed.
  cs.firstView = function (layout) {
    const many = layout.ranks.length > MANY_RANKS && layout.groups.length > 0;
    return {
      expanded: [], // ids of lanes whose streams or threads are shown
      collapsed: [], // ranks of which one row is shown
      pinned: [], // ranks kept on top
      ranks: [], // ranks shown; all where empty
      hidden: [], // categories not drawn
      by: many ? layout.groups[0].by : "",
      open: [], // ids of groups that show all of their ranks
    };
  };

  cs.depthOf = (lane) => Math.min(Math.max(lane.depth || 1, 1), MOST_STACKED);

  function heightOf(lane, heights) {
    const rows = cs.depthOf(lane);
    const base = heights[lane.kind] || heights.stream;
    if (lane.kind === "thread") return base * rows;
    return rows > 1 ? Math.max(base, heights.stacked * rows) : base;
  }

  // Lanes and ranks by number, and what hangs below each lane: host threads below the steps.
  cs.indexOf = function (layout) {
    const lanes = new Map(layout.lanes.map((lane) => [lane.id, lane]));
    const steps = new Map(
      layout.lanes.filter((lane) => lane.kind === "steps").map((lane) => [lane.rank, lane.id])
    );
    const children = new Map();
    const parents = new Map();
    for (const lane of layout.lanes) {
      const parent = lane.kind === "thread" ? steps.get(lane.rank) : lane.parent;
      if (parent === null || parent === undefined) continue;
      if (!children.has(parent)) children.set(parent, []);
      children.get(parent).push(lane);
      parents.set(lane.id, parent);
    }
    const ranks = new Map(layout.ranks.map((rank) => [rank.rank, rank]));
    return { lanes, children, parents, ranks };
  };

  // The groups to show, each with the ranks of it that are shown and whether it is closed.
  function groupsOf(layout, view) {
    const wanted = new Set(view.ranks);
    const isShown = (rank) => wanted.size === 0 || wanted.has(rank);
    const pinned = view.pinned.filter(isShown);
    const rest = (ranks) => ranks.filter((rank) => isShown(rank) && !pinned.includes(rank));
    const groups = pinned.length ? [{ id: "pinned", label: "pinned", ranks: pinned, open: true }] : [];
    const asked = view.by ? layout.groups.filter((group) => group.by === view.by) : [];
    if (!asked.length) {
      groups.push({ id: "all", label: "", ranks: rest(layout.ranks.map((rank) => rank.rank)), open: true });
      return groups;
    }
    for (const group of asked) {
      const ranks = rest(group.ranks);
      if (!ranks.length) continue;
      const open = view.open.includes(group.id) || ranks.length <= 3;
      groups.push({ ...group, id: group.id, ranks, open, isFoldable: ranks.length > 3 });
    }
    return groups;
  }

  const EXTREMES = [["least", "least exposed"], ["median", "median"], ["most", "most exposed"]];

  // The ranks a closed group shows, the least exposed first (often the one that others wait for).
  function chosen(group) {
    const found = [];
    for (const [which, why] of EXTREMES) {
      const rank = group[which];
      if (group.ranks.includes(rank) && !found.some((each) => each.rank === rank)) {
        found.push({ rank, why });
      }
    }
    return found;
  }

  function lanesOf(index, rank, view) {
    const rows = [];
    for (const id of index.ranks.get(rank).lanes) {
      const lane = index.lanes.get(id);
      if (!lane || index.parents.has(id)) continue;
      const below = index.children.get(id) || [];
      const open = view.expanded.includes(id);
      rows.push({ lane, depth: 0, canOpen: below.length > 0, open });
      if (open) below.forEach((child) => rows.push({ lane: child, depth: 1, canOpen: false, open: false }));
    }
    return rows;
  }

  function narrowed(rows) {
    return rows
      .filter((row) => row.depth === 0 && (row.lane.kind === "compute" || row.lane.kind === "exposed"))
      .map((row) => ({ ...row, canOpen: false, open: false, height: row.lane.kind === "compute" ? 13 : 7 }));
  }

  // Rows of one rank below one another; gives the place below them.
  function stackRank(index, view, heights, found, rows, y) {
    const collapsed = view.collapsed.includes(found.rank);
    const every = lanesOf(index, found.rank, view);
    const shown = collapsed ? narrowed(every) : every;
    shown.forEach((row, place) => {
      const height = row.height || heightOf(row.lane, heights);
      const head = place === 0 ? { why: found.why || "", collapsed } : null;
      rows.push({ ...row, kind: "lane", rank: found.rank, head, y, height });
      y += height + GAP;
    });
    return y + heights.space;
  }

  // All rows, and their height; the pinned ones come first and stay when the rest is scrolled.
  function rowsOf(layout, index, view, heights) {
    const rows = [];
    let y = 0;
    let fixed = 0;
    for (const group of groupsOf(layout, view)) {
      if (group.label) {
        rows.push({ kind: "group", group, y, height: GROUP });
        y += GROUP + GAP + 2;
      }
      const ranks = group.open ? group.ranks.map((rank) => ({ rank })) : chosen(group);
      for (const found of ranks) y = stackRank(index, view, heights, found, rows, y);
      if (group.id === "pinned") fixed = y;
    }
    rows.forEach((row) => (row.isFixed = row.y < fixed));
    return { rows, height: y, fixed };
  }

  // Lanes are low where the ranks would not fit otherwise; what is opened in them changes nothing.
  cs.rowsOf = function (layout, index, view, room) {
    const closed = rowsOf(layout, index, { ...view, expanded: [] }, WIDE);
    return rowsOf(layout, index, view, closed.height > room ? TIGHT : WIDE);
  };

  // Rows made higher where there is room for more.
  cs.stretched = function (found, room) {
    const factor = Math.min(Math.max(room / Math.max(found.height, 1), 1), MOST_STRETCH);
    if (factor < 1.05) return found;
    const rows = found.rows.map((row) => {
      const y = Math.round(row.y * factor);
      return { ...row, y, height: Math.round((row.y + row.height) * factor) - y };
    });
    const grown = (length) => Math.round(length * factor);
    return { rows, height: grown(found.height), fixed: grown(found.fixed) };
  };

  cs.rowAt = function (rows, y) {
    return rows.find((row) => y >= row.y && y < row.y + row.height + GAP) || null;
  };

  // Ranks as "0,3,8-11"; null where it is none of that.
  cs.ranksOf = function (text) {
    const ranks = [];
    for (const part of text.split(",").map((each) => each.trim()).filter(Boolean)) {
      const found = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part);
      if (!found) return null;
      const last = Number(found[2] === undefined ? found[1] : found[2]);
      for (let rank = Number(found[1]); rank <= last && ranks.length < 4096; rank++) ranks.push(rank);
    }
    return ranks;
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
