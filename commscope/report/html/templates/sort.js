// Tables that sort by a click on the button in a head; the report and the app have it.
(function () {
  "use strict";
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
  document.addEventListener("click", function (event) {
    var head = event.target.closest && event.target.closest("table.sortable thead th");
    if (head && event.target.closest("button")) { sort(head); }
  });
})();
