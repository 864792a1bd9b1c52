"""What collectives are called so that those of two runs can be matched."""

from __future__ import annotations

import numpy as np

from commscope.analysis.result import Analysis
from commscope.columns import Int64, at, codes, int64

UNKNOWN = "?"


def group_name(analysis: Analysis, communicator: int) -> str:
    """What a communicator is for, or its name: labels hold ranks, which other runs lack."""
    role = analysis.across.roles[communicator]
    found = analysis.across.matching.communicators.found[communicator]
    return role or found.description or found.name or "unnamed"


def group_numbers(analysis: Analysis) -> tuple[Int64, list[str]]:
    """The name of the group of each collective, as a place in the names."""
    names = [group_name(analysis, n) for n in range(len(analysis.across.labels))]
    words = sorted(set(names))
    place = np.array([words.index(name) for name in names], np.int64)
    return at(place, int64(analysis.across.calls, "communicator"), -1), words


def class_names(analysis: Analysis) -> tuple[Int64, list[str]]:
    """Operation and group of each collective, as a place in the words; the last is unknown."""
    group, groups = group_numbers(analysis)
    op, ops = codes(analysis.across.calls, "op")
    words = [f"{name or UNKNOWN} in {of}" for name in (*ops, UNKNOWN) for of in groups]
    op = np.where(op < 0, len(ops), op)
    return op * len(groups) + group, [*words, UNKNOWN]
