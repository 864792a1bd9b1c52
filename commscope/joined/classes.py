"""Classes of collectives (communicator, operation, size): how often each was logged, and how run.

Which algorithm and protocol the library chose is printed by one rank for each call; in a class they
are nearly always the same, as the library decides by operation and size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from commscope.analysis.across import Across
from commscope.analysis.groups import group_rows
from commscope.columns import Int64, as_text, codes, int64
from commscope.joined.groups import Group, Sized

#: Operations whose size, as nccl-tests counts it, is that of all ranks together.
_OF_ALL = frozenset({"all_gather", "reduce_scatter", "all_to_all", "gather", "scatter"})


@dataclass(frozen=True, slots=True)
class Choice:
    """How the library ran some calls; what the log does not tell is null."""

    algorithm: str | None
    protocol: str | None
    first_channel: int | None
    last_channel: int | None
    kernel: str | None
    count: int


@dataclass(frozen=True, slots=True)
class CallClass:
    """Collectives of one communicator (of the trace), operation and size."""

    communicator: int
    op: str | None
    bytes: int | None
    shown: int  #: collectives in the trace, of all ranks
    logged: int  #: calls in the logs, of all processes
    choices: tuple[Choice, ...] = ()  #: most used first
    note: str = ""


class Logged:
    """Calls and choices of the logs by communicator, operation and size."""

    def __init__(self, calls: pa.Table, tuning: pa.Table, of_row: Sequence[int]) -> None:
        self.calls = _tallied(calls, "bytes", of_row)
        self._one_rank = _tallied(calls, "call_bytes", of_row)
        self._choices = _choices(tuning, of_row)

    def of_group(self, number: int) -> bool:
        """Whether any call of a communicator was logged."""
        return number in self.calls

    def count(self, number: int, sized: Sized, size: int) -> int:
        """The calls of a class; an all_to_all may be logged as sends, one to each rank."""
        found = self.calls.get(number, {}).get(sized, 0)
        if found or sized[0] != "all_to_all" or sized[1] is None:
            return found
        return self._one_rank.get(number, {}).get(("send", sized[1] // max(size, 1)), 0)

    def choices(self, number: int, sized: Sized, size: int) -> tuple[Choice, ...]:
        """How calls of a class were run: by the size of one rank, else by that of all.

        Up to version 2.21 the size of all ranks is printed, from 2.24 that of one.
        """
        op, total = sized
        found = self._choices.get(number, {})
        if op is None or total is None or not found:
            return ()
        own = total // max(size, 1) if op in _OF_ALL else total
        for wanted in ((op, own), (op, total), (None, own), (None, total)):
            if wanted in found:
                return found[wanted]
        return ()


def _tallied(calls: pa.Table, size: str, of_row: Sequence[int]) -> dict[int, dict[Sized, int]]:
    found: dict[int, dict[Sized, int]] = {}
    table = _numbered(calls, of_row, ["op", size])
    counted = table.group_by(["group", "op", size]).aggregate([([], "count_all")])
    for row in counted.to_pylist():
        if row["group"] is not None:
            found.setdefault(row["group"], {})[row["op"], row[size]] = row["count_all"]
    return found


_CHOICE = ("algorithm", "protocol", "first_channel", "last_channel", "kernel")


def _choices(tuning: pa.Table, of_row: Sequence[int]) -> dict[int, dict[Sized, tuple[Choice, ...]]]:
    found: defaultdict[int, defaultdict[Sized, list[Choice]]] = defaultdict(
        lambda: defaultdict(list)
    )
    keys = ["op", "bytes", *_CHOICE]
    table = _numbered(tuning, of_row, keys)
    for row in table.group_by(["group", *keys]).aggregate([([], "count_all")]).to_pylist():
        if row["group"] is not None:
            choice = Choice(*(row[name] for name in (*_CHOICE, "count_all")))
            found[row["group"]][row["op"], row["bytes"]].append(choice)
    return {
        group: {key: _most_used(choices) for key, choices in of_group.items()}
        for group, of_group in found.items()
    }


def _most_used(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    return tuple(sorted(choices, key=lambda choice: (-choice.count, str(choice))))


def _numbered(table: pa.Table, of_row: Sequence[int], columns: Sequence[str]) -> pa.Table:
    """Columns of the table with the number of each row's communicator in the logs."""
    groups = pa.array(of_row, pa.int64()).take(table.column("comm").combine_chunks())
    return as_text(table.select(columns)).append_column("group", groups)


def logged_sizes(logged: Logged) -> Mapping[int, set[Sized]]:
    """The operations and sizes that were logged, by communicator."""
    return {number: set(found) for number, found in logged.calls.items()}


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of a trace's collectives, and which one each row of ``Across.calls`` is."""

    found: tuple[CallClass, ...]
    of_row: Int64


def classes_of(across: Across, groups: Sequence[Group], logged: Logged) -> Classes:
    """All classes; of those without operation or size nothing is known but their number."""
    calls = across.calls
    op, words = codes(calls, "op")
    communicator = int64(calls, "communicator")
    of_row, first = group_rows([communicator, op, int64(calls, "bytes")])
    sizes = calls.column("bytes").take(pa.array(first)).to_pylist()
    shown = np.bincount(of_row, minlength=len(first)).tolist()
    found = tuple(
        _filled(
            CallClass(number, words[code] if code >= 0 else None, size, count, 0),
            groups[number], logged, across.matching.communicators.found[number].size,
        )
        for number, code, size, count in zip(
            communicator[first].tolist(), op[first].tolist(), sizes, shown
        )
    )  # fmt: skip
    return Classes(found, of_row)


def _filled(found: CallClass, group: Group, logged: Logged, size: int) -> CallClass:
    """The class with what the logs say of it, or why they say nothing."""
    if group.number is None:
        return replace(found, note=group.note)
    sized = found.op, found.bytes
    if found.op is None or found.bytes is None:
        return replace(found, note="the trace does not tell its operation or size")
    return replace(
        found,
        logged=logged.count(group.number, sized, size),
        choices=logged.choices(group.number, sized, size),
        note="" if logged.of_group(group.number) else _NO_CALLS,
    )


_NO_CALLS = "the logs hold no calls (NCCL_DEBUG_SUBSYS lacks COLL)"
