"""Records of one process, gathered piece by piece into columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from commscope.columns import Int64
from commscope.parsers.batches import Columns
from commscope.parsers.gpu_grids import workgroups
from commscope.parsers.integers import integers
from commscope.parsers.rocprofv3_json.records import (
    Call,
    Copy,
    Dispatch,
    Handle,
    Record,
    Symbol,
    decode,
)
from commscope.parsers.rocprofv3_json.sections import CALLS, COPIES, DISPATCHES, SYMBOLS, Piece

_Timed = TypeVar("_Timed", Dispatch, Copy, Call)
_SYMBOLS = msgspec.json.Decoder(list[Symbol])
_DISPATCHES = msgspec.json.Decoder(list[Dispatch])
_COPIES = msgspec.json.Decoder(list[Copy])
_CALLS = msgspec.json.Decoder(list[Call])


@dataclass(slots=True)
class Gathered:
    """Columns of dispatches, copies and calls, with ids for names; and what was lost."""

    dispatches: Columns = field(default_factory=Columns)
    copies: Columns = field(default_factory=Columns)
    calls: Columns = field(default_factory=Columns)
    kernels: dict[int, str] = field(default_factory=dict)  #: kernel id -> name
    read: int = 0
    lost: int = 0
    bytes_lost: int = 0
    last_ns: int | None = None  #: begin of the last activity or call that was read

    def add(self, piece: Piece) -> None:
        """Takes a piece of a list of records."""
        if piece.section == SYMBOLS:
            symbols = self._records(piece, _SYMBOLS)
            self.kernels |= {one.kernel_id: _name(one) for one in symbols}
        elif piece.section == DISPATCHES:
            self._add_dispatches(self._timed(piece, _DISPATCHES))
        elif piece.section == COPIES:
            self._add_copies(self._timed(piece, _COPIES))
        elif piece.section in CALLS:
            self._add_calls(self._timed(piece, _CALLS))

    def _records(self, piece: Piece, decoder: msgspec.json.Decoder[list[Record]]) -> list[Record]:
        decoded = decode(piece, decoder)
        self.lost += decoded.lost
        self.bytes_lost += decoded.bytes_lost
        return decoded.records

    def _timed(self, piece: Piece, decoder: msgspec.json.Decoder[list[_Timed]]) -> list[_Timed]:
        records = self._records(piece, decoder)
        self.read += len(records)
        if records:
            self.last_ns = records[-1].start_timestamp
        return records

    def _add_dispatches(self, records: Sequence[Dispatch]) -> None:
        infos = [record.dispatch_info for record in records]
        grids, groups = [one.grid_size for one in infos], [one.workgroup_size for one in infos]
        self.dispatches.append(
            **_common(records),
            stream=_handles(record.stream_id for record in records),
            agent=_handles(one.agent_id for one in infos),
            queue=_handles(one.queue_id for one in infos),
            kernel=integers([one.kernel_id for one in infos]),
            workgroups=workgroups(
                [integers([getattr(one, axis) for one in grids]) for axis in "xyz"],
                [integers([getattr(one, axis) for one in groups]) for axis in "xyz"],
            ),
        )

    def _add_copies(self, records: Sequence[Copy]) -> None:
        self.copies.append(
            **_common(records),
            **_operations(records),
            stream=_handles(record.stream_id for record in records),
            source=_handles(record.src_agent_id for record in records),
            destination=_handles(record.dst_agent_id for record in records),
            bytes=integers([record.bytes for record in records]),
        )

    def _add_calls(self, records: Sequence[Call]) -> None:
        thread = integers([record.thread_id for record in records])
        self.calls.append(**_common(records), **_operations(records), thread=thread)


def _common(records: Sequence[Dispatch] | Sequence[Copy] | Sequence[Call]) -> dict[str, Int64]:
    return {
        "start_ns": integers([record.start_timestamp for record in records]),
        "end_ns": integers([record.end_timestamp for record in records]),
        "correlation": integers([record.correlation_id.internal for record in records]),
    }


def _operations(records: Sequence[Copy] | Sequence[Call]) -> dict[str, Int64]:
    return {
        "kind": integers([record.kind for record in records]),
        "operation": integers([record.operation for record in records]),
    }


def _handles(handles: Iterable[Handle | None]) -> Int64:
    return integers([None if one is None else one.handle for one in handles])


def _name(symbol: Symbol) -> str:
    """The name as it is shown, else as it was compiled."""
    return symbol.formatted_kernel_name or symbol.kernel_name.removesuffix(".kd")
