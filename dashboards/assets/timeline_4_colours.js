// Colours: those of the page's style sheet, and one a category, in the theme that is shown.
(function (cs) {
  "use strict";

  const PAGE = ["paper", "card", "line", "ink", "dim", "link", "mark"]; // of the style sheet
  const FOUND = { light: "#c026d3", dark: "#e879f9" };
  const FADED = 0.28; // of what a search did not find

  // A colour written as #rgb or #rrggbb, as three numbers.
  function parts(colour) {
    const hex = colour.trim().replace("#", "");
    const long = hex.length === 3 ? [...hex].map((digit) => digit + digit).join("") : hex;
    return [0, 2, 4].map((at) => parseInt(long.slice(at, at + 2), 16) || 0);
  }

  function mixed(colour, paper, share) {
    const [over, under] = [parts(colour), parts(paper)];
    const bytes = over.map((value, i) => Math.round(value * share + under[i] * (1 - share)));
    return `#${bytes.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
  }

  function textOn(colour) {
    const [red, green, blue] = parts(colour);
    return 0.299 * red + 0.587 * green + 0.114 * blue > 150 ? "#10161d" : "#ffffff";
  }

  function categoryOf(colour, paper) {
    const faded = mixed(colour, paper, FADED);
    return {
      full: { fill: colour, text: textOn(colour), bytes: parts(colour) },
      faded: { fill: faded, text: textOn(faded), bytes: parts(faded) },
    };
  }

  cs.coloursOf = function (palette, categories, element) {
    const theme = window.commscope_theme();
    const style = getComputedStyle(element);
    const page = Object.fromEntries(PAGE.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    const byCategory = new Map(
      categories.map(({ id, name }) => [id, categoryOf(palette[name][theme], page.paper)])
    );
    const found = FOUND[theme];
    return {
      ...page,
      found: { fill: found, text: textOn(found), bytes: parts(found) },
      of: (category) => byCategory.get(category),
    };
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
