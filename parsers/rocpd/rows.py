"""The rows of one run: activities of devices and calls of the host, each with its process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from commscope.columns import NONE, Int64
from commscope.parsers.device_tables import COPY, KERNEL, Activities, Calls, taken
from commscope.parsers.placing import NO_GPU, UNKNOWN
from commscope.parsers.rocpd.calls import ANNOTATION, said
from commscope.parsers.rocpd.info import Info
from commscope.parsers.rocprof_domains import domain_of, kinds_of_calls
from commscope.parsers.sqlite_fetch import Fetched, mapped, named
from commscope.parsers.words import Words

_MOST_DEVICES = 1 << 16

_Rows = TypeVar("_Rows", Activities, Calls)


@dataclass(frozen=True, slots=True)
class Owned(Generic[_Rows]):
    """Rows of a run, with the node and the process that each is of."""

    nid: Int64
    pid: Int64
    rows: _Rows

    def owners(self) -> set[tuple[int, int]]:
        """The nodes and processes that there are."""
        # One process a run is the rule: then nothing is sorted.
        if len(self.nid) and (self.nid == self.nid[0]).all() and (self.pid == self.pid[0]).all():
            return {(int(self.nid[0]), int(self.pid[0]))}
        return set(zip(self.nid.tolist(), self.pid.tolist()))

    def of(self, nid: int, pid: int) -> _Rows:
        """The rows of one process."""
        mine = (self.nid == nid) & (self.pid == pid)
        return self.rows if mine.all() else taken(self.rows, mine)


@dataclass(frozen=True, slots=True)
class Rows:
    """Makes rows of what was fetched from one run."""

    info: Info
    words: Words

    def kernels(self, found: Fetched) -> Owned[Activities]:
        """Kernels."""
        name = self._names(found, self.info.kernels, "kernel")
        return _owned(found, KERNEL, name, self._device(found, "agent_id", "device"))

    def copies(self, found: Fetched) -> Owned[Activities]:
        """Copies; the device of one is that copied to, else that copied from."""
        to = self._device(found, "dst_agent_id", "dst_device")
        source = self._device(found, "src_agent_id", "src_device")
        device = np.where(to >= 0, to, np.where(source >= 0, source, np.maximum(to, source)))
        return _owned(found, COPY, self._names(found, self.info.strings, "copy"), device)

    def calls(self, found: Fetched, messages: Fetched) -> Owned[Calls]:
        """Calls and annotations; ``messages`` are those of the events of markers."""
        name = self._names(found, self.info.strings, "call")
        kind = kinds_of_calls(self._categories(found), name, self.words)
        rows = np.flatnonzero(kind == ANNOTATION)
        if len(rows):
            name = name.copy()
            name[rows] = said(name[rows], self._messages(found, messages, rows), self.words)
        thread = found.numbers("thread")
        known = mapped(thread, self.info.threads, NONE)
        calls = Calls(
            kind=kind,
            name=name,
            thread=np.where(known == NONE, thread, known),
            start_ns=found.numbers("start"),
            end_ns=found.numbers("end"),
            correlation=found.numbers("correlation"),
        )
        return Owned(found.numbers("nid"), found.numbers("pid"), calls)

    def of_rccl(self, found: Fetched) -> Int64:
        """Which rows of the calls are calls of RCCL."""
        is_rccl = [domain_of(word).startswith("RCCL") for word in self.words]
        return np.flatnonzero(np.array(is_rccl, np.bool_)[self._categories(found)])

    def _messages(self, found: Fetched, messages: Fetched, rows: Int64) -> Int64:
        """The code of what the event of each of these rows says."""
        if found.has("message"):
            return found.texts("message", self.words)[rows]
        said_by = messages.texts("message", self.words).tolist()
        by_event = dict(zip(messages.numbers("event").tolist(), said_by))
        return mapped(found.numbers("event")[rows], by_event, NONE)

    def _names(self, found: Fetched, texts: Mapping[int, str], what: str) -> Int64:
        if found.has("name"):
            return found.texts("name", self.words)
        return named(found.numbers("name_id"), texts, self.words, f"unnamed {what}")

    def _categories(self, found: Fetched) -> Int64:
        if found.has("category"):
            return found.texts("category", self.words)
        ids = found.numbers("category_id")
        return named(ids, self.info.strings, self.words, "unnamed domain")

    def _device(self, found: Fetched, agent: str, device: str) -> Int64:
        """Numbers of GPUs, NO_GPU for other processors."""
        if found.has(device):
            numbers = found.numbers(device)
        else:
            known = {key: a.number if a.is_gpu else NO_GPU for key, a in self.info.agents.items()}
            numbers = mapped(found.numbers(agent), known, UNKNOWN)
        return np.where((numbers >= NO_GPU) & (numbers < _MOST_DEVICES), numbers, UNKNOWN)


def _owned(found: Fetched, kind: int, name: Int64, device: Int64) -> Owned[Activities]:
    rows = Activities(
        kind=np.full(len(found), kind),
        name=name,
        device=device,
        stream=found.numbers("stream"),
        queue=found.numbers("queue"),
        start_ns=found.numbers("start"),
        end_ns=found.numbers("end"),
        correlation=found.numbers("correlation"),
        bytes=found.numbers("bytes"),
        workgroups=found.numbers("workgroups"),
    )
    return Owned(found.numbers("nid"), found.numbers("pid"), rows)
