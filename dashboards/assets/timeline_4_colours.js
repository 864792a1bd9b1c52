// Colours: those of the page's style sheet, and one a category, in the theme that is shown.
(function (cs) {
  "use strict";

  const PLAIN = {
    light: { paper: "#fff", card: "#f6f8fa", line: "#d8dee4", ink: "#1f2328", dim: "#57606a", link: "#0a58b0", mark: "#1f2328", compute: "#3b6fb6", exposed: "#d9601a" },
    dark: { paper: "#0f1419", card: "#171d24", line: "#2c343d", ink: "#e6edf3", dim: "#9aa5b1", link: "#7fb2f0", mark: "#fff", compute: "#5a8fd6", exposed: "#ee7a33" },
  };
  const UNKNOWN = { light: "#8fa3b8", dark: "#7488a0" };
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
    const channels = (each) => parts(each);
    return {
      full: { fill: colour, text: textOn(colour), bytes: channels(colour) },
      faded: { fill: faded, text: textOn(faded), bytes: channels(faded) },
    };
  }

  // The theme of the page: what was chosen, else what the system says.
  cs.themeOf = function (asked) {
    const chosen = asked || document.documentElement.dataset.theme;
    if (chosen === "light" || chosen === "dark") return chosen;
    return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  };

  cs.coloursOf = function (theme, palette, categories, element) {
    const style = getComputedStyle(element);
    const of = (name) => {
      const value = style.getPropertyValue(`--${name}`).trim();
      return /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value) ? value : PLAIN[theme][name];
    };
    const page = Object.fromEntries(Object.keys(PLAIN[theme]).map((name) => [name, of(name)]));
    const byCategory = new Map(
      categories.map(({ id, name }) => {
        const chosen = (palette || {})[name];
        const colour = chosen ? chosen[theme] : of(name) || UNKNOWN[theme];
        return [id, categoryOf(colour, page.paper)];
      })
    );
    const found = FOUND[theme];
    return {
      ...page,
      theme,
      found: { fill: found, text: textOn(found), bytes: parts(found) },
      of: (category) => byCategory.get(category) || categoryOf(UNKNOWN[theme], page.paper),
    };
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
