"""The tables that a log of RCCL or NCCL gives: columns, units, meaning.

Every row names the file and the line it was read from. A null means "the log does not say".
A process is known by host and process id; its communicators by their address, which is its own:
the same one in another process is another communicator. ``docs/schema.md`` is generated from here.
"""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from commscope import schema
from commscope.schema import TEXT

#: A log says what it likes: most columns may be null.
column = partial(schema.column, nullable=True)

_WHERE = (
    column("file", TEXT, "file it was read from", nullable=False),
    column("line", pa.int64(), "number of the line in that file, from 1", nullable=False),
    column("host", TEXT, "host name, up to its first dot"),
    column("pid", pa.int64(), "process id"),
    column("thread", pa.int64(), "thread of the process"),
)
_OWNER = (
    *_WHERE,
    column("comm", pa.int64(), "row of the communicator in COMMS"),
    column("rank", pa.int32(), "rank in that communicator of the one who wrote it"),
)


def _seconds(name: str, meaning: str) -> pa.Field:
    return column(name, pa.int64(), meaning, unit="ns")


COMMS = pa.schema(
    [
        *_WHERE,
        column("address", TEXT, "address of the communicator in its process"),
        column("comm_id", TEXT, "hash that all its members share"),
        column("rank", pa.int32(), "rank of the process in it"),
        column("nranks", pa.int32(), "number of its ranks"),
        column("cuda_dev", pa.int32(), "device number in the process"),
        column("nvml_dev", pa.int32(), "device number on the host"),
        column("bus_id", TEXT, "PCI bus id of the device, hexadecimal as printed"),
        column("nnodes", pa.int32(), "number of hosts"),
        column("local_ranks", pa.int32(), "number of its ranks on this host"),
        column("local_rank", pa.int32(), "rank among those of this host"),
        column("network", TEXT, "network it uses between hosts"),
        column("parent", TEXT, "address of the communicator it was split from"),
        column("color", pa.int64(), "color of the split"),
        column("start_line", pa.int64(), "line that says its initialisation started"),
        column("complete_line", pa.int64(), "line that says its initialisation is complete"),
        column("timings_line", pa.int64(), "line that says how long its initialisation took"),
        column("end", TEXT, "how it ended: destroyed or aborted"),
        column("coll_channels", pa.int32(), "channels of collectives"),
        column("p2p_channels", pa.int32(), "channels of sends and receives"),
        column("p2p_channels_per_peer", pa.int32(), "of those, for one peer"),
        column("nvls_channels", pa.int32(), "channels of NVLink SHARP"),
        _seconds("total_ns", "time of the initialisation"),
        _seconds("kernels_ns", "of it, for loading the kernels"),
        _seconds("alloc_ns", "of it, for allocating"),
        _seconds("bootstrap_ns", "of it, for finding the other ranks"),
        _seconds("allgathers_ns", "of it, for exchanging what each rank knows"),
        _seconds("topo_ns", "of it, for finding the topology"),
        _seconds("graphs_ns", "of it, for choosing rings and trees"),
        _seconds("connections_ns", "of it, for connecting"),
        _seconds("rest_ns", "of it, for all else"),
        column("rank_source", TEXT, "what tells the rank: init, end, call or channel"),
    ]
)
"""One row a communicator and process that speaks of it; the line is the first that does."""

CHANNELS = pa.schema(
    [
        *_OWNER,
        column("channel", pa.int32(), "number of the channel"),
        column("connection", pa.int32(), "0 for collectives, 1 for sends and receives"),
        column("src", pa.int32(), "rank that sends; null: the network does"),
        column("dst", pa.int32(), "rank that receives; null: the network does"),
        column("src_device", TEXT, "bus id or device number of the sender, as printed"),
        column("dst_device", TEXT, "bus id or device number of the receiver, as printed"),
        column("direction", TEXT, "send or receive, where both ends tell it"),
        column(
            "transport", TEXT, "P2P/IPC, P2P/CUMEM, SHM, NET/IB, NET/Socket, ...", nullable=False
        ),
        column("net_device", pa.int32(), "number of the network device"),
        column("via_rank", pa.int32(), "rank through which it goes (PXN, indirect)"),
        column("gpu_direct", pa.bool_(), "whether the network device reaches into GPU memory"),
        column("detail", TEXT, "what else is printed, such as read or Shared"),
        column("repeats", pa.int32(), "times it was printed, where a log collector merged them"),
    ]
)
"""One row a connection that a rank reports; network connections are reported by both ends."""

