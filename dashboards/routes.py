"""The routes that the timeline asks for data: numbers of runs and lanes in, never a path."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, cast

import flask

from commscope.dashboards.data.checks import require
from commscope.dashboards.data.moments import Aim
from commscope.dashboards.data.searching import match_dict
from commscope.dashboards.data.view import MOST_LANES, MOST_NS, MOST_TEXT, Moves, RunView
from commscope.dashboards.data.wire import VERSION, Answer, encode
from commscope.errors import UsageError

PREFIX = "/_cs"
MOST_NAMES = 4_096
#: Shorter answers are sent as they are: packing them takes longer than sending.
_PACKED_FROM = 32_000
#: The lowest: higher ones take several times as long for a tenth less.
_GZIP_LEVEL = 1
_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)

_Handler = Callable[[Sequence[RunView]], flask.Response]


def register(server: flask.Flask, runs: Sequence[RunView]) -> None:
    """Adds the routes to a server; what is asked wrongly is answered with 400 and a sentence."""
    handlers: dict[str, _Handler] = {
        "lod": _lod,
        "names": _names,
        "next": _next,
        "near": _near,
        "search": _search,
        "export": _export,
    }
    for name, handler in handlers.items():
        server.add_url_rule(
            f"{PREFIX}/{name}", f"commscope_{name}", _checked(handler, runs), methods=["GET"]
        )


def _checked(handler: _Handler, runs: Sequence[RunView]) -> Callable[[], flask.Response]:
    def answer() -> flask.Response:
        try:
            return handler(runs)
        except UsageError as error:
            return flask.Response(f"{error}\n", 400, mimetype="text/plain")

    return answer


def _lod(runs: Sequence[RunView]) -> flask.Response:
    version = _integer("v")
    require(version == VERSION, f"v {version}: this server speaks {VERSION}")
    view = _run(runs)
    t0, t1, px = _integer("t0"), _integer("t1"), _integer("px")
    lanes = view.query(t0, t1, px, _integers("lanes", MOST_LANES), _text())
    data = encode(Answer(view.layout.run, t0, t1, px, tuple(lanes)))
    return _packed(flask.Response(data, mimetype="application/octet-stream"))


def _names(runs: Sequence[RunView]) -> flask.Response:
    names = _run(runs).names(_integers("ids", MOST_NAMES))
    return _json({"names": {str(number): name for number, name in names.items()}})


def _next(runs: Sequence[RunView]) -> flask.Response:
    view = _run(runs)
    lane = _integer("lane", -1)
    what = flask.request.args.get("what", "")
    found = view.next(
        _integer("rank"), _integer("t"), cast("Moves", what), _integer("dir"),
        None if lane < 0 else lane,
    )  # fmt: skip
    return _json({"t0": found[0], "t1": found[1]} if found else {"t0": None, "t1": None})


def _near(runs: Sequence[RunView]) -> flask.Response:
    """What a click in a lane is meant for, where it hit no rectangle."""
    below, hidden = _integer("below", MOST_NS), _integers("hide", MOST_NAMES)
    aim = Aim(_integer("t"), _integer("slack"), below, hidden)
    found = _run(runs).near(_integer("lane"), aim)
    return _json({"near": asdict(found) if found else None})


def _search(runs: Sequence[RunView]) -> flask.Response:
    """All matches; with a time, only the one that follows it, of some lanes or of all."""
    view, text = _run(runs), _text()
    if "t" not in flask.request.args:
        return _json(view.matches(text).to_dict())
    lanes = _integers("lanes", MOST_LANES)
    found = view.next_match(text, _integer("t"), _integer("dir"), lanes)
    return _json({"next": match_dict(found) if found else None})


def _export(runs: Sequence[RunView]) -> flask.Response:
    view = _run(runs)
    kind = flask.request.args.get("kind", "")
    window = _integer("t0"), _integer("t1")
    name, data = view.export(*window, _integers("ranks", MOST_LANES), kind)
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return flask.Response(data, mimetype="application/octet-stream", headers=headers)


def _run(runs: Sequence[RunView]) -> RunView:
    number = _integer("run", 0)
    require(0 <= number < len(runs), f"run {number}: there are {len(runs)}")
    return runs[number]


def _integer(name: str, default: int | None = None) -> int:
    text = flask.request.args.get(name)
    if text is None and default is not None:
        return default
    return _as_integer(name, text or "")


def _integers(name: str, most: int) -> list[int]:
    """Numbers with commas between; none where the parameter is empty."""
    text = flask.request.args.get(name, "")
    parts = text.split(",", most + 1) if text else []
    require(len(parts) <= most, f"{name}: at most {most:,} numbers")
    return [_as_integer(name, part) for part in parts]


def _as_integer(name: str, text: str) -> int:
    require(_INTEGER.fullmatch(text) is not None, f"{name}: a whole number is needed")
    return int(text)


def _text() -> str:
    text = flask.request.args.get("q", "")
    require(len(text) <= MOST_TEXT, f"q: at most {MOST_TEXT} characters")
    return text


def _json(document: dict[str, Any]) -> flask.Response:
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return _packed(flask.Response(text, mimetype="application/json"))


def _packed(response: flask.Response) -> flask.Response:
    """The answer, packed where it is long and the browser can unpack it."""
    data = response.get_data()
    response.headers["Cache-Control"] = "no-store"
    response.vary.add("Accept-Encoding")
    if len(data) > _PACKED_FROM and flask.request.accept_encodings["gzip"] > 0:
        response.set_data(gzip.compress(data, _GZIP_LEVEL, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    return response
