"""One JSON object an operation, as Inspector and accl-profiler write them."""

from __future__ import annotations

import re
from typing import Any, TypeAlias, TypeVar

import msgspec

from commscope.parsers.inspector.operation import operation, total_bytes

_Number: TypeAlias = "float | int | None"
_N = TypeVar("_N", int, float)
_MOST = 2**63 - 1

#: ``accl_profiler_rank<N>_<host>_pid<PID>_0x<hash>.jsonl``: its records do not tell these.
_NAME = re.compile(r"accl_profiler_rank\d+_(?P<host>.+)_pid(?P<pid>\d{1,10})_(?P<comm>0x[0-9a-f]+)")


class _Header(msgspec.Struct):
    id: str | int | None = None
    comm_name: str | None = None
    rank: int | None = None
    n_ranks: int | None = None
    nnodes: int | None = None


class _Metadata(msgspec.Struct):
    hostname: str | None = None
    pid: int | None = None
    dump_timestamp_us: int | None = None


class _Kernel(msgspec.Struct):
    kernel_start_ts: int | None = None
    kernel_stop_ts: int | None = None
    duration_us: _Number = None


class _Trace(msgspec.Struct):
    kernel_events: list[_Kernel] = []


class _Parts(msgspec.Struct):
    """What accl-profiler says of where the time went."""

    enqueue_to_kernel_us: _Number = None
    gpu_kernel_max_us: _Number = None
    proxy_gpu_wait_us: _Number = None
    proxy_network_us: _Number = None
    proxy_peer_wait_us: _Number = None
    proxy_flush_us: _Number = None


class _Collective(msgspec.Struct):
    coll: str
    coll_sn: int | None = None
    coll_msg_size_bytes: int | None = None
    coll_exec_time_us: _Number = None
    coll_timing_source: str | None = None
    coll_algobw_gbs: _Number = None
    coll_busbw_gbs: _Number = None
    coll_algo: str | None = None
    coll_proto: str | None = None
    coll_n_channels: int | None = None
    decomposition: _Parts | None = None
    event_trace_ts: _Trace | None = None


class _PointToPoint(msgspec.Struct):
    p2p: str
    p2p_sn: int | None = None
    p2p_peer: int | None = None
    p2p_msg_size_bytes: int | None = None
    p2p_exec_time_us: _Number = None
    p2p_timing_source: str | None = None
    p2p_algobw_gbs: _Number = None
    p2p_busbw_gbs: _Number = None
    event_trace_ts: _Trace | None = None


class Summary(msgspec.Struct):
    """The last line of accl-profiler: what it lost."""

    complete: bool | None = None
    dropped_collectives: int = 0
    leaked_collectives: int = 0


class Document(msgspec.Struct):
    """One line."""

    header: _Header | None = None
    metadata: _Metadata | None = None
    coll_perf: _Collective | None = None
    p2p_perf: _PointToPoint | None = None
    summary: Summary | None = None


def row_of(document: Document, named: dict[str, Any]) -> dict[str, Any] | None:
    """The row of RECORDS that a line is; null where it measures nothing."""
    header, metadata = document.header or _Header(), document.metadata or _Metadata()
    if document.coll_perf is not None:
        measured = _collective(document.coll_perf, header.n_ranks)
    elif document.p2p_perf is not None:
        measured = _point_to_point(document.p2p_perf)
    else:
        return None
    return {
        **named,
        "rank": header.rank,
        "nranks": header.n_ranks,
        "nnodes": header.nnodes,
        **({} if header.id is None else {"comm_id": str(header.id)}),
        "comm_name": None if header.comm_name in ("unknown", "") else header.comm_name,
        **({} if metadata.hostname is None else {"host": metadata.hostname, "pid": metadata.pid}),
        "time_us": metadata.dump_timestamp_us,
        **measured,
    }


def named_by(label: str) -> dict[str, Any]:
    """What the name of a file of accl-profiler tells."""
    found = _NAME.search(label)
    if found is None:
        return {}
    return {"host": found["host"], "pid": int(found["pid"]), "comm_id": found["comm"]}


def _collective(it: _Collective, nranks: int | None) -> dict[str, Any]:
    op = operation(it.coll)
    message = _bounded(it.coll_msg_size_bytes)
    total = None if message is None else total_bytes(op, message, _bounded(nranks))
    is_accl = it.decomposition is not None or it.coll_algo is not None
    parts = it.decomposition or _Parts()
    algbw, busbw = _bounded(it.coll_algobw_gbs), _bounded(it.coll_busbw_gbs)
    time = _bounded(it.coll_exec_time_us)
    if is_accl and algbw and busbw and total and time:
        # It divides the part of one rank by the time, and versions differ in the unit.
        corrected = total / time / 1e3
        algbw, busbw = corrected, corrected * busbw / algbw
    return {
        "source": "accl" if is_accl else "inspector",
        "op": op,
        "seq": it.coll_sn,
        "message_bytes": message,
        "bytes": total,
        "exec_time_us": it.coll_exec_time_us,
        "timing_source": it.coll_timing_source,
        "algbw_gbps": algbw,
        "busbw_gbps": busbw,
        "algorithm": it.coll_algo and it.coll_algo.lower(),
        "protocol": it.coll_proto and it.coll_proto.lower(),
        "channels": it.coll_n_channels or _channels(it.event_trace_ts),
        "kernel_us": parts.gpu_kernel_max_us or _longest(it.event_trace_ts),
        "enqueue_us": parts.enqueue_to_kernel_us,
        "network_us": parts.proxy_network_us,
        "peer_wait_us": parts.proxy_peer_wait_us,
        "gpu_wait_us": parts.proxy_gpu_wait_us,
        "flush_us": parts.proxy_flush_us,
    }


def _point_to_point(it: _PointToPoint) -> dict[str, Any]:
    return {
        "source": "inspector",
        "op": operation(it.p2p),
        "peer": it.p2p_peer,
        "seq": it.p2p_sn,
        "message_bytes": it.p2p_msg_size_bytes,
        "bytes": it.p2p_msg_size_bytes,
        "exec_time_us": it.p2p_exec_time_us,
        "timing_source": it.p2p_timing_source,
        "algbw_gbps": it.p2p_algobw_gbs,
        "busbw_gbps": it.p2p_busbw_gbs,
        "channels": _channels(it.event_trace_ts),
        "kernel_us": _longest(it.event_trace_ts),
    }


def _bounded(value: _N | None) -> _N | None:
    """A number that can be reckoned with; null where it is larger than any column holds."""
    return value if value is not None and abs(value) <= _MOST else None


def _channels(trace: _Trace | None) -> int | None:
    return len(trace.kernel_events) or None if trace else None


def _longest(trace: _Trace | None) -> int | None:
    """The longest time of a channel's kernel, in us."""
    times = [
        event.kernel_stop_ts - event.kernel_start_ts
        for event in (trace.kernel_events if trace else ())
        if event.kernel_start_ts is not None and event.kernel_stop_ts is not None
    ]
    return max(times, default=None)
