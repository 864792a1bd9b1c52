"""From what parsers read to one trace: repair, launches, ranks, steps."""

from __future__ import annotations

from commscope.normalize.options import Options
from commscope.normalize.pipeline import normalize

__all__ = ["Options", "normalize"]
