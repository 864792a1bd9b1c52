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
  function value(row, place) {
    var cell = row.cells[place];
    return cell.hasAttribute("data-v") ? Number(cell.getAttribute("data-v")) : cell.textContent;
  }
  function isMissing(row, place) { return row.cells[place].classList.contains("missing"); }
  function compare(a, b) {
    return typeof a === "number" && typeof b === "number" ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });
  }
  function sort(head) {
    var body = head.closest("table").tBodies[0], place = head.cellIndex;
    var now = head.getAttribute("aria-sort"), first = head.classList.contains("n") ? -1 : 1;
    var way = now ? (now === "ascending" ? -1 : 1) : first;
    var rows = Array.prototype.slice.call(body.rows);
    rows.sort(function (a, b) {
      var gone = isMissing(a, place) - isMissing(b, place);
      return gone || way * compare(value(a, place), value(b, place));
    });
    rows.forEach(function (row) { body.appendChild(row); });
    Array.prototype.forEach.call(head.parentNode.cells, function (cell) {
      cell.removeAttribute("aria-sort");
    });
    head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
  }
  function makeSortable(head) {
    var button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) { button.appendChild(head.firstChild); }
    button.addEventListener("click", function () { sort(head); });
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
    document.querySelectorAll("table.sortable thead th").forEach(makeSortable);
  });
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (part) { part.open = true; });
  });
})();
