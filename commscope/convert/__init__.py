"""A trace, or a part of it, written for other tools: tables, or the JSON of Chrome and Perfetto."""

from __future__ import annotations

from commscope.convert.selection import Selection, select
from commscope.convert.targets import FORMATS, Target, chosen_target
from commscope.convert.write import write_trace

__all__ = ["FORMATS", "Selection", "Target", "chosen_target", "select", "write_trace"]
