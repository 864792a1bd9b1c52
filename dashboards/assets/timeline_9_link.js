// The address says what is shown: ns since the run's origin, ranks and lanes, never rows of a table.
(function () {
  "use strict";

  const MOST_LANES = 200; // an address is no place for more

  function selectionOf(selection) {
    return selection ? `${Math.round(selection.t0)}-${Math.round(selection.t1)}` : "";
  }

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.commscope_timeline = {
    link: function (viewport, selection, view, query, instance, layout) {
      const whole = layout || {};
      const isWhole = !viewport || (viewport.t0 <= whole.t0 && viewport.t1 >= whole.t1);
      const state = view || {};
      const parts = {
        run: whole.run ? String(whole.run) : "",
        t0: isWhole ? "" : String(viewport.t0),
        t1: isWhole ? "" : String(viewport.t1),
        sel: selectionOf(selection),
        ranks: (state.ranks || []).join(","),
        q: query || "",
        inst: instance ? String(instance.number) : "",
        lanes: (state.expanded || []).slice(0, MOST_LANES).join(","),
      };
      const asked = new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== ""));
      const words = String(asked).replaceAll("%2C", ",");
      const address = window.location.pathname + (words ? `?${words}` : "");
      if (/\/timeline\/?$/.test(window.location.pathname)) window.history.replaceState(window.history.state, "", address);
      return address;
    },
  };
})();
