// The timeline as a component of Dash: it gives properties to the engine and tells what changed.
(function (cs) {
  "use strict";

  const INTO = ["run", "base", "palette", "present", "theme", "viewport", "view", "query", "room"];

  cs.Timeline = function (props) {
    const { React } = window;
    const root = React.useRef(null);
    const engine = React.useRef(null);
    const now = React.useRef(props);
    const [fetched, setFetched] = React.useState(null);
    const [failure, setFailure] = React.useState("");
    now.current = props;
    const layout = props.layout || (fetched && fetched.run === props.run ? fetched : null);
    const key = layout ? `${layout.run} ${layout.name} ${layout.t0} ${layout.t1}` : "";

    React.useEffect(() => {
      if (layout) return;
      fetch(`${props.base || "/"}_cs/layout?run=${Number(props.run) || 0}`, { credentials: "same-origin" })
        .then((answer) =>
          answer.ok ? answer.json() : cs.wordsOf(answer).then((words) => Promise.reject(new Error(words)))
        )
        .then(setFetched, (error) => setFailure(`The timeline could not be read: ${error.message}`));
    }, [props.run, Boolean(layout)]);

    // Before the first paint, so that nothing below it moves.
    React.useLayoutEffect(() => {
      if (!layout) return undefined;
      const given = Object.fromEntries(INTO.map((name) => [name, now.current[name]]));
      const tell = (changed) => now.current.setProps && now.current.setProps(changed);
      engine.current = new cs.Engine(root.current, { ...given, layout, tell });
      engine.current.given = given.viewport;
      root.current.timeline = engine.current;
      return () => {
        engine.current.destroy();
        engine.current = null;
      };
    }, [key]);

    React.useEffect(() => {
      if (engine.current) engine.current.update(props);
    }, [key, props.viewport, props.view, props.query, props.goto, props.instance, props.flow, props.marks, props.selection, props.theme]);

    const words = failure || (layout ? null : "Reading the timeline\u2026");
    return React.createElement(
      "div",
      { id: props.id, className: "cs-timeline" },
      words && React.createElement("p", { className: "cs-words", role: "status" }, words),
      React.createElement("div", { ref: root })
    );
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
