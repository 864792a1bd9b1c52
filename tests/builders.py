"""Builders that make a Kineto trace in three lines, in every layout that exporters write.

trace = TraceBuilder().step(1).kernel("gemm", start_us=10, dur_us=5).collective("all_reduce")
path.write_bytes(LAYOUTS["torch2"](trace.document()))
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commscope.parsers.base import Reading
from commscope.parsers.kineto import read_kineto
from commscope.parsers.opening import Source

Event = dict[str, Any]
Document = dict[str, Any]

_OLD_CATEGORIES = {
    "kernel": "Kernel",
    "cpu_op": "Operator",
    "cuda_runtime": "Runtime",
    "gpu_memcpy": "Memcpy",
    "gpu_memset": "Memset",
    "user_annotation": "user_annotation",
}
_OPS = {
    "all_reduce": "allreduce",
    "all_gather": "_allgather_base",
    "reduce_scatter": "_reduce_scatter_base",
    "broadcast": "broadcast",
}


class TraceBuilder:
    """A trace of one rank; methods add events and return the builder. Times are microseconds."""

    def __init__(self, *, rocm: bool = False, rank: int = 0, world_size: int = 2) -> None:
        self.rocm, self.rank, self.world_size = rocm, rank, world_size
        self.events: list[Event] = []
        self._correlation = 0
        self._now: Any = 0

    def event(self, **keys: Any) -> TraceBuilder:
        """An event as it is."""
        self.events.append(keys)
        return self

    def span(
        self, category: str, name: str, start_us: Any, dur_us: Any, **args: Any
    ) -> TraceBuilder:
        """A complete event of the host; its arguments are the further ones."""
        return self.event(
            ph="X", cat=category, name=name, pid=100, tid=200, ts=start_us, dur=dur_us, args=args
        )

    def step(self, number: int, start_us: Any = 0, dur_us: Any = 1000) -> TraceBuilder:
        """A step annotation of the profiler."""
        return self.span("user_annotation", f"ProfilerStep#{number}", start_us, dur_us)

    def operator(self, name: str, start_us: Any = 0, dur_us: Any = 1, **args: Any) -> TraceBuilder:
        """An operator, which the analysis does not need."""
        return self.span("cpu_op", name, start_us, dur_us, **{"External id": 7, **args})

    def launch(self, start_us: Any = 0, dur_us: Any = 2) -> TraceBuilder:
        """The call that launches the activity added next."""
        name = "hipLaunchKernel" if self.rocm else "cudaLaunchKernel"
        return self.span("cuda_runtime", name, start_us, dur_us, correlation=self._correlation + 1)

    def kernel(
        self, name: str, start_us: Any = None, dur_us: Any = 10, stream: Any = 0, **args: Any
    ) -> TraceBuilder:
        """A kernel; without a start it follows the activity added last."""
        given = {"stream": stream, **args}
        return self._activity("kernel", name, start_us, dur_us, given)

    def copy(self, start_us: Any = None, dur_us: Any = 10, **args: Any) -> TraceBuilder:
        """A copy from device to host."""
        return self.copy_named("Memcpy DtoH (Device -> Host)", start_us, dur_us, **args)

    def copy_named(
        self, name: str, start_us: Any = None, dur_us: Any = 10, stream: Any = 0, **args: Any
    ) -> TraceBuilder:
        """A copy of any name."""
        given = {"stream": stream, "bytes": 4096, **args}
        return self._activity("gpu_memcpy", name, start_us, dur_us, given)

    def collective(
        self,
        op: str = "all_reduce",
        start_us: Any = None,
        dur_us: Any = 10,
        stream: Any = 4,
        elements: int = 1024,
        **args: Any,
    ) -> TraceBuilder:
        """A kernel of a collective with its metadata."""
        name = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"
        metadata = {
            "Collective name": _OPS.get(op, op),
            "In msg nelems": elements,
            "Out msg nelems": elements * (self.world_size if op == "all_gather" else 1),
            "Group size": self.world_size,
            "dtype": "Float",
            "Process Group Name": "0",
            "Process Group Description": "default_pg",
            "Process Group Ranks": str(list(range(self.world_size))),
        }
        given = {"stream": stream, **metadata, **args}
        return self._activity("kernel", name, start_us, dur_us, given)

    def record(self, op: str, external_id: int, **args: Any) -> TraceBuilder:
        """What the host says of the collective with this external id."""
        given = {"External id": external_id, "Collective name": _OPS.get(op, op), **args}
        return self.span("cpu_op", "record_param_comms", 1, 1, **given)

    def gpu_annotation(
        self, name: str, start_us: Any, dur_us: Any, stream: Any = 0, device: Any = 0, **args: Any
    ) -> TraceBuilder:
        """An annotation of the host, shown on the stream it covers."""
        span = {"ph": "X", "cat": "gpu_user_annotation", "name": name, "pid": device}
        return self.event(**span, tid=stream, ts=start_us, dur=dur_us, args={**args})

    def flow(self, start_us: Any = 0) -> TraceBuilder:
        """An arrow from the host to the device, which the analysis does not need."""
        return self.event(
            ph="s", id=self._correlation, pid=100, tid=200, ts=start_us, cat="ac2g", name="ac2g"
        )

    def metadata(self, name: str = "process_name", value: str = "python") -> TraceBuilder:
        """A name for the viewer, which the analysis does not need."""
        return self.event(name=name, ph="M", ts=0, pid=100, tid=0, args={"name": value})

    def document(self) -> Document:
        """The trace as the profiler of torch 2 writes it."""
        version = {"rocprofiler-sdk_version": 60400, "hip_runtime_version": 60443483}
        gpu = "AMD Instinct MI300X" if self.rocm else "NVIDIA H200"
        return {
            "schemaVersion": 1,
            "deviceProperties": [{"id": 0, "name": gpu}, {"id": 1, "name": gpu}],
            **(version if self.rocm else {"cuda_runtime_version": 12080}),
            "distributedInfo": {
                "backend": "nccl",
                "rank": self.rank,
                "world_size": self.world_size,
            },
            "baseTimeNanoseconds": 1_700_000_000_000_000_000,
            "traceEvents": list(self.events),
            "traceName": "trace.json",
        }

    def _activity(
        self, category: str, name: str, start_us: Any, dur_us: Any, args: Event
    ) -> TraceBuilder:
        self._correlation += 1
        start = self._now if start_us is None else start_us
        if isinstance(start, (int, float)) and isinstance(dur_us, (int, float)):
            self._now = start + dur_us
        identity = {"device": 0, "stream": args["stream"], "correlation": self._correlation}
        given = {**identity, **args}
        span = {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": given["stream"]}
        return self.event(**span, ts=start, dur=dur_us, args=given)


def torch2(document: Document) -> bytes:
    """As the profiler of torch 2 writes it: several keys a line."""
    return _written(document, _torch2_event, ",\n  ")


def key_a_line(document: Document) -> bytes:
    """As newer profilers write it: one key a line."""
    return _written(document, lambda event: json.dumps(event, indent=2), ",\n")


def _written(document: Document, write: Callable[[Event], str], between: str) -> bytes:
    before, after = _around(document)
    events = between.join(map(write, document["traceEvents"]))
    return f'{before}  "traceEvents": [\n  {events}\n  ]{after}\n}}\n'.encode()


def _around(document: Document) -> tuple[str, str]:
    keys = list(document)
    at = keys.index("traceEvents")
    before = "".join(f'  "{key}": {json.dumps(document[key])},\n' for key in keys[:at])
    after = "".join(f',\n  "{key}": {json.dumps(document[key])}' for key in keys[at + 1 :])
    return "{\n" + before, after


def _torch2_event(event: Event) -> str:
    """The lines of an event; what is not a span stands on one line."""
    if event.get("ph") != "X" or list(event)[:3] != ["ph", "cat", "name"]:
        return "{\n    " + json.dumps(event)[1:-1] + "\n  }"
    texts = {key: json.dumps(value) for key, value in event.items()}
    lines = [", ".join(f'"{k}": {texts[k]}' for k in ("ph", "cat", "name", "pid", "tid"))]
    lines.append(", ".join(f'"{k}": {texts[k]}' for k in ("ts", "dur") if k in texts))
    if isinstance(event.get("args"), dict):
        lines.append('"args": {\n      ' + texts["args"][1:-1] + "\n    }")
    elif "args" in texts:
        lines.append(f'"args": {texts["args"]}')
    return "{\n    " + ",\n    ".join(filter(None, lines)) + "\n  }"


def schema_2021(document: Document) -> bytes:
    """As torch 1.8 wrote it: categories of their own, no header but the devices."""
    events = [
        {k: _OLD_CATEGORIES.get(v, v) if k == "cat" else v for k, v in event.items()}
        for event in document["traceEvents"]
    ]
    kept = ("schemaVersion", "deviceProperties", "distributedInfo")
    old = {key: value for key, value in document.items() if key in kept}
    return torch2({**old, "traceEvents": events})


def merged(document: Document) -> bytes:
    """As TraceFusion merges ranks: the rank in the arguments, no header."""
    rank = document["distributedInfo"]["rank"]
    events = [
        {**event, "args": {**event["args"], "rank": rank}} if "args" in event else event
        for event in document["traceEvents"]
    ]
    return json.dumps({"traceEvents": events}).encode()


#: Every way to write the same trace; all but the last two keep what surrounds the events.
LAYOUTS: dict[str, Callable[[Document], bytes]] = {
    "torch2": torch2,
    "key_a_line": key_a_line,
    "minified": lambda d: json.dumps(d, separators=(",", ":")).encode(),
    "one_line": lambda d: json.dumps(d).encode(),
    "indented": lambda d: json.dumps(d, indent=4).encode(),
    "sorted_keys": lambda d: json.dumps(d, indent=1, sort_keys=True).encode(),
    "crlf": lambda d: torch2(d).replace(b"\n", b"\r\n"),
    "bom": lambda d: b"\xef\xbb\xbf" + torch2(d),
    "not_ascii": lambda d: json.dumps(d, ensure_ascii=False).encode("utf-8", "replace"),
    "events_first": lambda d: torch2({"traceEvents": d["traceEvents"], **d}),
    "schema_2021": schema_2021,
    "merged": merged,
    "root_array": lambda d: json.dumps(d["traceEvents"], indent=2).encode(),
}


def source_of(path: Path) -> Source:
    """The file as a source."""
    return Source(path, label=path.name, size=path.stat().st_size)


def read_bytes(text: bytes, folder: Path, block_bytes: int = 1 << 19) -> Reading:
    """What the Kineto reader makes of a text; small blocks send it through the fast path."""
    path = folder / "trace.json"
    path.write_bytes(text)
    return read_kineto(source_of(path), lambda done, size: None, block_bytes)
