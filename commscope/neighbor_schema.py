"""The tables that the neighbours of a log give: benchmarks, profilers' records, dumps, reports.

A null means "the file does not say". ``bytes`` counts as nccl-tests does: of operations in which
each rank gives or gets a part, the parts of all ranks together.
"""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from commscope import schema
from commscope.schema import TEXT

#: A file says what it likes: most columns may be null.
column = partial(schema.column, nullable=True)

_FILE = column("file", TEXT, "file it was read from", nullable=False)
_LINE = column("line", pa.int64(), "number of the line in that file, from 1; of JSON null")
_BANDWIDTH = (
    column("algbw_gbps", pa.float64(), "bytes by time", unit="GB/s"),
    column("busbw_gbps", pa.float64(), "what each link carries of it", unit="GB/s"),
)

BENCHMARKS = pa.schema(
    [
        _FILE,
        _LINE,
        column("op", TEXT, "all_reduce, all_gather, ...; null: neither said nor to be concluded"),
        column("ranks", pa.int32(), "ranks of each communicator"),
        column("bytes", pa.int64(), "size of the message", unit="bytes", nullable=False),
        column("count", pa.int64(), "elements"),
        column("dtype", TEXT, "element type, as printed"),
        column("reduction", TEXT, "sum, prod, max, min, avg; null: it does not reduce"),
        column("root", pa.int32(), "root; null where there is none"),
        column("in_place", pa.bool_(), "whether input and output are one buffer", nullable=False),
        column("time_us", pa.float64(), "mean time of a call", unit="us"),
        *_BANDWIDTH,
        column("wrong", pa.int64(), "wrong elements; null: not checked"),
        column("algorithm", TEXT, "algorithm, where rccl-tests prints it"),
        column("protocol", TEXT, "protocol, where rccl-tests prints it"),
        column("channels", pa.int32(), "channels, where rccl-tests prints them"),
    ]
)  # fmt: skip
"""One row a measurement of nccl-tests or rccl-tests."""

BENCHMARK_DEVICES = pa.schema(
    [
        _FILE,
        _LINE,
        column("rank", pa.int32(), "rank in the job", nullable=False),
        column("group", pa.int32(), "number of the communicator it belongs to"),
        column("pid", pa.int64(), "process id"),
        column("host", TEXT, "host name"),
        column("device", pa.int32(), "device number"),
        column("bus_id", TEXT, "PCI bus id, as printed"),
        column("name", TEXT, "product name"),
    ]
)
"""One row a device that a benchmark ran on."""

RECORDS = pa.schema(
    [
        _FILE,
        _LINE,
        column("source", TEXT, "inspector, prometheus or accl", nullable=False),
        column("host", TEXT, "host name"),
        column("pid", pa.int64(), "process id"),
        column("rank", pa.int32(), "rank in the communicator"),
        column("nranks", pa.int32(), "number of its ranks"),
        column("nnodes", pa.int32(), "number of hosts"),
        column("comm_id", TEXT, "hash that all its members share"),
        column("comm_name", TEXT, "name that the program gave it"),
        column("op", TEXT, "all_reduce, ..., send or recv", nullable=False),
        column("peer", pa.int32(), "the other rank of a send or receive"),
        column("seq", pa.int64(), "number of the operation in the communicator"),
        column("message_bytes", pa.int64(), "size as printed", unit="bytes"),
        column("bytes", pa.int64(), "size as nccl-tests counts it", unit="bytes"),
        column("size_range", TEXT, "range of sizes that a Prometheus sample is of"),
        column("exec_time_us", pa.float64(), "time it ran", unit="us"),
        column("timing_source", TEXT, "kernel_gpu, kernel_cpu, gpu_globaltimer, ..."),
        *_BANDWIDTH,
        column("algorithm", TEXT, "algorithm"),
        column("protocol", TEXT, "protocol"),
        column("channels", pa.int32(), "channels used"),
        column("kernel_us", pa.float64(), "longest time of a channel's kernel", unit="us"),
        column("enqueue_us", pa.float64(), "from the call to the kernel", unit="us"),
        column("network_us", pa.float64(), "proxy: sending and receiving", unit="us"),
        column("peer_wait_us", pa.float64(), "proxy: waiting for the peer", unit="us"),
        column("gpu_wait_us", pa.float64(), "proxy: waiting for the GPU", unit="us"),
        column("flush_us", pa.float64(), "proxy: flushing what was received", unit="us"),
        column("time_us", pa.int64(), "when it was written, since 1970", unit="us"),
    ]
)  # fmt: skip
"""One row an operation that a profiler of the library measured."""

