"""Writes a LogicalTrace as Perfetto traces: as rocprofv3 does, and as rocprof-sys does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from logical_trace import LogicalTrace

from commscope.parsers.pftrace.schema import message_class

_Trace = message_class("Trace")
_INCREMENTAL, _BOOTTIME = 64, 6
_BEGIN, _END, _INSTANT = 1, 2, 3
_CLEARED, _NEEDED = 1, 2


@dataclass
class Sequence:
    """One thread of the writer: what it wrote once it tells by number, times by distance."""

    trace: Any
    number: int = 7
    unit_ns: int = 1
    last_ns: int = 0
    ids: dict[tuple[str, str], int] = field(default_factory=dict)

    def packet(self, flags: int = _NEEDED) -> Any:
        made = self.trace.packet.add()
        made.trusted_packet_sequence_id = self.number
        made.sequence_flags = flags
        return made

    def reset(self, at_ns: int) -> None:
        """Begins anew: numbers of texts are given again, the clock is set."""
        self.ids.clear()
        packet = self.packet(_CLEARED)
        packet.trace_packet_defaults.timestamp_clock_id = _INCREMENTAL
        packet.trace_packet_defaults.track_event_defaults.track_uuid = 5
        packet.timestamp = 0
        boot = packet.clock_snapshot.clocks.add()
        boot.clock_id, boot.timestamp = _BOOTTIME, at_ns
        own = packet.clock_snapshot.clocks.add()
        own.clock_id, own.timestamp = _INCREMENTAL, at_ns // self.unit_ns
        own.is_incremental, own.unit_multiplier_ns = True, self.unit_ns
        self.last_ns = at_ns

    def track(self, uuid: int, name: str, **thread: int) -> None:
        described = self.packet().track_descriptor
        described.uuid, described.name = uuid, name.encode()
        for key, value in thread.items():
            setattr(described.thread, key, value)

    def slice(
        self, track: int, category: str, name: str, begin: int, end: int, /, **notes: Any
    ) -> None:
        self.event(_BEGIN, track, category, name, begin, notes)
        self.event(_END, track, category, "", end, {})

    def event(  # noqa: PLR0917
        self, kind: int, track: int, category: str, name: str, at: int, notes: dict[str, Any]
    ) -> None:
        packet = self.packet()
        self._tell_time(packet, at)
        event = packet.track_event
        event.type, event.track_uuid = kind, track
        event.category_iids.append(self._id(packet, "event_categories", category))
        if name:
            event.name_iid = self._id(packet, "event_names", name)
        for key, value in notes.items():
            note = event.debug_annotations.add()
            note.name_iid = self._id(packet, "debug_annotation_names", key)
            if isinstance(value, str):
                note.string_value = value.encode()
            else:
                note.uint_value = value

    def _id(self, packet: Any, table: str, text: str) -> int:
        key = (table, text)
        if key not in self.ids:
            self.ids[key] = 1 + sum(known == table for known, _ in self.ids)
            entry = getattr(packet.interned_data, table).add()
            entry.iid, entry.name = self.ids[key], text.encode()
        return self.ids[key]

    def _tell_time(self, packet: Any, at: int) -> None:
        if at >= self.last_ns:
            distance = (at - self.last_ns) // self.unit_ns
            packet.timestamp = distance
            self.last_ns += distance * self.unit_ns
        else:
            packet.timestamp, packet.timestamp_clock_id = at, _BOOTTIME


def write_rocprofv3(path: Path, trace: LogicalTrace, *, by_queue: bool = False) -> Path:
    """As rocprofv3 does, streams or queues being the rows of the picture."""
    made = _Trace()
    sequence = Sequence(made)
    sequence.reset(1_000)
    threads = sorted({c.thread for c in (*trace.calls, *trace.markers)})
    for thread in threads:
        sequence.track(2**63 + thread, f"THREAD 1 ({thread})")
    sequence.track(3, "python", pid=trace.pid, tid=trace.pid)
    for stream in {d.stream for d in (*trace.dispatches, *trace.transfers)}:
        sequence.track(2**62 + stream, f'STREAM [" {stream} "] ')
    _write_calls(sequence, trace)
    for t in trace.transfers:
        source, _, target = t.direction.partition("_TO_")
        places = {"HOST": "CPU-0", "DEVICE": f"GPU-{t.device}"}
        sequence.slice(
            2**62 + t.stream, "memory_copy", f"MEMORY_COPY_{t.direction}", t.start_ns, t.end_ns,
            begin_ns=t.start_ns, end_ns=t.end_ns, delta_ns=t.end_ns - t.start_ns,
            src_agent=places[source], dst_agent=places[target], copy_bytes=t.bytes,
            corr_id=t.correlation, stream_ID=t.stream,
        )  # fmt: skip
    for d in trace.dispatches:
        stream = {} if by_queue else {"stream_ID": d.stream}
        sequence.slice(
            2**62 + d.stream, "kernel_dispatch", d.name, d.start_ns, d.end_ns,
            begin_ns=d.start_ns, end_ns=d.end_ns, kind=11, agent=f"GPU-{d.device}",
            agent_type="GPU", corr_id=d.correlation, queue=d.queue - 1, kernel_id=3,
            workgroup_size=_product(d.workgroup), grid_size=_product(d.grid), **stream,
        )  # fmt: skip
    path.write_bytes(made.SerializeToString())
    return path


def _write_calls(sequence: Sequence, trace: LogicalTrace) -> None:
    rows = [
        (c.thread, {"HIP_RUNTIME_API": "hip_api"}.get(c.domain, "rccl_api"), c.name, c)
        for c in trace.calls
    ]
    rows += [(m.thread, "marker_api", m.message, m) for m in trace.markers]
    for thread, category, name, call in rows:
        sequence.slice(
            2**63 + thread, category, name, call.start_ns, call.end_ns,
            begin_ns=call.start_ns, end_ns=call.end_ns, tid=thread, kind=3, operation=9,
            corr_id=call.correlation,
        )  # fmt: skip


def write_rocprof_sys(path: Path, trace: LogicalTrace, *, unit_ns: int = 1) -> Path:
    """As rocprof-sys does: rows by device and queue, no annotations, calls as they happen."""
    made = _Trace()
    gpu = Sequence(made, number=1)
    gpu.reset(10)
    for d in trace.dispatches:
        uuid = 1000 + 10 * d.device + d.queue
        gpu.track(uuid, f"GPU Kernel Dispatch [{d.device}] Queue {d.queue}")
        gpu.slice(
            uuid, "rocm_kernel_dispatch", d.name, d.start_ns, d.end_ns, corr_id=d.correlation,
            stream_id=d.stream, grid_size=_product(d.grid), workgroup_size=str(d.workgroup),
        )  # fmt: skip
    for t in trace.transfers:
        uuid = 2000 + t.device
        gpu.track(uuid, f"GPU Memory Copy to Agent [{t.device}] Thread 1")
        gpu.slice(
            uuid, "rocm_memory_copy", f"MEMORY_COPY_{t.direction}", t.start_ns, t.end_ns,
            corr_id=t.correlation, stream_id=t.stream,
        )  # fmt: skip
    for thread in sorted({c.thread for c in trace.calls}):
        _write_thread(Sequence(made, number=thread, unit_ns=unit_ns), trace, thread)
    path.write_bytes(made.SerializeToString())
    return path


def _write_thread(sequence: Sequence, trace: LogicalTrace, thread: int) -> None:
    sequence.reset(0)
    sequence.track(thread, "", pid=trace.pid, tid=thread)
    moments: list[tuple[int, int, int, str, str, int]] = []
    rows = [("rocm_hip_api", c.name, c) for c in trace.calls if c.thread == thread]
    rows += [("rocm_marker_api", m.message, m) for m in trace.markers if m.thread == thread]
    for category, name, call in rows:
        moments.append((call.start_ns, -call.end_ns, _BEGIN, category, name, call.correlation))
        moments.append((call.end_ns, -call.start_ns, _END, category, "", 0))
    for at, _, kind, category, name, correlation in sorted(moments):
        notes = {"stack_id": correlation} if kind == _BEGIN else {}
        sequence.event(kind, thread, category, name, at, notes)


def write_events(path: Path, write: Iterable[tuple[int, int, int]]) -> Path:
    """Begins and ends of kernels as (kind, track, time), for traces that lack some of them."""
    made = _Trace()
    sequence = Sequence(made)
    sequence.reset(0)
    for kind, track, at in write:
        sequence.event(kind, track, "kernel_dispatch", "gemm" if kind != _END else "", at, {})
    path.write_bytes(made.SerializeToString())
    return path


def _product(sizes: tuple[int, int, int]) -> int:
    return sizes[0] * sizes[1] * sizes[2]
