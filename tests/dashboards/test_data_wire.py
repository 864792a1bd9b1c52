"""Views as bytes and back, as the browser reads them."""

from __future__ import annotations

import json
import struct
from dataclasses import fields

import numpy as np
import pytest
from run_views import straggler

from commscope.dashboards.data import Answer, LaneView, decode, encode


def answer(text: str = "") -> Answer:
    view = straggler().view
    t0, t1 = view.layout.t0, view.layout.t1
    numbers = [0, *(lane.id for lane in view.lanes)]
    return Answer(0, t0, t1, 777, tuple(view.query(t0, t1, 777, numbers, text)))


def assert_same(one: LaneView, other: LaneView) -> None:
    for field in fields(LaneView):
        a, b = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


@pytest.mark.parametrize("text", ["", "nccl"])
def test_round_trip(text: str) -> None:
    sent = answer(text)
    got = decode(encode(sent))
    assert (got.run, got.t0, got.t1, got.px) == (sent.run, sent.t0, sent.t1, sent.px)
    assert len(got.lanes) == len(sent.lanes)
    for one, other in zip(sent.lanes, got.lanes):
        assert_same(one, other)


def test_arrays_begin_where_a_browser_can_read_them() -> None:
    data = encode(answer("nccl"))
    assert data[:4] == b"CSL1"
    (length,) = struct.unpack("<I", data[4:8])
    header = json.loads(data[8 : 8 + length])
    begins = [place for lane in header["lanes"] for place in lane["o"].values()]
    assert min(begins) == 8 + length
    assert all(begin % 8 == 0 for begin in begins)
    assert len(set(begins)) > 3
    assert all("hits" in lane["o"] for lane in header["lanes"] if lane["id"])


def test_no_answer_is_told() -> None:
    with pytest.raises(ValueError, match="CSL1"):
        decode(b"GIF89a")


def test_text_of_names_is_not_on_the_wire() -> None:
    assert b"ncclDevKernel" not in encode(answer("nccl"))
