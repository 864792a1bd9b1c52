// What the page and the timeline tell each other: what was clicked, selected, searched for, marked.
(function (cs) {
  "use strict";

  const NONE_TOLD = { selection: null, picked: null, instance: null, flow: null, stretch: null, finding: null };

  const RANK = /^rank (\d{1,6})$/i;
  const PAD = 0.5; // on both sides of where the page leads to, as a share of it

  // Buttons and links of the drawer lead to collectives and findings of the same timeline.
  cs.listenToDrawer = function (engine, options) {
    document.addEventListener("click", (event) => {
      if (cs.active !== engine || event.ctrlKey || event.metaKey || event.shiftKey || !event.target.closest) return;
      const button = event.target.closest("[data-instance]");
      const link = event.target.closest(".cs-drawer a[href]");
      const asked = button ? { instance: Number(button.dataset.instance) } : link && askedBy(link);
      if (!asked) return;
      event.preventDefault();
      event.stopPropagation();
      engine.turnTo(asked);
    }, { ...options, capture: true });
  };

  function askedBy(link) {
    const values = new URL(link.href).searchParams;
    if (values.has("finding")) return { finding: values.get("finding"), place: Number(values.get("place") || 0) };
    return values.has("inst") ? { instance: Number(values.get("inst")) } : null;
  }

  Object.assign(cs.Engine.prototype, {
    // What the page changed: only that which the timeline did not say itself.
    update(props) {
      const isNew = (name, mine) => props[name] && JSON.stringify(props[name]) !== JSON.stringify(mine);
      if (isNew("view", this.state)) this.arrangeAs(props.view);
      if (isNew("viewport", this.told) && isNew("viewport", this.given)) this.lookAt(props.viewport);
      this.given = props.viewport;
      if (typeof props.query === "string" && props.query !== this.text) this.search(props.query);
      if (props.selection && props.selection.n === 0) this.overlays.selection = props.selection;
      this.overlays.instance = props.instance || null;
      this.overlays.flow = props.flow || null;
      if (isNew("stretch", this.overlays.stretch) && "marked" in props.stretch) this.openThreads(props.stretch.marked);
      this.overlays.stretch = props.stretch || null;
      if (isNew("goto", this.went)) this.goTo(props.goto);
      this.invalidate();
    },

    goTo(place) {
      this.went = place;
      this.show(place.t0, place.t1, PAD);
      if (place.rank !== undefined && place.rank !== null) this.scrollToRank(place.rank);
    },

    search(text) {
      this.text = text.trim().slice(0, 200);
      delete this.cursors.match;
      this.goToRank(RANK.exec(this.text));
      this.bar.showSearch(this.text);
      cs.countMatches(this);
      this.invalidate();
      this.tell({ query: this.text });
    },

    // The rank that is searched for.
    goToRank(found) {
      const row = found && this.rows.find((each) => each.kind === "lane" && each.rank === Number(found[1]));
      if (!row) return;
      this.focusRank = row.rank;
      this.focusRow = row.lane.id;
      this.scrollToRank(row.rank);
    },

    // One thing is selected at a time: a range, or a slice.
    select(selection) {
      this.turn += 1;
      delete this.cursors.slice;
      Object.assign(this.overlays, cs.NOTHING, { selection });
      this.invalidate();
      this.tell({ ...NONE_TOLD, selection: selection && { ...selection, n: ++this.count } });
      if (selection) this.announce(`selected ${cs.span(selection.t1 - selection.t0)}`);
    },

    // Puts a slice in focus and tells the page, which knows what belongs to it.
    pick(slice, row, t) {
      this.turn += 1;
      this.cursors.slice = slice;
      Object.assign(this.overlays, cs.NOTHING, { focus: slice });
      this.focusRow = row.lane.id;
      this.focusRank = row.rank;
      this.invalidate();
      const event = slice ? slice.event : null;
      const at = Math.round(slice ? Math.max(slice.t0, Math.min(t, slice.t1)) : t);
      const times = slice ? { t0: slice.t0, t1: slice.t1 } : {};
      const picked = { lane: row.lane.id, event, rank: row.rank, t: at, kind: row.lane.kind, ...times };
      this.tell({ ...NONE_TOLD, picked: { ...picked, n: ++this.count } });
      if (slice) this.announce(this.describe(slice, row));
    },

    // Another collective by its number (instance), or a finding at one of its places.
    turnTo(asked) {
      this.turn += 1;
      Object.assign(this.overlays, cs.NOTHING);
      const finding = asked.finding ? { id: asked.finding, place: asked.place } : null;
      this.tell({ ...NONE_TOLD, finding, picked: { ...asked, n: ++this.count } });
    },

    // The host's threads of the rank that a finding is about.
    openThreads(rank) {
      const steps = this.layout.lanes.find((lane) => lane.kind === "steps" && lane.rank === rank);
      if (!steps || this.state.expanded.includes(steps.id)) return;
      this.change({ expanded: [...this.state.expanded, steps.id] });
    },

    // Marks that were kept, as the address has them.
    mark(kept) {
      this.overlays.marks = (kept || []).map(({ t0, t1 }) => ({ t0, t1, kept: true }));
    },

    tellMarks() {
      const kept = this.overlays.marks.filter((mark) => mark.kept);
      this.tell({ marks: kept.map(({ t0, t1 }) => ({ t0: Math.round(t0), t1: Math.round(t1) })) });
    },

    describe(slice, row) {
      const name = this.store.name(slice.name) || this.layout.categories[slice.cat]?.name || "";
      return `${name}, ${cs.span(slice.t1 - slice.t0)} at ${cs.moment(slice.t0, 1000)}, rank ${row.rank}, ${row.lane.label}`;
    },

    announce(words) {
      this.live.textContent = words;
    },

    say(words) {
      this.message.textContent = words;
      this.message.hidden = !words;
    },

    clear() {
      this.overlays.marks = this.overlays.marks.filter((mark) => mark.kept);
      this.select(null);
      if (this.text) this.search("");
    },
  });
})((window.commscope_timeline = window.commscope_timeline || {}));
