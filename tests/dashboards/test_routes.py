"""The routes of the timeline: what is asked wrongly is answered with 400 and a sentence."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import flask
import numpy as np
import pytest
from run_views import straggler
from werkzeug.test import TestResponse

from commscope.dashboards.data import decode
from commscope.dashboards.routes import register

Get = Callable[..., TestResponse]
LOD = {"v": 2, "run": 1, "t0": 0, "t1": 10**8, "px": 1000, "lanes": "0,1,2"}


@pytest.fixture(scope="module")
def get() -> Get:
    server = flask.Flask("test")
    register(server, [straggler().view.numbered(number) for number in (0, 1)])
    client = server.test_client()

    def ask(name: str, headers: dict[str, str] | None = None, **query: object) -> TestResponse:
        return client.get(f"/_cs/{name}", query_string=query, headers=headers)

    return ask


def test_a_window(get: Get) -> None:
    answer = get("lod", **LOD)
    assert (answer.status_code, answer.mimetype) == (200, "application/octet-stream")
    found = decode(answer.data)
    assert (found.run, found.t0, found.t1, found.px) == (1, 0, 10**8, 1000)
    wanted = straggler().view.query(0, 10**8, 1000, [0, 1, 2])
    assert [lane.lane for lane in found.lanes] == [0, 1, 2]
    for one, other in zip(found.lanes, wanted):
        assert np.array_equal(one.density, other.density)


def test_long_answers_are_packed_for_who_can_unpack_them(get: Get) -> None:
    every = ",".join(str(lane.id) for lane in straggler().view.lanes)
    query = {**LOD, "lanes": every}
    plain = get("lod", **query)
    packed = get("lod", headers={"Accept-Encoding": "gzip"}, **query)
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    short = get("lod", headers={"Accept-Encoding": "gzip"}, **{**LOD, "lanes": "1"})
    assert "Content-Encoding" not in short.headers
    assert "Accept-Encoding" in packed.headers["Vary"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"v": 1}, "v 1"),
        ({"v": ""}, "v: a whole number"),
        ({"run": 2}, "run 2"),
        ({"run": -1}, "run -1"),
        ({"run": "../etc"}, "run: a whole number"),
        ({"t0": "1e3"}, "t0: a whole number"),
        ({"t0": "\u0661"}, "t0: a whole number"),
        ({"t0": "9" * 40}, "t0: a whole number"),
        ({"t1": 0}, "end after"),
        ({"t1": 10**17}, "2^53"),
        ({"px": 0}, "px 0"),
        ({"px": 16_385}, "px 16385"),
        ({"lanes": "1,,2"}, "lanes: a whole number"),
        ({"lanes": "1;2"}, "lanes: a whole number"),
        ({"lanes": 5_000}, "lane 5000"),
        ({"lanes": ",".join("1" * 2_049)}, "at most 2,048"),
        ({"q": "x" * 201}, "200 characters"),
    ],
)
def test_bad_windows(get: Get, change: dict[str, object], says: str) -> None:
    answer = get("lod", **{**LOD, **change})
    assert answer.status_code == 400
    assert answer.mimetype == "text/plain"
    assert says in answer.text


def test_names(get: Get) -> None:
    names = get("names", run=0, ids="0,3").json["names"]
    assert names == {str(n): text for n, text in straggler().view.names([0, 3]).items()}
    assert get("names", ids="999999").status_code == 400
    assert get("names", ids=",".join("1" * 4_097)).status_code == 400


def test_next(get: Get) -> None:
    found = get("next", rank=0, t=0, what="step", dir=1).json
    assert (found["t0"], found["t1"]) == straggler().view.next(0, 0, "step", 1)
    assert get("next", rank=0, t=10**15, what="step", dir=1).json == {"t0": None, "t1": None}
    lane = get("next", rank=0, t=0, what="slice", dir=1, lane=2).json
    assert (lane["t0"], lane["t1"]) == straggler().view.next(0, 0, "slice", 1, 2)
    for bad in ({"rank": 5}, {"what": "x"}, {"dir": 0}, {"t": "now"}):
        query = {"rank": 0, "t": 0, "what": "step", "dir": 1, **bad}
        assert get("next", **query).status_code == 400


def test_what_is_near_a_click(get: Get) -> None:
    view = straggler().view
    lane = next(of for of in view.lanes if (of.kind, of.rank) == ("compute", 0))
    event = view.event(lane.id, 40)
    asked = {"lane": lane.id, "t": event.start, "slack": 0}
    found = get("near", **asked).json["near"]
    assert (found["event"], found["t0"]) == (40, event.start)
    assert found["t1"] - found["t0"] == event.dur
    assert get("near", **asked, below=event.dur).json["near"] is None
    assert get("near", **asked, hide=found["category"]).json["near"] is None
    for bad in ({"lane": 999}, {"slack": -1}, {"t": "now"}, {"below": "x"}):
        assert get("near", **{**asked, **bad}).status_code == 400


def test_search(get: Get) -> None:
    found = get("search", q="nccl").json
    wanted = straggler().view.matches("nccl")
    assert found == wanted.to_dict()
    following = get("search", q="nccl", t=found["first"]["t0"], dir=1).json["next"]
    assert following["t0"] > found["first"]["t0"]
    last = found["lanes"][-1]["id"]
    of_lane = get("search", q="nccl", t=-(10**9), dir=1, lanes=last).json["next"]
    assert of_lane["lane"] == last
    assert get("search", q="nccl", t=0, dir=1, lanes=999).status_code == 400
    assert get("search", q="").status_code == 400
    assert get("search", q="x" * 201).status_code == 400


def test_export_is_a_file(get: Get) -> None:
    answer = get("export", t0=0, t1=10**7, ranks="0", kind="csv")
    assert answer.headers["Content-Disposition"] == (
        'attachment; filename="selection_0_10000000.csv"'
    )
    assert answer.data == straggler().view.export(0, 10**7, [0], "csv")[1]
    assert get("export", t0=0, t1=10**7, ranks="0", kind="../x").status_code == 400
    assert get("export", t0=0, t1=10**7, ranks="9", kind="csv").status_code == 400


@pytest.mark.parametrize("name", ["lod", "names", "next", "near", "search", "export"])
def test_only_reading(name: str) -> None:
    server = flask.Flask("test")
    register(server, [straggler().view])
    assert server.test_client().post(f"/_cs/{name}").status_code == 405
