"""``*_counter_collection.csv``: one row a dispatch and counter, with columns of any version."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from commscope import wording
from commscope.columns import Int64
from commscope.parsers.rocprof_counters.collected import Collected
from commscope.parsers.whole_csv import Columns, Float64, coded, header, read_columns, words_of

_NEEDED = ("dispatch_id", "kernel_name", "counter_name", "counter_value")
#: ROCm 6.2 tells no times; the process is missing where other tools write the table.
_MORE = ("process_id", "start_timestamp", "end_timestamp")


def read_table(data: bytes, label: str) -> Collected:
    """The values in a table; lines that are torn are left out and said."""
    names = {name.lower(): name for name in reversed(header(data))}
    wanted = {name: names[name] for name in (*_NEEDED, *_MORE) if name in names}
    if next(reversed(header(data)), "").lower() == "end_timestamp":
        data = data.rstrip(b"\n") + b"\n"  # cut there, a row still has its value
    found = read_columns(data, wanted.values())
    if any(name not in wanted for name in _NEEDED):
        return _of_columns(found, {}, label)
    return _of_columns(found, wanted, label)


def _of_columns(found: Columns, names: Mapping[str, str], label: str) -> Collected:
    if not names:
        nothing, no_numbers = np.empty(0, np.int64), np.empty(0, np.float64)
        return Collected([], [], nothing, no_numbers, nothing, nothing, no_numbers)
    kernel, kernels = coded(found.fields[names["kernel_name"]])
    counter, counters = coded(found.fields[names["counter_name"]])
    first, dispatch = _dispatches(found, names)
    value = found.numbers(names["counter_value"])
    known = ~np.isnan(value)
    return Collected(
        kernels, counters, kernel[first], _lengths(found, names)[first],
        dispatch[known], counter[known], value[known],
        notes=tuple(_torn(label, found.torn)),
    )  # fmt: skip


def _dispatches(found: Columns, names: Mapping[str, str]) -> tuple[Int64, Int64]:
    """The first row of each dispatch, and of each row its dispatch: ids count in a process."""
    key, words = coded(found.fields[names["dispatch_id"]])
    if "process_id" in names:
        process, _ = coded(found.fields[names["process_id"]])
        key = process * len(words) + key
    _, first, dispatch = np.unique(key, return_index=True, return_inverse=True)
    return np.asarray(first, np.int64), np.asarray(dispatch.reshape(-1), np.int64)


def _lengths(found: Columns, names: Mapping[str, str]) -> Float64:
    begin, end = names.get("start_timestamp"), names.get("end_timestamp")
    if begin is None or end is None:
        return np.full(len(found.fields[names["dispatch_id"]]), np.nan)
    return found.lengths(begin, end)


def _torn(label: str, torn: int) -> list[str]:
    if not torn:
        return []
    rows = wording.counted(torn, "row is", "rows are")
    return [f"{label}: {rows} torn and not counted; copy the file again"]


def read_agents(data: bytes) -> list[dict[str, str]]:
    """The processors in an ``agent_info.csv``, by the names that they have in JSON."""
    names = header(data)
    found = read_columns(data, names)
    columns = {name.lower(): words_of(values) for name, values in found.fields.items()}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]
