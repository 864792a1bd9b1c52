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

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.commscope_compare = {
    coupled: function (base, next, shift, baseId) {
      var none = window.dash_clientside.no_update;
      var changed = window.dash_clientside.callback_context.triggered.map(function (each) {
        return each.prop_id.split(".")[0];
      });
      if (changed.length !== 1 || isAnswer(changed[0])) { return [none, none]; }
      var isBase = changed[0] === baseId, view = isBase ? base : next;
      if (!view) { return [none, none]; }
      var by = isBase ? shift : -shift;
      var moved = { t0: view.t0 + by, t1: view.t1 + by };
      asked[isBase ? "compare-new-timeline" : baseId] = Date.now();
      return isBase ? [none, moved] : [moved, none];
    }
  };
})();
