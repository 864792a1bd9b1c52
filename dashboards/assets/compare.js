// Two timelines of which each shows what the other one does, aligned by step.
(function () {
  "use strict";

  var ANSWER_MS = 1000;
  // What a timeline was asked to show it tells again, maybe cut at the ends of its run: that is no
  // movement of a person, and moves nothing.
  var asked = {};

  function isAnswer(name) {
    var at = asked[name];
    delete asked[name];
    return at !== undefined && Date.now() - at < ANSWER_MS;
  }

  // The step of a run that is under a time; before the first one that is the first.
  function stepAt(steps, side, at) {
    var found = 0;
    for (var place = 0; place < steps.length && steps[place][side] <= at; place += 1) { found = place; }
    return found;
  }

  // What is to be added to a time of the base for that of the new run.
  function shiftFor(view, side, coupling) {
    if (!coupling.steps.length || view.t1 - view.t0 >= coupling.length) { return coupling.shift; }
    var step = coupling.steps[stepAt(coupling.steps, side, (view.t0 + view.t1) / 2)];
    return step[1] - step[0];
  }

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.commscope_compare = {
    coupled: function (base, next, coupling, baseId) {
      var none = window.dash_clientside.no_update;
      var changed = window.dash_clientside.callback_context.triggered.map(function (each) {
        return each.prop_id.split(".")[0];
      });
      if (changed.length !== 1 || isAnswer(changed[0])) { return [none, none]; }
      var isBase = changed[0] === baseId, view = isBase ? base : next;
      if (!view) { return [none, none]; }
      var shift = shiftFor(view, isBase ? 0 : 1, coupling), by = isBase ? shift : -shift;
      var moved = { t0: view.t0 + by, t1: view.t1 + by };
      asked[isBase ? "compare-new-timeline" : baseId] = Date.now();
      return isBase ? [none, moved] : [moved, none];
    },
    // The address says what both sides show.
    link: function (base, next) {
      var none = window.dash_clientside.no_update;
      if (!base || !next || !/\/compare\/?$/.test(window.location.pathname)) { return none; }
      var asked = new URLSearchParams(window.location.search);
      asked.set("zoom", [base, next].map(function (view) {
        return Math.round(view.t0) + "-" + Math.round(view.t1);
      }).join());
      var address = window.location.pathname + "?" + String(asked).replace(/%2C/g, ",");
      window.history.replaceState(window.history.state, "", address);
      return address;
    }
  };
})();
