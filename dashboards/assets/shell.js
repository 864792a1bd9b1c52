// The shell of the app: theme, help, and the keys that work on every page.
(function () {
  "use strict";
  var root = document.documentElement, key = "commscope-theme";
  var system = matchMedia("(prefers-color-scheme: dark)");

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  }
  // The theme that is on, for charts and the timeline: what was chosen, else what the system says.
  window.commscope_theme = function () { return isDark() ? "dark" : "light"; };
  function store(theme) {
    try { localStorage.setItem(key, theme); } catch (error) { /* a private window forgets it */ }
  }
  // Tells the app which theme is on, and the button which one it would put on.
  function tell() {
    var button = document.getElementById("theme-button");
    if (!button || !window.dash_clientside || !window.dash_clientside.set_props) { return false; }
    window.dash_clientside.set_props("theme", { data: window.commscope_theme() });
    button.textContent = isDark() ? "Light" : "Dark";
    return true;
  }
  function toggle() {
    root.dataset.theme = isDark() ? "light" : "dark";
    store(root.dataset.theme);
    tell();
  }
  function openHelp() {
    var help = document.getElementById("help");
    if (help && !help.open) { help.showModal(); }
  }
  function closeHelp() {
    var help = document.getElementById("help");
    if (help && help.open) { help.close(); }
  }
  function isTyping(target) {
    return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  }
  function find(id, target) { return target.closest && target.closest("#" + id); }

  document.addEventListener("click", function (event) {
    if (find("theme-button", event.target)) { toggle(); }
    if (find("help-button", event.target)) { openHelp(); }
    // The dialog itself is hit only beside what it holds.
    if (find("help-close", event.target) || event.target.id === "help") { closeHelp(); }
    if (event.target.classList && event.target.classList.contains("skip")) {
      event.preventDefault();
      // Of the timeline that is the canvas, which has the keys.
      (document.querySelector("#content .cs-canvas") || document.getElementById("content")).focus();
    }
  });
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    var search = document.getElementById("search");
    if (event.target === search && event.key === "Escape") { search.blur(); }
    if (isTyping(event.target)) { return; }
    if (event.key === "?") { openHelp(); event.preventDefault(); }
    if (event.key === "/" && search) { search.focus(); search.select(); event.preventDefault(); }
  });
  system.addEventListener("change", tell);

  // The header comes with the first layout: after that nothing needs to be waited for.
  var waiting = new MutationObserver(function () { if (tell()) { waiting.disconnect(); } });
  waiting.observe(document, { childList: true, subtree: true });

  // Every page begins at its top, and is told to those who do not see it.
  function arrived() {
    var heading = document.querySelector("#content h1");
    document.title = (heading ? heading.textContent + " - " : "") + "commscope";
  }
  document.addEventListener("DOMContentLoaded", function () {
    var path = location.pathname;
    new MutationObserver(function () {
      arrived();
      if (location.pathname !== path) { path = location.pathname; scrollTo(0, 0); }
    }).observe(document.body, { childList: true, subtree: true });
  });
})();
