// What came from the server: lanes of the view, names, answers to small questions. What is at hand
// is drawn at once; one request is under way, and the next asks for what is wanted then.
(function (cs) {
  "use strict";

  const MOST_NAMES = 200; // a request
  const MOST_LANES = 256; // a request
  const RETRY_MS = 1500; // and twice as long after each further failure
  const MOST_RETRY_MS = 60000;
  const REST_MS = 80;
  const MOST_KEPT = 512; // lanes whose answers, and images of them, are kept

  // What the server says is wrong: its own words where they are meant to be read, else the status.
  cs.wordsOf = async function (answer) {
    const isText = (answer.headers.get("Content-Type") || "").startsWith("text/plain");
    const words = isText ? (await answer.text()).trim().slice(0, 300) : "";
    return words || `${answer.status} ${answer.statusText}`;
  };

  // A failure in words; nothing where no answer came at all, which the header of the page says.
  cs.failure = (says, error) => (error.isUnanswered ? "" : `${says}: ${error.message}`);

  cs.Store = class Store {
    constructor(options) {
      this.base = options.base;
      this.run = options.run;
      this.whole = options.whole;
      this.changed = options.changed; // called when something new can be drawn
      this.failed = options.failed; // called with words
      this.fine = new Map(); // lane -> its latest answer
      this.coarse = new Map(); // lane -> its answer for the whole run
      this.names = new Map();
      this.missing = new Set();
      this.isAsking = false;
      this.isNaming = false;
      this.isClosed = false;
      this.answeredAt = -Infinity;
      this.failures = 0;
      this.answers = () => this.retry && this.retry();
      window.addEventListener("commscope-answers", this.answers);
    }

    url(route, values) {
      const query = new URLSearchParams({ run: this.run, ...values });
      return `${this.base}_cs/${route}?${query}`;
    }

    async ask(route, values) {
      const answer = await fetch(this.url(route, values), { credentials: "same-origin" }).catch((error) => {
        throw Object.assign(error, { isUnanswered: true });
      });
      if (!answer.ok) throw new Error(await cs.wordsOf(answer));
      return answer;
    }

    json(route, values) {
      return this.ask(route, values).then((answer) => answer.json());
    }

    // Lanes for which what is at hand is not as fine as the view needs it.
    wanting(wanted) {
      const column = cs.columnOf(wanted.view.t1 - wanted.view.t0, wanted.width);
      return wanted.lanes.filter((id) => {
        const lane = this.fine.get(id);
        return !(
          lane &&
          lane.text === wanted.text &&
          lane.column === column &&
          lane.t0 <= Math.max(wanted.view.t0, this.whole.t0) &&
          lane.t1 >= Math.min(wanted.view.t1, this.whole.t1)
        );
      });
    }

    // Asks for what the view lacks, unless an answer is still to come: that one looks again.
    need(wanted) {
      this.wanted = wanted;
      if (this.isAsking || this.isClosed || this.rests(wanted)) return;
      const lanes = this.wanting(wanted).slice(0, MOST_LANES);
      if (!lanes.length) return;
      this.isAsking = true;
      this.fetchLanes(lanes, wanted)
        .then((found) => {
          this.answeredAt = performance.now();
          this.failures = 0;
          this.keep(found);
          this.failed("");
          this.again();
        })
        .catch((error) => {
          if (this.isClosed) return;
          this.failed(cs.failure("The view could not be refined", error));
          this.later();
        });
    }

    // Asks again after a pause, or as soon as the server is known to answer.
    later() {
      this.retry = () => {
        clearTimeout(this.resting);
        this.retry = null;
        this.again();
      };
      clearTimeout(this.resting);
      this.resting = setTimeout(this.retry, Math.min(RETRY_MS * 2 ** this.failures, MOST_RETRY_MS));
      this.failures += 1;
    }

    // While the view moves there is a pause after each answer, for frames to be drawn.
    rests(wanted) {
      const left = REST_MS - (performance.now() - this.answeredAt);
      if (!wanted.isMoving || left <= 0) return false;
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.need({ ...this.wanted, isMoving: false }), left);
      return true;
    }

    again() {
      this.isAsking = false;
      if (this.isClosed) return;
      this.changed();
      this.need(this.wanted);
    }

    async fetchLanes(lanes, wanted) {
      const asked = cs.windowOf(wanted.view, wanted.width, this.whole);
      const values = { v: 2, t0: asked.t0, t1: asked.t1, px: asked.px, lanes: lanes.join(",") };
      if (wanted.text) values.q = wanted.text;
      const answer = await this.ask("lod", values);
      return cs.decode(await answer.arrayBuffer(), wanted.text);
    }

    keep(found) {
      for (const lane of found) {
        const old = this.fine.get(lane.id);
        lane.before = old ? old.before || old : null;
        this.fine.delete(lane.id); // so that the lane comes last in the map
        this.fine.set(lane.id, lane);
        if (lane.t0 <= this.whole.t0 && lane.t1 >= this.whole.t1) this.coarse.set(lane.id, lane);
        else if (this.coarse.get(lane.id)?.text !== lane.text) this.coarse.delete(lane.id);
      }
      this.forget();
    }

    // Drops lanes that were scrolled away, those first that have been at rest for longest.
    forget() {
      for (const id of [...this.fine.keys()].slice(0, -MOST_KEPT)) {
        if (this.wanted.lanes.includes(id)) continue;
        this.fine.delete(id);
        this.coarse.delete(id);
      }
    }

    // The minimap: lane 0 over the whole run, asked for once a width.
    async overview(width) {
      const whole = { view: this.whole, width, text: "" };
      const [lane] = await this.fetchLanes([0], whole);
      return lane;
    }

    // A name, or nothing yet: it is asked for, with all others that are missed in this frame.
    name(id) {
      const known = this.names.get(id);
      if (known === undefined) this.missing.add(id);
      return known;
    }

    fetchNames() {
      if (this.isNaming || !this.missing.size || this.isClosed) return;
      const ids = [...this.missing].slice(0, MOST_NAMES);
      this.isNaming = true;
      this.json("names", { ids: ids.join(",") })
        .then(
          ({ names }) => this.keepNames(ids, names),
          (error) => {
            if (!error.isUnanswered) this.keepNames(ids, {});
            this.failed(cs.failure("Names could not be read", error));
          }
        )
        .then(() => {
          this.isNaming = false;
          if (!this.isClosed && !this.failures) this.changed();
        });
    }

    keepNames(ids, names) {
      for (const id of ids) {
        this.names.set(id, String(names[id] || ""));
        this.missing.delete(id);
      }
    }

    close() {
      clearTimeout(this.resting);
      window.removeEventListener("commscope-answers", this.answers);
      this.isClosed = true;
    }
  };
})((window.commscope_timeline = window.commscope_timeline || {}));
