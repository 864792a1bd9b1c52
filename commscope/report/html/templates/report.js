(function () {
  "use strict";
  var root = document.documentElement, key = "commscope-theme";

  function stored() {
    try { return localStorage.getItem(key); } catch (error) { return null; }
  }
  function store(theme) {
    try { localStorage.setItem(key, theme); } catch (error) { /* a private window forgets it */ }
  }
  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
  }
  function makeButton(head) {
    var button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) { button.appendChild(head.firstChild); }
    head.appendChild(button);
  }
  function makeToggle(button) {
    function show() { button.textContent = isDark() ? "Light theme" : "Dark theme"; }
    button.hidden = false;
    button.addEventListener("click", function () {
      root.dataset.theme = isDark() ? "light" : "dark";
      store(root.dataset.theme);
      show();
    });
    show();
  }

  var theme = stored();
  if (theme === "light" || theme === "dark") { root.dataset.theme = theme; }
  document.addEventListener("DOMContentLoaded", function () {
    makeToggle(document.getElementById("theme"));
    document.querySelectorAll("table.sortable thead th").forEach(makeButton);
  });
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (part) { part.open = true; });
  });
})();
