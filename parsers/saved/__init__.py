"""Runs that commscope saved: what was read of traces, kept as tables to be analysed again.

``documents`` says which files there are and what those of JSON hold, ``tables`` reads and writes
those of Parquet; ``parser`` recognises readings, ``reader`` and ``logs`` write and read them.
"""

from __future__ import annotations

from commscope.parsers.saved.parser import SavedParser

__all__ = ["SavedParser"]
