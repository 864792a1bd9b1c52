// The cells of long tables.
(function () {
  "use strict";

  var cells = window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {};
  cells.CommscopeCell = function (props) {
    var row = props.data || {}, href = row["l" + props.place], words = row["t" + props.place] || "";
    return href ? window.React.createElement("a", { href: href }, words) : words;
  };
})();
