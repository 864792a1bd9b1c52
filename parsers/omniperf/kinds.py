"""Which file of a profile a file is, by its first line: names are changed and copied."""

from __future__ import annotations

import re
from enum import Enum

from commscope.parsers.counter_names import COUNTER, counters_of_rocprof
from commscope.parsers.whole_csv import header

_NAME = ("Kernel_Name", "KernelName")
_TIMES = (("Start_Timestamp", "End_Timestamp"), ("BeginNs", "EndNs"))
_ROW = ("Dispatch_ID", "Index")
_BLOCKS = ("SQ_", "SQC_", "TCC_", "TCP_", "GRBM_", "TA_", "TD_", "SPI_", "CPC_", "CPF_")
_TOOL = re.compile(rb"^(?:Omniperf|Rocprofiler-Compute) version: (\S{1,40})\s*$", re.M)
_CONFIG = re.compile(rb"^(?:format_rocprof_output|roof_only|no_roof|ip_blocks): ", re.M)


class Kind(Enum):
    """A file of a profile that is read."""

    COUNTERS = "counters"  #: one row a dispatch, with counters: pmc_perf.csv, SQ_*.csv
    TIMES = "times"  #: one row a dispatch, with times only: timestamps.csv
    TOP = "top"  #: one row a kernel: pmc_kernel_top.csv
    DISPATCHES = "dispatches"  #: one row a dispatch, with its name only: pmc_dispatch_info.csv
    SYSTEM = "system"  #: the machine: sysinfo.csv
    PEAKS = "peaks"  #: what benchmarks measured: roofline.csv
    CONFIG = "config"  #: how it was profiled: profiling_config.yaml
    LOG = "log"  #: what the tool printed: log.txt

    @property
    def what(self) -> str:
        """What it holds, in words."""
        return _WORDS[self]


_WORDS = {
    Kind.COUNTERS: "counters of dispatches",
    Kind.TIMES: "times of dispatches",
    Kind.TOP: "times of kernels",
    Kind.DISPATCHES: "names of dispatches",
    Kind.SYSTEM: "facts on the machine",
    Kind.PEAKS: "measured peaks",
    Kind.CONFIG: "settings",
    Kind.LOG: "messages",
}


def kind_of(head: bytes) -> Kind | None:
    """What a file of a profile is; null where it is none, such as a trace."""
    if b"\0" in head:
        return None
    names = header(head)
    found = set(names)
    if "workload_name" in found and {"gpu_arch", "gpu_soc"} & found:
        return Kind.SYSTEM
    if names[:1] == ["device"] and "HBMBw" in found:
        return Kind.PEAKS
    if any(name in found for name in _NAME):
        return _table(found)
    if _TOOL.search(head[:4096]):
        return Kind.LOG
    return Kind.CONFIG if len(_CONFIG.findall(head)) > 1 else None


def _table(found: set[str]) -> Kind | None:
    if "Sum(ns)" in found:
        return Kind.TOP
    if not any(name in found for name in _ROW):
        return None
    timed = times_in(found) is not None
    if counters_of_rocprof(found) or any(
        name.startswith(_BLOCKS) and COUNTER.fullmatch(name) for name in found
    ):
        return Kind.COUNTERS
    if timed:
        return Kind.TIMES if {"GPU_ID", "gpu-id"} & found else None
    return Kind.DISPATCHES if found == {"Dispatch_ID", "Kernel_Name", "GPU_ID"} else None


def tells_queues(head: bytes) -> bool:
    """Whether a table has the queues of dispatches."""
    return any(name in ("Queue_ID", "queue-id") for name in header(head))


def name_in(found: set[str]) -> str | None:
    """The column with the names of kernels."""
    return next((name for name in _NAME if name in found), None)


def times_in(found: set[str]) -> tuple[str, str] | None:
    """The columns with begins and ends."""
    return next((pair for pair in _TIMES if found.issuperset(pair)), None)


def version_in(head: bytes) -> str | None:
    """The version of the tool that its log tells."""
    found = _TOOL.search(head[:4096])
    return found[1].decode("utf-8", "replace") if found else None
