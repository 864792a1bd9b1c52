"""The data behind the app: views of runs, made once, asked by window, place or number."""

from __future__ import annotations

from commscope.dashboards.data.level_of_detail import LaneView
from commscope.dashboards.data.view import RunView
from commscope.dashboards.data.wire import Answer, decode, encode

__all__ = ["Answer", "LaneView", "RunView", "decode", "encode"]
