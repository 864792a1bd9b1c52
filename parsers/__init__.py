"""Parsers: one format each, all filling the tables of commscope.schema.

PARSERS is the list of those that come with commscope; others register through the entry-point
group ``commscope.parsers``.
"""

from __future__ import annotations

from commscope.parsers.base import Parser
from commscope.parsers.kineto import KinetoParser

PARSERS: tuple[Parser, ...] = (KinetoParser(),)
