"""Gathered columns of one process, with names and devices in place of ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from commscope.columns import NONE, Int64
from commscope.parsers.device_tables import COPY, HOST_KINDS, KERNEL, Activities, Calls, joined
from commscope.parsers.integers import whole_number
from commscope.parsers.placing import NO_GPU, UNKNOWN
from commscope.parsers.rocprof_names import call_kind, copy_name
from commscope.parsers.rocprof_process import Process
from commscope.parsers.rocprofv3_json.agents import Agents
from commscope.parsers.rocprofv3_json.gathering import Gathered
from commscope.parsers.words import Words

_RUNTIME = HOST_KINDS.index("runtime")


class Names:
    """What kinds of records and their operations are called, and the texts of markers."""

    def __init__(self, listed: Any, messages: Any) -> None:
        self._kinds = [_kind_of(entry) for entry in (listed if isinstance(listed, list) else [])]
        told = [e for e in (messages if isinstance(messages, list) else []) if isinstance(e, dict)]
        texts = ((whole_number(e.get("key")), e.get("value")) for e in told)
        self._messages = {
            key: text for key, text in texts if key is not None and isinstance(text, str)
        }

    def of(self, kind: int, operation: int) -> tuple[str, str]:
        """Name of the kind (a domain), and of the operation; numbers where they have none."""
        domain, operations = self._kinds[kind] if 0 <= kind < len(self._kinds) else ("", [])
        known = 0 <= operation < len(operations)
        return domain or f"kind {kind}", operations[operation] if known else f"call {operation}"

    def message(self, correlation: int) -> str | None:
        """The text of the marker with this id."""
        return self._messages.get(correlation)


def _kind_of(entry: Any) -> tuple[str, list[str]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("operations"), list):
        return "", []
    return str(entry.get("kind", "")), list(map(str, entry["operations"]))


def process_of(gathered: Gathered, agents: Agents, names: Names) -> Process:
    """The activities and calls of the process."""
    words = Words()
    kernels = _kernels(gathered, agents, words)
    copies = _copies(gathered, agents, names, words)
    return Process(joined([kernels, copies]), _calls(gathered, names, words), words)


def _kernels(gathered: Gathered, agents: Agents, words: Words) -> Activities:
    rows, count = gathered.dispatches, len(gathered.dispatches)
    known, device = gathered.kernels, _devices(rows.column("agent"), agents)

    def name(kernel: int) -> int:
        return words[known.get(kernel) or f"kernel {kernel}"]

    return Activities(
        kind=np.full(count, KERNEL, np.int64),
        name=_mapped(rows.column("kernel"), name),
        device=np.where(device == NO_GPU, UNKNOWN, device),
        bytes=np.full(count, NONE, np.int64),
        **{key: rows.column(key) for key in (*_KEPT, "queue", "workgroups")},
    )


def _copies(gathered: Gathered, agents: Agents, names: Names, words: Words) -> Activities:
    rows, count = gathered.copies, len(gathered.copies)
    directions, place = _operations(rows.column("kind"), rows.column("operation"), names)
    into, out = (_devices(rows.column(end), agents) for end in ("destination", "source"))
    return Activities(
        kind=np.full(count, COPY, np.int64),
        name=np.array([words[copy_name(word)] for _, word in directions], np.int64)[place],
        device=np.where(into == NO_GPU, out, into),
        queue=np.full(count, NONE, np.int64),
        workgroups=np.full(count, NONE, np.int64),
        **{key: rows.column(key) for key in (*_KEPT, "bytes")},
    )


_KEPT = ("stream", "start_ns", "end_ns", "correlation")


def _calls(gathered: Gathered, names: Names, words: Words) -> Calls:
    rows = gathered.calls
    operations, place = _operations(rows.column("kind"), rows.column("operation"), names)
    kinds = np.array([HOST_KINDS.index(call_kind(*pair)) for pair in operations], np.int64)
    codes = np.array([words[name] for _, name in operations], np.int64)
    kind, name = kinds[place], codes[place]
    _name_markers(kind, name, rows.column("correlation"), names, words)
    kept = ("thread", "start_ns", "end_ns", "correlation")
    return Calls(kind=kind, name=name, **{key: rows.column(key) for key in kept})


def _name_markers(kind: Int64, name: Int64, correlation: Int64, names: Names, words: Words) -> None:
    """Puts the texts of markers in place of the names of their calls."""
    for row in np.flatnonzero(kind == HOST_KINDS.index("annotation")).tolist():
        message = names.message(int(correlation[row]))
        if message is None:
            kind[row] = _RUNTIME
        else:
            name[row] = words[message]


def _operations(
    kind: Int64, operation: Int64, names: Names
) -> tuple[Sequence[tuple[str, str]], Int64]:
    """The distinct pairs of names, and for each row which it has."""
    pairs, place = np.unique(np.stack((kind, operation), axis=1), axis=0, return_inverse=True)
    return [names.of(*pair) for pair in pairs.tolist()], place.reshape(-1)


def _devices(handles: Int64, agents: Agents) -> Int64:
    return _mapped(handles, lambda handle: agents.devices.get(handle, UNKNOWN))


def _mapped(values: Int64, to: Callable[[int], int]) -> Int64:
    """A number for each value; each distinct one is asked for once."""
    distinct, place = np.unique(values, return_inverse=True)
    return np.array(list(map(to, distinct.tolist())), np.int64)[place.reshape(-1)]
