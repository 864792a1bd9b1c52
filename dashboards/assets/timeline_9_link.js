// The address says what is shown: ns since the run's origin, ranks and lanes, never rows of a table.
(function () {
  "use strict";

  const MOST_LISTED = 200; // an address is no place for more
  const MOST_MARKS = 50;

  function selectionOf(selection) {
    return selection ? `${Math.round(selection.t0)}-${Math.round(selection.t1)}` : "";
  }

  const everyOf = (values) => (values || []).join(","); // what would mean something else if cut
  const listOf = (values) => (values || []).slice(0, MOST_LISTED).join(",");
  const nameOf = (layout, id) => layout.categories.find((each) => each.id === id).name;

  // The ranks of a selection, where it is not of all.
  function selectedRanks(selection, layout) {
    const ranks = (selection && selection.ranks) || [];
    return ranks.length === layout.ranks.length ? "" : everyOf(ranks);
  }

  // An event by its rank, its lane (the kind, or a number where there may be several) and its times;
  // one time where the lane has no event.
  function eventOf(picked) {
    if (!picked || picked.event === undefined) return "";
    const { rank, lane, kind, event, t, t0, t1 } = picked;
    const times = event === null ? t : `${t0}-${t1}`;
    return `${rank}.${kind === "stream" || kind === "thread" ? lane : kind}.${times}`;
  }

  // How ranks are grouped, where it is not as they are at first.
  function groupsOf(by, layout) {
    const first = window.commscope_timeline.firstView(layout).by;
    return by === undefined || by === first ? "" : by || "none";
  }

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.commscope_timeline = {
    link: function (viewport, selection, view, query, instance, picked, finding, marks, layout) {
      const whole = layout || {};
      const isWhole = !viewport || (viewport.t0 <= whole.t0 && viewport.t1 >= whole.t1);
      const state = view || {};
      const parts = {
        run: whole.run ? String(whole.run) : "",
        t0: isWhole ? "" : String(viewport.t0),
        t1: isWhole ? "" : String(viewport.t1),
        sel: selectionOf(selection),
        selranks: selectedRanks(selection, whole),
        at: eventOf(picked),
        ranks: everyOf(state.ranks),
        q: query || "",
        marks: (marks || []).slice(0, MOST_MARKS).map(selectionOf).join(","),
        finding: finding ? finding.id : "",
        place: finding && finding.place ? String(finding.place) : "",
        inst: instance ? String(instance.number) : "",
        lanes: listOf(state.expanded),
        pin: listOf(state.pinned),
        fold: listOf(state.collapsed),
        hide: everyOf((state.hidden || []).map((id) => nameOf(whole, id))),
        by: groupsOf(state.by, whole),
        open: listOf(state.open),
      };
      const asked = new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== ""));
      const words = String(asked).replaceAll("%2C", ",").replaceAll("%3A", ":");
      const address = window.location.pathname + (words ? `?${words}` : "");
      if (/\/timeline\/?$/.test(window.location.pathname)) window.history.replaceState(window.history.state, "", address);
      return address;
    },
  };
})();