GRAPHS = pa.schema(
    [
        *_OWNER,
        column(
            "kind",
            TEXT,
            "pattern, ring_list, ring, tree, connected, path, link or nic",
            nullable=False,
        ),
        column("channel", pa.int32(), "number of the channel of a ring or tree"),
        column("channels", pa.int32(), "number of channels of a pattern or list of rings"),
        column("ranks", pa.list_(pa.int32()), "ring_list: the order, of which at most 20 ranks "
                "are printed; ring: before, own, next; tree: up, own, down; null: there is none"),
        column("name", TEXT, "kind of a pattern, what was connected, name of a network device, or "
                "device that a path or link begins at"),
        column("peer", TEXT, "device that a path or link ends at"),
        column("link", TEXT, "kind of link: XGMI, NVL, PIX, PHB, SYS, IB, RoCE, Socket, ..."),
        column("inter_link", TEXT, "kind of link of a pattern between hosts"),
        column("hops", pa.int32(), "number of links of a path"),
        column("bandwidth_gbps", pa.float64(), "bandwidth as the library counts it", unit="GB/s"),
        column("inter_bandwidth_gbps", pa.float64(), "that between hosts", unit="GB/s"),
    ]
)  # fmt: skip
"""One row a fact on the topology or on the rings and trees chosen for it."""

CALLS = pa.schema(
    [
        *_OWNER,
        column("opcount", pa.int64(), "number of the operation; NCCL 2.28 prints 0 throughout"),
        column("op", TEXT, "all_reduce, all_gather, send, ...", nullable=False),
        column("count", pa.int64(), "elements, as given to the call", nullable=False),
        column("dtype", TEXT, "element type"),
        column("call_bytes", pa.int64(), "count times the size of an element", unit="bytes"),
        column("bytes", pa.int64(), "size as nccl-tests counts it", unit="bytes"),
        column("reduction", TEXT, "sum, prod, max, min, avg or user"),
        column("root", pa.int32(), "root; of a send or receive the peer"),
        column("nranks", pa.int32(), "number of ranks of the communicator"),
        column("address", TEXT, "address of the communicator in its process"),
        column("stream", TEXT, "address of the stream"),
        column("task", pa.int32(), "number of the task in its group"),
        column("global_rank", pa.int32(), "rank in the job"),
    ]
)
"""One row a call of a collective, send or receive; replays of a captured graph print nothing."""

TUNING = pa.schema(
    [
        *_OWNER,
        column("op", TEXT, "all_reduce, ...; older logs do not say"),
        column("bytes", pa.int64(), "size as the log counts it: up to version 2.21 of all ranks "
                "together, from 2.24 of one rank", unit="bytes", nullable=False),
        column("algorithm", TEXT, "tree, ring, nvls, ..."),
        column("protocol", TEXT, "ll, ll128 or simple"),
        column("first_channel", pa.int32(), "first channel used"),
        column("last_channel", pa.int32(), "last channel used"),
        column("time_us", pa.float64(), "time that the model expects", unit="us"),
        column("kernel", TEXT, "kernel of a symmetric collective, or copy engine"),
    ]
)  # fmt: skip
"""One row a choice of algorithm and protocol; newer versions print those of rank 0 only."""

ENVIRONMENT = pa.schema(
    [
        *_WHERE,
        column("variable", TEXT, "name of the variable", nullable=False),
        column("value", TEXT, "its value"),
        column("ignored", pa.bool_(), "the library says that it ignores it", nullable=False),
    ]
)
"""One row a variable that the library says is set; only names of an allow-list are kept."""

WARNINGS = pa.schema(
    [
        *_WHERE,
        column("rank", pa.int32(), "rank of the process, where it has one only"),
        column("level", TEXT, "warn, error, trace (of an error) or notice", nullable=False),
        column("text", TEXT, "the message", nullable=False),
        column("source", TEXT, "place in the library's source"),
        column("code", pa.int32(), "result code of a trace of an error"),
        column("time", TEXT, "time stamp as printed"),
        column("repeats", pa.int32(), "times it was printed, where a log collector merged them"),
    ]
)
"""One row a warning or error, and a message that tells of a slower way being taken."""

