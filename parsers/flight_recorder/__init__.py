"""Dumps of PyTorch's Flight Recorder: one file a rank, a pickle or JSON.

A pickle is a program, and dumps come from others: ``plain_pickle`` is an interpreter of its own
that knows only what builds numbers, text, lists, tuples and dicts.
"""

from __future__ import annotations

from commscope.parsers.flight_recorder.dump import Dump, looks_like_dump, read_dump

__all__ = ["Dump", "looks_like_dump", "read_dump"]