FLIGHT = pa.schema(
    [
        _FILE,
        column("rank", pa.int32(), "rank of the dump, by its name"),
        column("record", pa.int64(), "number of the entry"),
        column("group", TEXT, "name of the process group"),
        column("description", TEXT, "what it is for"),
        column("group_id", pa.int64(), "number of the process group in its process"),
        column("seq", pa.int64(), "number of the collective in the group"),
        column("p2p_seq", pa.int64(), "number of the send or receive in the group"),
        column("op_id", pa.int64(), "number of the operation; several may share one number above"),
        column("is_p2p", pa.bool_(), "whether it is a send or receive"),
        column("op", TEXT, "operation as recorded, without nccl:"),
        column("input_sizes", TEXT, "shapes of the inputs"),
        column("input_dtypes", TEXT, "element types of the inputs"),
        column("output_sizes", TEXT, "shapes of the outputs"),
        column("output_dtypes", TEXT, "element types of the outputs"),
        column("elements_in", pa.int64(), "elements of all inputs"),
        column("elements_out", pa.int64(), "elements of all outputs"),
        column("state", TEXT, "scheduled, started or completed"),
        column("created_ns", pa.int64(), "when it was enqueued, since 1970", unit="ns"),
        column("started_ns", pa.int64(), "when its start was seen", unit="ns"),
        column("completed_ns", pa.int64(), "when its end was seen", unit="ns"),
        column("duration_ms", pa.float64(), "time it ran on the device", unit="ms"),
        column("timeout_ms", pa.int64(), "time allowed", unit="ms"),
        column("retired", pa.bool_(), "whether the watchdog is done with it"),
        column("frame", TEXT, "innermost line of the program that called it"),
    ]
)
"""One row an entry of a dump of PyTorch's Flight Recorder."""

FLIGHT_GROUPS = pa.schema(
    [
        _FILE,
        column("rank", pa.int32(), "rank of the dump, by its name"),
        column("group", TEXT, "name of the process group"),
        column("description", TEXT, "what it is for"),
        column("ranks", pa.list_(pa.int32()), "its members; null: not said"),
        column("last_enqueued", pa.int64(), "last collective that was enqueued"),
        column("last_started", pa.int64(), "last collective whose start was seen"),
        column("last_completed", pa.int64(), "last collective that was completed"),
    ]
)
"""One row a process group and dump: who belongs to it, and how far this rank came in it."""

RAS = pa.schema(
    [
        _FILE,
        _LINE,
        column("communicator", TEXT, "group and number in it, as reports name it; of JSON null"),
        column("comm_id", TEXT, "hash that all its members share"),
        column("kind", TEXT, "summary, mismatch, incomplete, dead or rank", nullable=False),
        column("communicators", pa.int32(), "number of communicators that a summary is of"),
        column("nranks", pa.int32(), "number of its ranks"),
        column("status", TEXT, "running, init, finalize, abort or unknown"),
        column("rank", pa.int32(), "rank that is missing, dead or counted"),
        column("ranks", pa.int32(), "number of ranks that share the count"),
        column("op", TEXT, "operation that is counted; null: all together"),
        column("count", pa.int64(), "operations launched"),
        column("host", TEXT, "host or address of the process"),
        column("pid", pa.int64(), "process id"),
        column("device", TEXT, "device number"),
        column("says", TEXT, "what is said of it"),
    ]
)
"""One row a fact of a report of NCCL's RAS: a group of communicators, or a rank out of line."""

NEIGHBOR_TABLES = {
    "BENCHMARKS": BENCHMARKS,
    "BENCHMARK_DEVICES": BENCHMARK_DEVICES,
    "RECORDS": RECORDS,
    "FLIGHT": FLIGHT,
    "FLIGHT_GROUPS": FLIGHT_GROUPS,
    "RAS": RAS,
}
