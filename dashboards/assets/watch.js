// Says in the header when the server does not answer any more, or is another one by now.
(function () {
  "use strict";
  var ENDED = "The server has ended; start it again.";
  var RENEWED = "The server was started again: open the address that it printed.";
  var FAILED = "The server failed at this; its terminal says why.";
  var ask = window.fetch, shown = "";

  function show(words) {
    var dash = window.dash_clientside;
    if (words === shown || !dash || !dash.set_props) { return; }
    shown = words;
    dash.set_props("server-state", { children: words });
  }
  function wordsOf(status) {
    return status === 403 ? RENEWED : status >= 500 ? FAILED : "";
  }
  function isOwn(target) {
    var url = new URL(target && target.url ? target.url : String(target), location.href);
    return url.origin === location.origin && /\/_(cs\/|dash-)/.test(url.pathname);
  }

  // Both Dash and the timeline ask by this function. A request that was given up tells nothing.
  window.fetch = function (target) {
    var answer = ask.apply(this, arguments);
    if (!isOwn(target)) { return answer; }
    answer.then(
      function (got) { show(wordsOf(got.status)); },
      function (error) { if (error.name !== "AbortError") { show(ENDED); } }
    );
    return answer;
  };
})();
