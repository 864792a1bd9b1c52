// The timeline as a component of Dash: it gives properties to the engine and tells what changed.
(function (cs) {
  "use strict";

  const INTO = ["run", "base", "layout", "palette", "present", "viewport", "view", "query", "room", "picked", "marks", "stretch"];

  cs.Timeline = function (props) {
    const { React } = window;
    const root = React.useRef(null);
    const engine = React.useRef(null);
    const now = React.useRef(props);
    now.current = props;
    const { run, name, t0, t1 } = props.layout;
    const key = `${run} ${name} ${t0} ${t1}`;

    // Before the first paint, so that nothing below it moves.
    React.useLayoutEffect(() => {
      const given = Object.fromEntries(INTO.map((name) => [name, now.current[name]]));
      const tell = (changed) => now.current.setProps && now.current.setProps(changed);
      engine.current = new cs.Engine(root.current, { ...given, tell });
      engine.current.given = given.viewport;
      root.current.timeline = engine.current;
      return () => {
        engine.current.destroy();
        engine.current = null;
      };
    }, [key]);

    React.useEffect(() => {
      if (engine.current) engine.current.update(props);
    }, [key, props.viewport, props.view, props.query, props.goto, props.instance, props.flow, props.selection, props.stretch]);

    return React.createElement(
      "div",
      { id: props.id, className: "cs-timeline" },
      React.createElement("div", { ref: root })
    );
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
