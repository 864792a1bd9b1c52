"""Reads one Perfetto trace of AMD's profilers."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from commscope.errors import CorruptTrace
from commscope.parsers.base import Facts, Health, Input, Progress, Reading
from commscope.parsers.device_tables import Activities, Calls, joined, no_activities, no_calls
from commscope.parsers.opening import Blocks, Source, open_blocks
from commscope.parsers.pftrace.compressed import Opened
from commscope.parsers.pftrace.events import EventReader, Events
from commscope.parsers.pftrace.groups import Grouper
from commscope.parsers.pftrace.packets import Block, Packets
from commscope.parsers.pftrace.rows import CALLS, COPIES, KERNELS, RowMaker, roles
from commscope.parsers.pftrace.scan import Scanned, scan
from commscope.parsers.pftrace.slices import Slices
from commscope.parsers.pftrace.state import State
from commscope.parsers.rocprof_process import Process, tables_of
from commscope.parsers.words import Words
from commscope.wording import counted

#: Large enough that NumPy's cost of a call is small, and small enough for the processor's cache.
BLOCK_BYTES = 4 << 20
_BLOCKS_AHEAD = 2


@dataclass(slots=True)
class _Found:
    """What was read so far."""

    kept: dict[int, list[Events]] = field(
        default_factory=lambda: {KERNELS: [], COPIES: [], CALLS: []}
    )
    packets: int = 0
    damaged: int = 0
    slices: int = 0


def read_pftrace(source: Source, progress: Progress, block_bytes: int = BLOCK_BYTES) -> Reading:
    """Reads a trace; raises CorruptTrace where not one of its packets can be read."""
    words = Words()
    state, slices, found = State(words), Slices(), _Found()
    reader = EventReader(state, words)
    with open_blocks(source, block_bytes=block_bytes) as blocks:
        packets = Packets(_reporting(blocks, source, progress))
        opened = Opened(packets)
        for block in _scanned(opened):
            _keep(found, slices.add(reader.read(block)), words)
            found.packets += block.count
            found.damaged += block.damaged
        cut = blocks.cut or packets.cut
        stored = Input(source.label, "pftrace", blocks.sha256, blocks.bytes_read)
    if not found.packets:
        raise CorruptTrace(f"{source.label}: cut or damaged before its first packet; copy it again")
    unread = opened.unread + Counter({"inside of others": state.unread})
    process = _process(found, state, words)
    tables = tables_of(process)
    return Reading(
        input=stored,
        facts=_facts(state),
        health=Health(
            events_read=found.slices,
            events_lost=found.damaged + state.lost + slices.unfinished + slices.ends_lost,
            bytes_lost=packets.bytes_lost + opened.bytes_lost,
            cut=cut,
            lacks_events=cut is not None or unread.total() > 0,
            last_good_ns=_last_ns(process) if cut else None,
            notes=(*_notes(slices, state), *_unread_notes(unread), *tables.notes),
        ),
        events=tables.events,
        host=tables.host,
        collectives=tables.collectives,
    )


def _last_ns(process: Process) -> int | None:
    """Begin of the last activity or call."""
    starts = np.concatenate((process.activities.start_ns, process.calls.start_ns))
    return int(starts.max()) if len(starts) else None


def _reporting(blocks: Blocks, source: Source, progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        progress(blocks.bytes_read, source.size)
        yield block


def _scanned(blocks: Iterable[Block]) -> Iterator[Scanned]:
    """The blocks scanned, by a thread that is some blocks ahead."""
    grouper = Grouper()
    with ThreadPoolExecutor(1, "commscope-pftrace") as thread:
        running: deque[Future[Scanned]] = deque()
        for block in blocks:
            running.append(thread.submit(scan, block, grouper))
            if len(running) > _BLOCKS_AHEAD:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def _keep(found: _Found, slices: Events, words: Words) -> None:
    """Keeps the slices that are needed."""
    role = roles(slices, words)
    for number, kept in found.kept.items():
        rows = np.flatnonzero(role == number)
        if len(rows):
            kept.append(slices.take(rows))
    found.slices += len(role)


def _process(found: _Found, state: State, words: Words) -> Process:
    maker = RowMaker(state.tracks, words)
    activities: list[Activities] = [no_activities()]
    for role in (KERNELS, COPIES):
        activities += [maker.activities(slices, role) for slices in found.kept[role]]
    calls: list[Calls] = [no_calls(), *map(maker.calls, found.kept[CALLS])]
    return Process(joined(activities), joined(calls), words)


def _facts(state: State) -> Facts:
    pids = Counter(track.pid for track in state.tracks.values() if track.pid)
    return Facts(pid=pids.most_common(1)[0][0] if pids else None, is_rocm=True)


def _notes(slices: Slices, state: State) -> Iterator[str]:
    if slices.unfinished:
        one, many = "slice has no end and is", "slices have no end and are"
        yield f"{counted(slices.unfinished, one, many)} left out"
    if slices.ends_lost:
        one, many = "end of a slice has no begin and is", "ends of slices have no begin and are"
        yield f"{counted(slices.ends_lost, one, many)} left out"
    if state.discarded:
        yield (
            f"the recording's buffer was full: {state.discarded:,} pieces of it were thrown away; "
            "record again with a larger one"
        )


def _unread_notes(unread: Mapping[str, int]) -> Iterator[str]:
    for why, count in sorted(unread.items()):
        if count:
            packets = counted(count, "compressed packet is", "compressed packets are")
            yield f"{packets} not read: {why}"
