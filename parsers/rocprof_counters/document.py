"""Counters in JSON of rocprofv3 (``callback_records.counter_collection``), with ids resolved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
import numpy as np

from commscope.errors import CorruptTrace
from commscope.parsers.base import Progress
from commscope.parsers.opening import Blocks, Source, open_blocks
from commscope.parsers.rocprof_counters.agents import facts_of_agents
from commscope.parsers.rocprof_counters.collected import Collected, places
from commscope.parsers.rocprof_sections import (
    AGENTS,
    BETWEEN,
    COUNTERS,
    PROCESS,
    SYMBOLS,
    VALUES,
    Piece,
    pieces_of,
)
from commscope.wording import counted

_BLANK = b", \t\r\n"


class _Handle(msgspec.Struct, gc=False):
    handle: int


class _Counter(msgspec.Struct, gc=False):
    id: _Handle
    name: str


class _Symbol(msgspec.Struct, gc=False):
    kernel_id: int
    formatted_kernel_name: str = ""
    kernel_name: str = ""


class _Info(msgspec.Struct, gc=False):
    agent_id: _Handle
    kernel_id: int


class _Dispatch(msgspec.Struct, gc=False):
    dispatch_info: _Info
    start_timestamp: int = 0  # ROCm 6.2 does not tell times
    end_timestamp: int = 0


class _Value(msgspec.Struct, gc=False):
    counter_id: _Handle
    value: float


class _Record(msgspec.Struct, gc=False):
    dispatch_data: _Dispatch
    records: list[_Value]


_Item = TypeVar("_Item")
_COUNTERS = msgspec.json.Decoder(list[_Counter])
_SYMBOLS = msgspec.json.Decoder(list[_Symbol])
_RECORDS = msgspec.json.Decoder(list[_Record])
_ANY = msgspec.json.Decoder(list[dict[str, Any]])


def read_document(source: Source, progress: Progress) -> list[Collected]:
    """What each process of a document counted; none where it counted nothing.

    Raises CorruptTrace where it ends before its counters, UsageError where the system does not let
    us read it.
    """
    processes: list[_Process] = []
    piece = None
    with open_blocks(source) as blocks:
        for piece in pieces_of(_reporting(blocks, source, progress), source.label):
            if piece.section == PROCESS or not processes:
                processes.append(_Process(source.label))
            processes[-1].add(piece)
            if processes[-1].counts_nothing:
                # Processes of a document were recorded alike: it is a trace, and may be long.
                return []
    if piece is None or piece.section != VALUES or not piece.ends:
        if not any(one.kernel for one in processes):
            raise CorruptTrace(f"{source.label}: is cut before its counters; copy it again")
        processes[-1].is_cut = True
    return [one.collected() for one in processes if one.kernel]


def _reporting(blocks: Blocks, source: Source, progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        progress(blocks.bytes_read, source.size)
        yield block


@dataclass(slots=True)
class _Process:
    """Columns of one process, growing piece by piece, and the names of ids."""

    label: str
    agents: list[dict[str, Any]] = field(default_factory=list)
    counters: dict[int, str] = field(default_factory=dict)
    kernels: dict[int, str] = field(default_factory=dict)
    counts_nothing: bool = False
    is_cut: bool = False  #: the file ends within its counters
    lost: int = 0
    agent: set[int] = field(default_factory=set)  #: those that dispatches name
    kernel: list[int] = field(default_factory=list)
    length: list[int] = field(default_factory=list)
    dispatch: list[int] = field(default_factory=list)
    counter: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)

    def add(self, piece: Piece) -> None:
        """Takes a piece of a list."""
        if piece.section == AGENTS:
            self.agents = _decoded(piece.text, _ANY)
        elif piece.section == COUNTERS:
            self.counters = {one.id.handle: one.name for one in _decoded(piece.text, _COUNTERS)}
            # Behind the agents: options of the run may hold an empty list of this name too.
            self.counts_nothing = bool(self.agents) and not piece.text.strip()
        elif piece.section == SYMBOLS:
            self.kernels = {one.kernel_id: _name(one) for one in _decoded(piece.text, _SYMBOLS)}
        elif piece.section == VALUES:
            for record in self._records(piece.text.strip(_BLANK)):
                self._add_record(record)

    def _records(self, text: bytes) -> list[_Record]:
        """The dispatches of a text: all at once, or one by one where that fails."""
        try:
            return _RECORDS.decode(b"[" + text + b"]")
        except (msgspec.MsgspecError, UnicodeDecodeError):
            single = [_decoded(one + b"}", _RECORDS) or _decoded(one, _RECORDS)
                      for one in BETWEEN.split(text)]  # fmt: skip
        self.lost += sum(not one for one in single)
        return [record for one in single for record in one]

    def _add_record(self, record: _Record) -> None:
        data, row = record.dispatch_data, len(self.kernel)
        self.agent.add(data.dispatch_info.agent_id.handle)
        self.kernel.append(data.dispatch_info.kernel_id)
        self.length.append(data.end_timestamp - data.start_timestamp)
        for one in record.records:
            self.dispatch.append(row)
            self.counter.append(one.counter_id.handle)
            self.value.append(one.value)

    def collected(self) -> Collected:
        """The columns, with names for ids; those without a name are called by their number."""
        kernel, kernels = places(self.kernel)
        counter, counters = places(self.counter)
        length = np.array(self.length, np.float64)
        used = [agent for agent in self.agents if _handle(agent) in self.agent]
        value, dispatch = np.array(self.value, np.float64), np.array(self.dispatch, np.int64)
        finite = np.isfinite(value)
        return Collected(
            [self.kernels.get(key) or f"kernel {key}" for key in kernels],
            [self.counters.get(key) or f"counter {key}" for key in counters],
            kernel, np.where(length > 0, length, np.nan),
            dispatch[finite], counter[finite], value[finite],
            facts_of_agents(used), tuple(self._damage()),
        )  # fmt: skip

    def _damage(self) -> Iterator[str]:
        if self.lost:
            dispatches = counted(self.lost, "dispatch is", "dispatches are")
            yield f"{self.label}: {dispatches} damaged and not counted; record again"
        if self.is_cut:
            yield f"{self.label}: ends within its counters; copy it again"


def _decoded(text: bytes, decoder: msgspec.json.Decoder[list[_Item]]) -> list[_Item]:
    """The items of a list; none where it cannot be read."""
    try:
        return decoder.decode(b"[" + text.strip(_BLANK) + b"]")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []


def _name(symbol: _Symbol) -> str:
    """The name as it is shown, else as it was compiled."""
    return symbol.formatted_kernel_name or symbol.kernel_name.removesuffix(".kd")


def _handle(agent: dict[str, Any]) -> Any:
    found = agent.get("id")
    return found.get("handle") if isinstance(found, dict) else None
