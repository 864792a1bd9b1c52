"""The tables of hardware counters of kernels, as AMD's profilers collect them.

They are no timeline: the program ran once for each group of counters, with one kernel at a time.
A null means "the profile does not say". ``docs/schema.md`` is generated from here.
"""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from commscope import schema
from commscope.schema import TEXT

column = partial(schema.column, nullable=True)

WORKLOADS = pa.schema(
    [
        column("file", TEXT, "folder or file it was read from", nullable=False),
        column("tool", TEXT, "what counted: omniperf, rocprof-compute, rocprofv3 or rocprof",
               nullable=False),
        column("name", TEXT, "name that the user gave to the profile"),
        column("version", TEXT, "version of the tool; folders tell its first number only"),
        column("collected", TEXT, "blocks of the GPU whose counters were collected"),
        column("roof_only", pa.bool_(), "only what a roofline needs was collected"),
        column("rocm", TEXT, "version of ROCm"),
        column("gpu", TEXT, "model of the GPU"),
        column("arch", TEXT, "architecture of the GPU, such as gfx942"),
        column("compute_partition", TEXT, "how compute is divided: SPX, CPX, ..."),
        column("memory_partition", TEXT, "how memory is divided: NPS1, NPS4, ..."),
        column("compute_units", pa.int64(), "compute units of the GPU"),
        column("simds", pa.int64(), "SIMDs of a compute unit"),
        column("xcds", pa.int64(), "dies with compute units, each of which counts for itself"),
        column("lds_banks", pa.int64(), "banks of the LDS of a compute unit"),
        column("wave_size", pa.int64(), "work-items of a wavefront"),
        column("max_sclk_mhz", pa.float64(), "highest clock", unit="MHz"),
    ]
)  # fmt: skip
"""One row a profile; host, command and user are not kept."""

COUNTED_KERNELS = pa.schema(
    [
        column("workload", pa.int64(), "row in WORKLOADS", nullable=False),
        column("kernel", TEXT, "name of the kernel, as printed", nullable=False),
        column("dispatches", pa.int64(), "how often it ran", nullable=False),
        column("timed", pa.int64(), "of these, how many have a time", nullable=False),
        column("total_ns", pa.float64(), "length of those; of replays a mean", unit="ns"),
        column("median_ns", pa.float64(), "median length", unit="ns"),
    ]
)
"""One row a kernel of a profile."""

COUNTERS = pa.schema(
    [
        column("kernel", pa.int64(), "row in COUNTED_KERNELS", nullable=False),
        column("counter", TEXT, "name of the counter; of a database: table, colon, metric",
               nullable=False),
        column("value", pa.float64(), "mean of a dispatch", nullable=False),
        column("unit", TEXT, "unit of a metric; counters of hardware have none"),
    ]
)  # fmt: skip
"""One row a kernel and counter."""

ROOFLINES = pa.schema(
    [
        column("workload", pa.int64(), "row in WORKLOADS", nullable=False),
        column("device", TEXT, "device, by a number that other files may not share"),
        column("roof", TEXT, "hbm, mall, l2, l1, lds, or type of operation: valu f32, mfma bf16",
               nullable=False),
        column("peak", pa.float64(), "what a benchmark measured", nullable=False),
        column("unit", TEXT, "GB/s or GFLOP/s (of integers: operations), 1e9 each", nullable=False),
    ]
)  # fmt: skip
"""One row a measured peak of a device."""

COUNTER_TABLES = {
    "WORKLOADS": WORKLOADS,
    "COUNTED_KERNELS": COUNTED_KERNELS,
    "COUNTERS": COUNTERS,
    "ROOFLINES": ROOFLINES,
}
