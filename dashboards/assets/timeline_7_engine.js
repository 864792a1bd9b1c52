// The timeline without React: it holds the state, draws when something changed, and tells what a
// person did. Pointer, keys and the bar above it are in files of their own.
(function (cs) {
  "use strict";

  const LEAST_HEIGHT = 260;
  const MOVING_MS = 60; // since the last movement of the view
  const BUDGET_MS = 6; // of a frame while it moves, for images of new answers
  const ROOM = 0.68; // share of the window's height
  const STRETCHED = 0.82; // of that: higher than they need to be lanes are made up to here
  const TELL_MS = 150; // after the last movement the view is told to the page

  function element(tag, className, parent, attributes) {
    const made = document.createElement(tag);
    made.className = className;
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    parent.appendChild(made);
    return made;
  }
  cs.element = element;

  // What lies over the lanes where nothing was clicked or selected.
  cs.NOTHING = { selection: null, focus: null, instance: null, flow: null, stretch: null };

  cs.Engine = class Engine {
    constructor(root, options) {
      this.root = root;
      this.tell = options.tell; // (props that changed) => void
      this.layout = options.layout;
      this.index = cs.indexOf(options.layout);
      this.whole = { t0: options.layout.t0, t1: Math.max(options.layout.t1, options.layout.t0 + 1) };
      this.palette = options.palette;
      this.state = { ...cs.firstView(options.layout), ...(options.view || {}) };
      this.view = cs.inside(options.viewport || this.whole, this.whole);
      this.text = options.query || "";
      this.present = options.present;
      this.room = options.room || ROOM;
      this.overlays = { ...cs.NOTHING, hover: null, stretch: options.stretch || null, marks: [] };
      this.mark(options.marks);
      this.scroll = 0;
      this.count = 0;
      this.turn = 0; // counts what was asked to be in focus: an answer to an earlier wish is late
      this.cursors = {}; // where the search for the next step, gap, slice or match goes on
      this.resume(options.picked);
      this.frames = 0;
      this.moved = [-Infinity, 0]; // when the view last moved, and the time before
      this.store = new cs.Store({
        base: options.base || "/",
        run: options.run || 0,
        whole: this.whole,
        changed: () => this.invalidate(),
        failed: (words) => this.say(words),
      });
      this.build();
      this.listen();
      this.arrange();
      this.retheme();
      this.resize();
      const { stretch } = this.overlays;
      if (options.picked) this.scrollToRank(this.focusRank);
      else if (stretch) this.scrollToRank(stretch.marked ?? stretch.rank);
      if (this.text) cs.countMatches(this);
    }

    // The event of the address is in focus from the start.
    resume(picked) {
      if (!picked) return;
      if (picked.event !== null) this.overlays.focus = this.cursors.slice = picked;
      this.focusRow = picked.lane;
      this.focusRank = picked.rank;
    }

    build() {
      this.bar = cs.buildBar(this);
      this.stage = element("div", "cs-stage", this.root);
      this.canvas = element("canvas", "cs-canvas", this.stage, {
        tabindex: "0",
        role: "application",
        "aria-label": `Timeline of ${this.layout.name}: ${this.layout.ranks.length} ranks, ${cs.span(
          this.whole.t1 - this.whole.t0
        )}. Press question mark for the keys.`,
      });
      this.context = this.canvas.getContext("2d", { alpha: false });
      this.tip = element("div", "cs-tip", this.stage, { hidden: "" });
      this.message = element("div", "cs-message", this.stage, { role: "status", hidden: "" });
      this.live = element("div", "cs-live", this.root, { "aria-live": "polite" });
    }

    listen() {
      this.stop = new AbortController();
      const options = { signal: this.stop.signal };
      this.observer = new ResizeObserver(() => this.resize());
      this.observer.observe(this.stage);
      this.themes = new MutationObserver(() => this.retheme());
      this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
      window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.retheme(), options);
      window.addEventListener("resize", () => this.resize(), options);
      cs.active = cs.active || this;
      for (const name of ["pointerenter", "focusin"]) {
        this.root.addEventListener(name, () => (cs.active = this), options);
      }
      cs.listenToPointer(this, options);
      cs.listenToKeys(this, options);
      cs.listenToDrawer(this, options);
      this.bar.listen();
    }

    destroy() {
      if (cs.active === this) cs.active = null;
      this.stop.abort();
      this.observer.disconnect();
      this.themes.disconnect();
      cancelAnimationFrame(this.pending);
      clearTimeout(this.telling);
      this.store.close();
      this.root.replaceChildren();
    }

    retheme() {
      const { palette, layout } = this;
      this.colours = cs.coloursOf(palette, layout.categories, this.root);
      const named = (name) => (layout.categories.find((each) => each.name === name) || { id: -1 }).id;
      this.colours.wait = this.colours.of(named("exposed_wait")).full.fill;
      this.colours.exposed = this.colours.of(named("exposed_transfer")).full.fill;
      this.relook();
      this.bar.paint();
    }

    // What density images depend on: they are made anew when it changes.
    relook() {
      this.look = {
        stamp: (this.look ? this.look.stamp : 0) + 1,
        hidden: new Set(this.state.hidden),
        colours: this.colours,
        ratio: this.ratio || 1,
      };
      this.invalidate();
    }

    // Rows as the state wants them, as high as there is room for.
    arrange() {
      const most = Math.max(Math.round(window.innerHeight * this.room), LEAST_HEIGHT);
      const found = cs.rowsOf(this.layout, this.index, this.state, most - cs.TOP - 4);
      this.settleHeight(found, most);
      const placed = cs.stretched(found, Math.max(this.height - cs.TOP - 4, 0));
      this.rows = placed.rows;
      this.fixed = placed.fixed;
      this.rowsHeight = placed.height;
      if (this.found) this.bar.showFound(cs.foundWords(this));
      this.scrollTo(this.scroll);
      this.invalidate();
    }

    // As high as the first rows need, then the same until the window changes: what is opened is
    // scrolled, and what lies below stays where it is.
    settleHeight(found, most) {
      if (this.settledFor === window.innerHeight) return;
      this.settledFor = window.innerHeight;
      const placed = cs.stretched(found, Math.max(most * STRETCHED - cs.TOP - 4, 0));
      this.height = Math.min(Math.max(cs.TOP + placed.height + 4, LEAST_HEIGHT), most);
      this.stage.style.height = `${this.height}px`;
    }

    resize() {
      const width = Math.max(Math.round(this.stage.clientWidth), 320);
      const ratio = window.devicePixelRatio || 1;
      if (width === this.width && ratio === this.ratio && this.drawnHeight === this.height) return;
      if (window.innerHeight !== this.settledFor) this.arrange();
      const changed = width !== this.width;
      [this.width, this.ratio, this.drawnHeight] = [width, ratio, this.height];
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(this.height * ratio);
      this.canvas.style.height = `${this.height}px`;
      this.relook();
      if (changed) this.askOverview();
      this.draw();
    }

    // One request is under way: when it is answered, the next is for the width of then.
    askOverview() {
      if (this.isAskingOverview) return;
      this.isAskingOverview = true;
      const { width } = this;
      this.store
        .overview(width - cs.PLACES.left)
        .then((lane) => {
          this.overview = lane;
        })
        .catch((error) => this.say(cs.failure("The overview could not be read", error)))
        .then(() => {
          this.isAskingOverview = false;
          if (this.store.isClosed) return;
          if (width !== this.width) this.askOverview();
          this.invalidate();
        });
    }

    invalidate() {
      if (this.pending) return;
      this.pending = requestAnimationFrame(() => {
        this.pending = 0;
        this.draw();
      });
    }

    area() {
      const left = cs.PLACES.left;
      const right = this.width - cs.PLACES.bar;
      return {
        left,
        right,
        top: cs.TOP,
        bottom: this.height,
        rows: this.rows,
        index: this.index,
        colours: this.colours,
        scale: cs.scaleOf(this.view, left, right - left),
        yOf: (row) => cs.TOP + row.y - (row.isFixed ? 0 : this.scroll),
        depthOf: (row) => (row.kind === "lane" ? cs.depthOf(row.lane) : 1),
      };
    }

    draw() {
      const area = this.area();
      this.wanted = {
        view: this.view,
        width: area.right - area.left,
        lanes: this.visibleLanes(area),
        text: this.text,
        isMoving: performance.now() - this.moved[1] < MOVING_MS && this.moved[1] - this.moved[0] < MOVING_MS,
      };
      this.store.need(this.wanted);
      Object.assign(this.look, { budget: this.wanted.isMoving ? BUDGET_MS : Infinity, isLate: false });
      cs.drawFrame(this.context, {
        area,
        ratio: this.ratio,
        width: this.width,
        view: this.view,
        whole: this.whole,
        state: this.state,
        index: this.index,
        store: this.store,
        colours: this.colours,
        look: this.look,
        overview: this.overview,
        overlays: this.overlays,
        fixed: this.fixed,
        scroll: this.scroll,
        most: this.mostScroll(),
        height: this.rowsHeight,
        hoverRank: this.hoverRank,
        focusRow: this.focusRow,
      });
      this.store.fetchNames();
      if (this.hovered) cs.renewTip(this);
      this.frames += 1;
      if (this.look.isLate) this.invalidate();
    }

    visibleLanes(area) {
      return area.rows
        .filter((row) => row.kind === "lane")
        .filter((row) => area.yOf(row) < area.bottom + 80 && area.yOf(row) + row.height > area.top - 80)
        .map((row) => row.lane.id);
    }

    // Whether all that is shown is as fine as it can be.
    isRefined() {
      return Boolean(this.overview) && !this.look.isLate && !this.store.isAsking && !this.store.wanting(this.wanted).length;
    }

    mostScroll() {
      return Math.max(this.rowsHeight - (this.height - cs.TOP) + 4, 0);
    }

    scrollTo(y) {
      this.scroll = Math.min(Math.max(y, 0), this.mostScroll());
      this.invalidate();
    }

    scrollToRank(rank) {
      const row = this.rows.find((each) => each.kind === "lane" && each.rank === rank && !each.isFixed);
      if (!row) return;
      const room = this.height - cs.TOP;
      if (row.y < this.scroll || row.y + 70 > this.scroll + room) this.scrollTo(row.y - room / 3);
    }

    lookAt(view) {
      this.view = cs.inside(view, this.whole);
      this.moved = [this.moved[1], performance.now()];
      this.invalidate();
      clearTimeout(this.telling);
      this.telling = setTimeout(() => this.tellView(), TELL_MS);
      this.isTelling = true;
    }

    // Whether the page has still to be told of the last movement.
    isMoving() {
      return Boolean(this.pending) || Boolean(this.isTelling);
    }

    tellView() {
      this.isTelling = false;
      const viewport = { t0: Math.round(this.view.t0), t1: Math.round(this.view.t1) };
      this.told = viewport;
      this.tell({ viewport });
    }

    // Shows a range with a share of its length on each side.
    show(t0, t1, pad) {
      const length = Math.max(t1 - t0, 1);
      this.lookAt({ t0: t0 - pad * length, t1: t1 + pad * length });
    }

    change(state) {
      this.arrangeAs(state);
      this.tell({ view: this.state });
    }

    arrangeAs(state) {
      this.state = { ...this.state, ...state };
      this.arrange();
      if (state.hidden) this.relook();
      this.bar.paint();
    }
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
