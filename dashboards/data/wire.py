"""Views of lanes as bytes: typed arrays that a browser reads without copying.

``CSL1``, the length of the header (uint32), the header (JSON, padded with spaces), then arrays.
All is little endian, and each array begins at a multiple of 8 from the begin of the answer. The
header has ``v``, ``run``, ``t0``, ``t1``, ``px`` and ``lanes``: ``id``, ``n`` (rectangles),
``cats`` (categories of the density), ``depth`` (rows) and ``o``, where each array begins.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from commscope.dashboards.data.level_of_detail import LaneView

MAGIC = b"CSL1"
VERSION = 2
_ALIGNED = 8
_PREFIX = len(MAGIC) + 4
#: Name on the wire -> attribute of a view, and type.
_ARRAYS = {
    "start": ("start", "<f8"),
    "dur": ("duration", "<f8"),
    "name": ("name", "<u4"),
    "event": ("event", "<u4"),
    "cat": ("category", "<u1"),
    "row": ("row", "<u1"),
    "hit": ("hit", "<u1"),
    "density": ("density", "<u1"),
    "hits": ("hits", "<u1"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent for one request."""

    run: int
    t0: int
    t1: int
    px: int
    lanes: tuple[LaneView, ...]


def encode(answer: Answer) -> bytes:
    """The answer as bytes."""
    arrays = [list(_arrays(view)) for view in answer.lanes]
    # The header tells where arrays begin, which depends on its own length: room for the longest.
    room = _aligned(_PREFIX + len(_header(answer, arrays, 10**12)))
    header = _header(answer, arrays, room).ljust(room - _PREFIX)
    parts = [MAGIC, struct.pack("<I", len(header)), header]
    for of_lane in arrays:
        parts.extend(array.tobytes().ljust(_aligned(array.nbytes), b"\0") for _, array in of_lane)
    return b"".join(parts)


def _arrays(view: LaneView) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    for name, (attribute, kind) in _ARRAYS.items():
        values = getattr(view, attribute)
        if values is not None:
            yield name, np.ascontiguousarray(values, kind)


def _header(
    answer: Answer, arrays: Sequence[Sequence[tuple[str, npt.NDArray[Any]]]], begin: int
) -> bytes:
    lanes = []
    for view, of_lane in zip(answer.lanes, arrays):
        offsets = {}
        for name, array in of_lane:
            offsets[name] = begin
            begin += _aligned(array.nbytes)
        lanes.append(
            {"id": view.lane, "n": len(view.start), "cats": view.categories,
             "depth": view.rows, "o": offsets}
        )  # fmt: skip
    head = {"v": VERSION, "run": answer.run, "t0": answer.t0, "t1": answer.t1, "px": answer.px}
    return json.dumps({**head, "lanes": lanes}, separators=(",", ":")).encode()


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def decode(data: bytes) -> Answer:
    """The answer that the bytes hold; ValueError where they are none."""
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("no answer of a timeline: it does not begin with CSL1")
    (length,) = struct.unpack_from("<I", data, len(MAGIC))
    header = json.loads(data[_PREFIX : _PREFIX + length])
    lanes = tuple(_view(data, lane, header["px"]) for lane in header["lanes"])
    return Answer(header["run"], header["t0"], header["t1"], header["px"], lanes)


def _view(data: bytes, lane: dict[str, Any], px: int) -> LaneView:
    counts = dict.fromkeys(_ARRAYS, lane["n"])
    counts |= {"density": len(lane["cats"]) * px, "hits": px}
    arrays = {
        attribute: np.frombuffer(data, kind, counts[name], lane["o"][name])
        for name, (attribute, kind) in _ARRAYS.items()
        if name in lane["o"]
    }
    arrays["density"] = arrays["density"].reshape(-1, px)
    return LaneView(lane["id"], lane["depth"], categories=tuple(lane["cats"]), **arrays)
