// Says in the header when the server does not answer any more, or is another one by now.
(function () {
  "use strict";
  var ENDED = "commscope dash has ended; start it again. This page looks for it meanwhile.";
  var RENEWED = "commscope dash was started again: open the address that it printed.";
  var FAILED = "commscope dash failed at this; its terminal says why.";
  var BACK = "commscope dash answers again. ";
  var FIRST_MS = 1500, MOST_MS = 30000; // from one look to the next, twice as long each time
  var ask = window.fetch, shown = "", looking = 0;

  function show(words, link) {
    var dash = window.dash_clientside;
    if (words === shown || !dash || !dash.set_props) { return; }
    shown = words;
    dash.set_props("server-state", { children: link ? [words, link] : words });
  }
  function wordsOf(status) {
    return status === 403 ? RENEWED : status >= 500 ? FAILED : "";
  }
  function urlOf(target) { return new URL(target && target.url ? target.url : String(target), location.href); }
  function isOwn(target) {
    var url = urlOf(target);
    return url.origin === location.origin && /\/_(cs\/|dash-)/.test(url.pathname);
  }
  function reload() {
    var link = { href: location.href, children: "Load this page again" };
    return { namespace: "dash_html_components", type: "A", props: link };
  }
  // Whatever was asked for before shows below which path the server lives.
  function look(base, pause) {
    looking = setTimeout(function () {
      ask(base + "_cs/names?ids=", { credentials: "same-origin" }).then(
        function (got) { looking = 0; found(got.status); },
        function () { look(base, Math.min(2 * pause, MOST_MS)); }
      );
    }, pause);
  }
  // The page may be of another run or version: it is the reader who loads it again.
  function found(status) {
    var words = wordsOf(status);
    show(words || BACK, words ? null : reload());
    if (!words) { window.dispatchEvent(new Event("commscope-answers")); }
  }
  function ended(target) {
    show(ENDED);
    if (!looking) { look(urlOf(target).pathname.replace(/_(cs\/|dash-).*/, ""), FIRST_MS); }
  }

  // Both Dash and the timeline ask by this function. A request that was given up tells nothing.
  window.fetch = function (target) {
    var answer = ask.apply(this, arguments);
    if (!isOwn(target)) { return answer; }
    answer.then(
      function (got) { if (!looking && shown !== BACK) { show(wordsOf(got.status)); } },
      function (error) { if (error.name !== "AbortError") { ended(target); } }
    );
    return answer;
  };
})();
