// Charts in the colours of the theme: figures come in the light ones and bring the dark ones along.
(function () {
  "use strict";

  function recoloured(value, colours) {
    if (typeof value === "string") {
      return Object.prototype.hasOwnProperty.call(colours, value) ? colours[value] : value;
    }
    if (Array.isArray(value)) {
      // Long lists of numbers hold no colour; the two of a scale's stop do.
      var isPlain = value.length > 8 && typeof value[0] === "number";
      return isPlain ? value : value.map(function (each) { return recoloured(each, colours); });
    }
    if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) { return value; }
    var copy = {};
    Object.keys(value).forEach(function (key) {
      copy[key] = key === "meta" || key === "bdata" ? value[key] : recoloured(value[key], colours);
    });
    return copy;
  }

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.commscope_charts = {
    coloured: function (figure) {
      if (!figure) { return window.dash_clientside.no_update; }
      var isDark = window.commscope_theme() === "dark";
      var colours = isDark && figure.layout.meta ? figure.layout.meta.dark : {};
      return recoloured(figure, colours);
    }
  };
})();
