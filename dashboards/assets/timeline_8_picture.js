// The timeline as a picture: with the run and the window above it, and what its colours mean below.
(function (cs) {
  "use strict";

  const HEAD = 34;
  const LINE = 22;
  const MARGIN = 12;
  const SWATCH = 11;
  const FONT = "12px ui-sans-serif, system-ui, sans-serif";
  const TITLE = "600 13px ui-sans-serif, system-ui, sans-serif";

  // Run and window in words.
  cs.pictureWords = function (engine) {
    const { t0, t1 } = engine.view;
    const step = (t1 - t0) / 1000;
    const window = `${cs.moment(t0, step)} to ${cs.moment(t1, step)} (${cs.span(t1 - t0)})`;
    return [engine.layout.name, engine.text ? `${window}, search: ${engine.text}` : window];
  };

  // The categories that are drawn, as the legend shows them.
  function shownKinds(engine) {
    return engine.bar.shown().map((id) => engine.layout.categories.find((each) => each.id === id));
  }

  // Places of the legend's entries, in lines that are no longer than the picture is wide.
  function placed(context, kinds, width) {
    context.font = FONT;
    let [x, line] = [MARGIN, 0];
    return kinds.map((kind) => {
      const words = kind.label || kind.name;
      const wide = SWATCH + 6 + context.measureText(words).width + 18;
      if (x > MARGIN && x + wide > width - MARGIN) [x, line] = [MARGIN, line + 1];
      const place = { id: kind.id, words, x, line };
      x += wide;
      return place;
    });
  }

  function drawHead(context, engine, width) {
    const [name, window] = cs.pictureWords(engine);
    context.textBaseline = "middle";
    context.fillStyle = engine.colours.ink;
    context.font = TITLE;
    context.fillText(name, MARGIN, HEAD / 2, width / 2);
    const after = MARGIN + Math.min(context.measureText(name).width, width / 2) + 16;
    context.fillStyle = engine.colours.dim;
    context.font = FONT;
    context.fillText(window, after, HEAD / 2);
  }

  function drawLegend(context, engine, places, top) {
    context.font = FONT;
    for (const { id, words, x, line } of places) {
      const middle = top + LINE * (line + 0.5);
      context.fillStyle = engine.colours.of(id).full.fill;
      context.fillRect(x, middle - SWATCH / 2, SWATCH, SWATCH);
      context.fillStyle = engine.colours.ink;
      context.fillText(words, x + SWATCH + 6, middle);
    }
  }

  cs.pictureOf = function (engine) {
    const { canvas, ratio, width, height, colours } = engine;
    const picture = document.createElement("canvas");
    const context = picture.getContext("2d");
    const places = placed(context, shownKinds(engine), width);
    const lines = places.length ? places[places.length - 1].line + 1 : 0;
    picture.width = canvas.width;
    picture.height = Math.round((HEAD + height + LINE * lines + MARGIN) * ratio);
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, picture.width, picture.height);
    context.drawImage(canvas, 0, Math.round(HEAD * ratio));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawHead(context, engine, width);
    drawLegend(context, engine, places, HEAD + height + MARGIN / 2);
    return picture;
  };

  cs.savePicture = function (engine) {
    cs.pictureOf(engine).toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = `timeline_${Math.round(engine.view.t0)}_${Math.round(engine.view.t1)}.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
