"""A simulated rank as a process that rocprofv3 records, with the generator's markers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from zlib import crc32

from commscope.generator.clocks import TRUE_CLOCK
from commscope.generator.kineto_style import (
    COPY_CALLS,
    FIRST_PID,
    LAUNCHES,
    WARMUP_LABEL,
    call_name,
    kernel_name,
    stream_number,
)
from commscope.generator.rocprofv3.process import (
    ApiCall,
    Dispatch,
    LogicalTrace,
    Marker,
    Transfer,
)
from commscope.generator.schedule import Communication, Compute, Copy, op_of
from commscope.generator.simulation import Activity, Simulation, Span

#: Calls and ranges that launch nothing have correlations of their own.
_FIRST_FREE = 1 << 20
_VENDOR = "rocm"
_DIRECTIONS = {"h2d": "HOST_TO_DEVICE", "d2h": "DEVICE_TO_HOST"}
_FUNCTIONS = {
    "all_reduce": "ncclAllReduce", "all_gather": "ncclAllGather", "barrier": "ncclAllReduce",
    "reduce_scatter": "ncclReduceScatter", "all_to_all": "ncclAllToAll",
    "broadcast": "ncclBroadcast", "reduce": "ncclReduce", "gather": "ncclGather",
    "scatter": "ncclScatter", "send": "ncclSend", "recv": "ncclRecv",
}  # fmt: skip


def recorded(simulation: Simulation, rank: int, gpu: str) -> LogicalTrace:
    """What rocprofv3 records of the process of a rank, on GPUs of a product name."""
    return _Process(simulation, rank, gpu).recorded()


@dataclass(slots=True)
class _Process:
    simulation: Simulation
    rank: int
    gpu: str
    _streams: dict[str, int] = field(default_factory=dict)
    _free: int = _FIRST_FREE

    def recorded(self) -> LogicalTrace:
        run, schedule = self.simulation.ranks[self.rank], self.simulation.schedule
        dispatches: list[Dispatch] = []
        transfers: list[Transfer] = []
        for activity in run.activities:
            if isinstance(activity.operation, Copy):
                transfers.append(self._transfer(activity, activity.operation))
            else:
                dispatches.append(self._dispatch(activity))
        local = range(schedule.hosts.count(schedule.hosts[self.rank]))
        return LogicalTrace(
            tuple(dispatches),
            tuple(transfers),
            tuple(self._calls()),
            tuple(self._markers()),
            pid=self._pid,
            host=schedule.hosts[self.rank],
            gpus=dict.fromkeys(local, self.gpu),
        )

    @property
    def _pid(self) -> int:
        return FIRST_PID + self.rank

    def _dispatch(self, activity: Activity) -> Dispatch:
        operation, stream = activity.operation, self._stream(activity.operation.stream)
        name, blocks = kernel_name(_VENDOR, ""), 32
        if isinstance(operation, Compute):
            name = f"csg_{operation.kind}"
            blocks = crc32(name.encode()) % 4096 + 64
        start, end = _ns(activity.start_ns), _ns(activity.end_ns)
        return Dispatch(
            name, start, end, activity.correlation, device=self._device, stream=stream,
            queue=stream, grid=(blocks * 256, 1, 1), workgroup=(256, 1, 1),
        )  # fmt: skip

    def _transfer(self, activity: Activity, operation: Copy) -> Transfer:
        return Transfer(
            _DIRECTIONS[operation.direction], _ns(activity.start_ns), _ns(activity.end_ns),
            activity.correlation, operation.size_bytes, self._device,
            self._stream(operation.stream),
        )  # fmt: skip

    @property
    def _device(self) -> int:
        return self.simulation.schedule.local_rank(self.rank)

    def _stream(self, name: str) -> int:
        if name not in self._streams:
            self._streams[name] = stream_number(_VENDOR, len(self._streams))
        return self._streams[name]

    def _calls(self) -> Iterator[ApiCall]:
        run = self.simulation.ranks[self.rank]
        for call in run.calls:
            yield self._call(call_name(_VENDOR, call.kind), call.start_ns, call.end_ns,
                             call.correlation)  # fmt: skip
        for activity in run.activities:
            called = activity.call_ns, activity.call_end_ns
            yield self._call(_launch(activity), *called, activity.correlation)
            if isinstance(activity.operation, Communication):
                function = _FUNCTIONS[op_of(activity.operation)]
                yield self._call(function, *called, self._next(), "RCCL_API")

    def _call(
        self,
        name: str,
        start_ns: int,
        end_ns: int,
        correlation: int,
        domain: str = "HIP_RUNTIME_API",
    ) -> ApiCall:
        return ApiCall(name, _ns(start_ns), _ns(end_ns), correlation, self._pid, domain)

    def _markers(self) -> Iterator[Marker]:
        run = self.simulation.ranks[self.rank]
        for span in run.spans:
            if span.category == "user_annotation":
                yield self._marker(_label(span), span.start_ns, span.end_ns)
        for activity in run.activities:
            if isinstance(activity.operation, Communication):
                label = self._told(activity, activity.operation)
                yield self._marker(label, activity.call_ns, activity.call_end_ns)

    def _marker(self, label: str, start_ns: int, end_ns: int) -> Marker:
        return Marker(label, _ns(start_ns), _ns(end_ns), self._next(), self._pid)

    def _told(self, activity: Activity, operation: Communication) -> str:
        """What rocprofv3 itself does not tell of a collective."""
        instance = activity.instance
        seq = "" if instance is None else f"seq={self.simulation.instances[instance].seq};"
        return f"csg.coll;{seq}op={op_of(operation)};bytes={operation.size_bytes}"

    def _next(self) -> int:
        self._free += 1
        return self._free


def _launch(activity: Activity) -> str:
    operation = activity.operation
    if isinstance(operation, Copy):
        return COPY_CALLS[_VENDOR][operation.memory]
    return LAUNCHES[_VENDOR]["kernel" if isinstance(operation, Compute) else "collective"]


def _label(span: Span) -> str:
    if span.step is None:
        return span.label
    return WARMUP_LABEL if span.step < 0 else f"csg.step#{span.step}"


def _ns(time_ns: int) -> int:
    return TRUE_CLOCK.written_ns(time_ns)