VERSIONS = pa.schema(
    [
        *_WHERE,
        column("component", TEXT, "nccl, rccl, hip, rocm, rocr, kernel, cuda_driver, ...",
                nullable=False),
        column("version", TEXT, "its version", nullable=False),
        column("build", TEXT, "what it was built from or with"),
    ]
)  # fmt: skip
"""One row a version that the log names; lines of the banner do not say which process wrote them."""

HANGS = pa.schema(
    [
        *_WHERE,
        column("rank", pa.int32(), "rank in the process group"),
        column("group", TEXT, "process group, where it is named"),
        column("seq", pa.int64(), "sequence number of the operation"),
        column("op", TEXT, "operation as printed"),
        column("elements_in", pa.int64(), "elements that go in"),
        column("elements_out", pa.int64(), "elements that come out"),
        column("timeout_ms", pa.int64(), "time allowed", unit="ms"),
        column("ran_ms", pa.int64(), "time it had run", unit="ms"),
        column("last_enqueued", pa.int64(), "last operation that was enqueued"),
        column("last_completed", pa.int64(), "last operation that was completed"),
    ]
)
"""One row a message of PyTorch's watchdog on an operation that does not end."""

KERNELS = pa.schema(
    [
        *_OWNER,
        column("channel", pa.int32(), "number of the channel", nullable=False),
        column("opcount", pa.int64(), "number of the operation", nullable=False),
        column("kind", TEXT, "kernel; inside of one: launch, collective, p2p or data",
                nullable=False),
        column("function", TEXT, "function on the GPU, as printed"),
        column("op", TEXT, "its operation: all_reduce, ..."),
        column("algorithm", TEXT, "ring, tree, ..."),
        column("protocol", TEXT, "ll, ll128 or simple"),
        column("reduction", TEXT, "sum, ... of an operation that reduces"),
        column("dtype", TEXT, "element type"),
        column("warps", pa.int32(), "warps of the channel"),
        column("channels", pa.int32(), "channels of the operation"),
        column("nranks", pa.int32(), "number of ranks of the communicator"),
        column("bus_id", TEXT, "PCI bus id of the device, hexadecimal as printed"),
        _seconds("start_ns", "begin, on the clock of the device"),
        _seconds("end_ns", "end of a kernel; null where the log does not tell it"),
    ]
)  # fmt: skip
"""One row a kernel and channel, and what it did, as RCCL_KERNEL_COLL_TRACE_ENABLE traces it."""

PROXIES = pa.schema(
    [
        *_WHERE,
        column("address", TEXT, "address of the communicator in its process", nullable=False),
        column("rank", pa.int32(), "rank in that communicator", nullable=False),
        column("peer", pa.int32(), "the other rank", nullable=False),
        column("channel", pa.int32(), "number of the channel", nullable=False),
        column("direction", TEXT, "send or receive", nullable=False),
        column("steps", pa.int64(), "steps there are"),
        column("posted", pa.int64(), "of them, posted"),
        column("transmitted", pa.int64(), "of them, handed to the network"),
        column("received", pa.int64(), "of them, received"),
        column("done", pa.int64(), "of them, done"),
        column("tail", pa.int64(), "steps that the GPU has made ready", nullable=False),
        column("receive_tail", pa.int64(), "steps that the GPU may take", nullable=False),
        column("retries", pa.int64(), "times it was looked at in vain"),
    ]
)
"""One row a transfer that a proxy had not finished as it was dumped."""

LOG_TABLES = {
    "COMMS": COMMS,
    "CHANNELS": CHANNELS,
    "GRAPHS": GRAPHS,
    "CALLS": CALLS,
    "TUNING": TUNING,
    "ENVIRONMENT": ENVIRONMENT,
    "WARNINGS": WARNINGS,
    "VERSIONS": VERSIONS,
    "HANGS": HANGS,
    "KERNELS": KERNELS,
    "PROXIES": PROXIES,
}
