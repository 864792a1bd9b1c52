"""What one file holds: one process or, merged, several; and the devices each of them drives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from commscope.columns import NONE, Bool, Int64, int64
from commscope.normalize.parts import Part, Tables, constant_rank, distinct, known_rank, take
from commscope.parsers.base import Reading
from commscope.schema import COLLECTIVES, EVENTS, HOST, conform
from commscope.trace import Note


@dataclass(frozen=True, slots=True)
class Process:
    """What a file holds of one process; ``rank`` is null unless the file is a merged one."""

    reading: Reading
    tables: Tables
    rank: int | None = None

    @property
    def file(self) -> str:
        """The file's name, as shown."""
        return self.reading.input.file

    @property
    def is_active(self) -> bool:
        """Whether it has any activity of a GPU, possible or not."""
        return bool(self.tables.events.num_rows)


def processes_of(reading: Reading) -> tuple[list[Process], list[Note]]:
    """The processes of a file, and a note where activities of a merged one name no rank."""
    tables = Tables(reading.events, reading.host, reading.collectives)
    ranks = sorted({*_ranks(reading.events), *_ranks(reading.host)})
    if not ranks:
        return [Process(reading, tables)], []
    of_event, of_host = int64(reading.events, "rank"), int64(reading.host, "rank")
    processes = [
        Process(
            reading,
            take(tables, np.flatnonzero(of_event == rank), np.flatnonzero(of_host == rank)),
            rank,
        )
        for rank in ranks
    ]
    lost = int((of_event < 0).sum())  # a null is NONE, and no rank is below 0
    if not lost:
        return processes, []
    says = (
        "1 activity names no rank and is"
        if lost == 1
        else f"{lost:,} activities name no rank and are"
    )
    return processes, [Note("ranks", f"{reading.input.file}: {says} left out")]


def _ranks(table: pa.Table) -> list[int]:
    return [rank for rank in distinct(table, "rank") if known_rank(rank) is not None]


def split_devices(
    process: Process, rank: int, source: str, free: Iterator[int]
) -> tuple[list[Part], list[Note]]:
    """One part a device, for several devices in one process are several ranks.

    The one with most activities keeps the rank of the process: others are often there by accident,
    such as a context on device 0. They get the first ranks that are ``free``.
    """
    devices = distinct(process.tables.events, "device")
    if len(devices) < 2:
        return [_part(process, rank, source, devices[0] if devices else 0, process.tables)], []
    busiest = _busiest(process.tables.events, devices)
    rank_of = {device: rank if device == busiest else next(free) for device in devices}
    parts = [
        _part(process, rank_of[device], source, device, _of_device(process.tables, device))
        for device in devices
    ]
    each = ", ".join(f"device {device} is rank {rank_of[device]}" for device in devices)
    says = f"{process.file}: one process drives {len(devices)} devices: {each}"
    return parts, [Note("ranks", says)]


def _busiest(events: pa.Table, devices: list[int]) -> int:
    device = int64(events, "device")
    return max(devices, key=lambda one: int((device == one).sum()))


def _of_device(tables: Tables, device: int) -> Tables:
    """A device's activities, and the calls of the host but those that launched on other devices."""
    mine = int64(tables.events, "device") == device
    correlation, call = int64(tables.events, "correlation"), int64(tables.host, "correlation")
    elsewhere = _within(call, correlation[~mine]) & ~_within(call, correlation[mine])
    return take(tables, np.flatnonzero(mine), np.flatnonzero(~elsewhere))


def _within(call: Int64, correlation: Int64) -> Bool:
    return np.asarray((call != NONE) & np.isin(call, correlation))


def _part(process: Process, rank: int, source: str, device: int, tables: Tables) -> Part:
    ranked = Tables(
        conform(constant_rank(tables.events, rank), EVENTS, "events"),
        conform(constant_rank(tables.host, rank), HOST, "host"),
        conform(constant_rank(tables.collectives, rank), COLLECTIVES, "collectives"),
    )
    return Part(rank, source, device, process.reading, ranked)
