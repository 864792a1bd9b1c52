// The bar above the timeline: what the colours mean (and which of them are shown), groups and ranks
// to show, the picture as a file. The search is the page's own field.
(function (cs) {
  "use strict";

  const BY = { host: "host", dp: "data parallel", tp: "tensor parallel", pp: "pipeline", ep: "expert" };
  const SEARCH_MS = 180;

  function button(parent, words, title, act) {
    const made = cs.element("button", "cs-button", parent, { type: "button", title });
    made.textContent = words;
    made.addEventListener("click", act);
    return made;
  }

  // A button a category: pressed while it is drawn.
  function buildLegend(engine, bar) {
    const legend = cs.element("div", "cs-legend", bar, { role: "group", "aria-label": "Kinds of events that are shown" });
    const shown = engine.present ? new Set(engine.present) : null;
    return engine.layout.categories
      .filter(({ id }) => !shown || shown.has(id))
      .map((category) => {
        const made = button(legend, "", "Show or hide", () =>
          engine.change({ hidden: cs.toggled(engine.state.hidden, category.id) })
        );
        made.className = "cs-kind";
        const swatch = cs.element("span", "cs-swatch", made);
        made.append(category.label || category.name);
        return { id: category.id, made, swatch, isHost: category.name.startsWith("host_") };
      });
  }

  function buildGroups(engine, bar) {
    const found = [...new Set(engine.layout.groups.map((group) => group.by))];
    if (engine.layout.ranks.length < 4 || !found.length) return null;
    const label = cs.element("label", "cs-field", bar);
    label.append("group by ");
    const select = cs.element("select", "", label);
    for (const by of ["", ...found]) {
      const option = cs.element("option", "", select, { value: by });
      option.textContent = by ? BY[by] || by : "nothing";
    }
    select.addEventListener("change", () => engine.change({ by: select.value, open: [] }));
    return select;
  }

  function buildRanks(engine, bar) {
    if (engine.layout.ranks.length < 2) return null;
    const label = cs.element("label", "cs-field", bar);
    label.append("ranks ");
    const input = cs.element("input", "", label, { type: "text", placeholder: "all", size: "8", title: "Ranks to show, such as 0,3,8-11" });
    const known = new Set(engine.layout.ranks.map((rank) => rank.rank));
    input.addEventListener("change", () => {
      const asked = cs.ranksOf(input.value);
      const ranks = asked && asked.filter((rank) => known.has(rank));
      const isWrong = !asked || (asked.length > 0 && !ranks.length);
      input.setAttribute("aria-invalid", String(isWrong));
      engine.say(isWrong ? "Ranks are written as 0,3,8-11, and have to be of this run." : "");
      if (!isWrong) engine.change({ ranks });
    });
    return input;
  }

  // The page's field: what is written there is searched for, Enter goes from one to the next.
  function bindSearch(engine, field) {
    let waiting = 0;
    const options = { signal: engine.stop.signal };
    engine.stop.signal.addEventListener("abort", () => clearTimeout(waiting));
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => engine.search(field.value), SEARCH_MS);
    }, options);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        clearTimeout(waiting);
        if (engine.text !== field.value.trim()) engine.search(field.value);
        cs.nextMatch(engine, event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape") {
        engine.search("");
        engine.canvas.focus();
      } else return;
      event.preventDefault();
    }, options);
  }

  // React keeps the value of its own fields: it has to hear of a change as of one that was typed.
  function write(field, words) {
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    setter.call(field, words);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  cs.buildBar = function (engine) {
    const element = cs.element("div", "cs-bar", engine.root);
    const legend = buildLegend(engine, element);
    const tools = cs.element("div", "cs-tools", element);
    const found = cs.element("span", "cs-found", tools, { role: "status" });
    const groups = buildGroups(engine, tools);
    const ranks = buildRanks(engine, tools);
    button(tools, "PNG", "Save the timeline as it is shown as a picture", () => cs.savePicture(engine));
    const search = document.getElementById("search");
    return {
      listen() {
        if (!search) return;
        if (engine.text && search.value !== engine.text) write(search, engine.text);
        bindSearch(engine, search);
      },
      // The categories that the legend has, but for those that are hidden.
      shown() {
        return legend.filter(({ id, made }) => !made.hidden && !engine.state.hidden.includes(id)).map(({ id }) => id);
      },
      showFound(words) {
        found.textContent = words;
      },
      showSearch(words) {
        if (search && search.value.trim() !== words) write(search, words);
      },
      paint() {
        const hasThreads = engine.rows && engine.rows.some((row) => row.kind === "lane" && row.lane.kind === "thread");
        for (const { id, made, swatch, isHost } of legend) {
          made.hidden = isHost && !hasThreads;
          made.setAttribute("aria-pressed", String(!engine.state.hidden.includes(id)));
          swatch.style.background = engine.colours.of(id).full.fill;
        }
        if (groups) groups.value = engine.state.by;
        if (ranks && document.activeElement !== ranks) ranks.value = engine.state.ranks.join(",");
      },
    };
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
