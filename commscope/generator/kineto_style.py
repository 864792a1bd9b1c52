"""How exporters of PyTorch's profiler differ, and the words they use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Vendor = Literal["rocm", "cuda"]
#: Where the trace says what a collective is: on its kernel and on the record of the host, on the
#: record alone, in an annotation of the device, or nowhere.
Metadata = Literal["args", "record", "annotation", "none"]


@dataclass(frozen=True, slots=True)
class Style:
    """What a trace holds besides activities, launches and steps.

    ``base_ns`` is the wall clock that time stamps are relative to.
    """

    vendor: Vendor = "rocm"
    metadata: Metadata = "args"
    with_seq: bool = True
    with_distributed_info: bool = True
    with_host: bool = False
    gpu: str = ""  #: product name; a known one of the vendor where it is empty
    base_ns: int = 1_767_225_600_000_000_000

    @property
    def has_records(self) -> bool:
        """Whether the host's record_param_comms are there."""
        return self.metadata in ("args", "record")


#: How PyTorch spells the operations in metadata.
SPELLINGS = {
    "all_reduce": "allreduce",
    "all_gather": "_allgather_base",
    "reduce_scatter": "_reduce_scatter_base",
    "all_to_all": "all_to_allv",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "barrier": "barrier",
    "send": "send",
    "recv": "recv",
}
_CUDA_KERNELS = {
    "all_reduce": "AllReduce_Sum_bf16_RING_LL",
    "barrier": "AllReduce_Sum_f32_RING_LL",
    "all_gather": "AllGather_RING_LL",
    "reduce_scatter": "ReduceScatter_Sum_bf16_RING_LL",
    "broadcast": "Broadcast_RING_LL",
    "reduce": "Reduce_Sum_bf16_RING_LL",
}
_ARGUMENTS = "(ncclDevKernelArgsStorage<4096ul>)"
#: Headers of the vendors' documents.
HEADERS: dict[str, dict[str, object]] = {
    "rocm": {"roctracer_version": 4.1, "hip_runtime_version": 60443483},
    "cuda": {"cuda_driver_version": 13000, "cuda_runtime_version": 13000, "cupti_version": 130001},
}
#: The range of a step that only warms up, so that nothing takes it for one that counts.
WARMUP_LABEL = "csg.warmup"
#: The process of rank 0.
FIRST_PID = 4000
GPUS = {"rocm": "AMD Instinct MI300X", "cuda": "NVIDIA H200"}
#: By direction and memory of the host. ROCm does not tell the memory.
COPIES = {
    "rocm": {
        ("h2d", "pinned"): "Memcpy HtoD (Host -> Device)",
        ("h2d", "pageable"): "Memcpy HtoD (Host -> Device)",
        ("d2h", "pinned"): "Memcpy DtoH (Device -> Host)",
        ("d2h", "pageable"): "Memcpy DtoH (Device -> Host)",
    },
    "cuda": {
        ("h2d", "pinned"): "Memcpy HtoD (Pinned -> Device)",
        ("h2d", "pageable"): "Memcpy HtoD (Pageable -> Device)",
        ("d2h", "pinned"): "Memcpy DtoH (Device -> Pinned)",
        ("d2h", "pageable"): "Memcpy DtoH (Device -> Pageable)",
    },
}
LAUNCHES = {
    "rocm": {"kernel": "hipLaunchKernel", "collective": "hipExtLaunchKernel"},
    "cuda": {"kernel": "cudaLaunchKernel", "collective": "cudaLaunchKernelExC"},
}
COPY_CALLS = {
    "rocm": {"pinned": "hipMemcpyAsync", "pageable": "hipMemcpyWithStream"},
    "cuda": {"pinned": "cudaMemcpyAsync", "pageable": "cudaMemcpyAsync"},
}
_CALLS = {
    "record": "EventRecord",
    "wait": "StreamWaitEvent",
    "sync": "DeviceSynchronize",
    "stream_sync": "StreamSynchronize",
    "event_sync": "EventSynchronize",
    "query": "EventQuery",
    "malloc": "Malloc",
    "free": "Free",
}


def call_name(vendor: str, kind: str) -> str:
    """The function of the vendor's runtime."""
    return ("hip" if vendor == "rocm" else "cuda") + _CALLS[kind]


def kernel_name(vendor: str, op: str) -> str:
    """The name of a collective's kernel: on ROCm it does not tell the operation."""
    if vendor == "rocm":
        return "ncclDevKernel_Generic" + _ARGUMENTS
    return "ncclDevKernel_" + _CUDA_KERNELS.get(op, "SendRecv") + _ARGUMENTS


def stream_number(vendor: str, index: int) -> int:
    """The number of the stream that a process uses as the index-th, from 0."""
    first, second, stride = (0, 4, 1) if vendor == "rocm" else (7, 17, 4)
    return first if index == 0 else second + (index - 1) * stride


def microseconds(time_ns: int) -> str:
    """Exact decimal microseconds."""
    sign = "-" if time_ns < 0 else ""
    whole, rest = divmod(abs(time_ns), 1000)
    return f"{sign}{whole}.{rest:03d}"
