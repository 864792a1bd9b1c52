"""Rows of a csv file as activities and calls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Int64, codes, int64
from commscope.parsers.device_tables import COPY, HOST_KINDS, KERNEL, Activities, Calls
from commscope.parsers.placing import NO_GPU, UNKNOWN
from commscope.parsers.rocprof_names import call_kind, copy_name, is_to_host
from commscope.parsers.rocprofv3_csv.agents import Agents
from commscope.parsers.rocprofv3_csv.sizes import WORKGROUPS
from commscope.parsers.words import Words


def kernels_of(rows: pa.Table, agents: Agents, words: Words) -> Activities:
    """The dispatches of a kernel_trace."""
    device = _devices(rows, "Agent_Id", agents)
    return Activities(
        kind=np.full(rows.num_rows, KERNEL, np.int64),
        name=_words(rows, "Kernel_Name", words),
        # No kernel runs on a CPU: then the list of agents is not that of this run.
        device=np.where(device == NO_GPU, UNKNOWN, device),
        bytes=_numbers(rows, ""),
        workgroups=_numbers(rows, WORKGROUPS),
        **_on_stream(rows),
    )


def copies_of(rows: pa.Table, agents: Agents, words: Words) -> Activities:
    """The copies of a memory_copy_trace; its files do not say how much was copied."""
    into, out = (_devices(rows, f"{end}_Agent_Id", agents) for end in ("Destination", "Source"))
    is_to = _mapped(rows, "Direction", is_to_host) == 1
    wanted, other = np.where(is_to, out, into), np.where(is_to, into, out)
    return Activities(
        kind=np.full(rows.num_rows, COPY, np.int64),
        name=_mapped(rows, "Direction", lambda word: words[copy_name(word)]),
        device=np.where(wanted == NO_GPU, other, wanted),
        bytes=_numbers(rows, ""),
        workgroups=_numbers(rows, ""),
        **_on_stream(rows),
    )


def calls_of(rows: pa.Table, words: Words) -> Calls:
    """The calls and markers of an api_trace."""
    domains, names = codes(rows, "Domain"), codes(rows, "Function")
    pairs, place = np.unique(domains[0] * (len(names[1]) + 1) + names[0], return_inverse=True)
    split = [divmod(pair, len(names[1]) + 1) for pair in pairs.tolist()]
    kinds = [HOST_KINDS.index(call_kind(domains[1][d], names[1][n])) for d, n in split]
    return Calls(
        kind=np.array(kinds, np.int64)[place.reshape(-1)],
        name=_words(rows, "Function", words),
        thread=_numbers(rows, "Thread_Id"),
        start_ns=int64(rows, "Start_Timestamp"),
        end_ns=int64(rows, "End_Timestamp"),
        correlation=_numbers(rows, "Correlation_Id"),
    )


def _on_stream(rows: pa.Table) -> dict[str, Int64]:
    queue = _numbers(rows, "Queue_Id")
    return {
        "stream": _numbers(rows, "Stream_Id") if "Stream_Id" in rows.column_names else queue,
        "queue": queue,
        "start_ns": int64(rows, "Start_Timestamp"),
        "end_ns": int64(rows, "End_Timestamp"),
        "correlation": _numbers(rows, "Correlation_Id"),
    }


def _numbers(rows: pa.Table, name: str) -> Int64:
    """A column of numbers, ``NONE`` where the file has no such column."""
    if name not in rows.column_names:
        return np.full(rows.num_rows, NONE, np.int64)
    return int64(rows, name)


def _devices(rows: pa.Table, name: str, agents: Agents) -> Int64:
    return _mapped(rows, name, agents.device)


def _words(rows: pa.Table, name: str, words: Words) -> Int64:
    return _mapped(rows, name, words.__getitem__)


def _mapped(rows: pa.Table, name: str, to: Callable[[str], int]) -> Int64:
    """A number for each row, by its word."""
    place, words = codes(rows, name)
    return np.array([*map(to, words), NONE], np.int64)[place]
