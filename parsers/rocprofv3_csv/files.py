"""Which of rocprofv3's csv files one is: by its columns; by its name only whose it is."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from commscope.parsers.opening import Source

KERNELS, COPIES, CALLS, AGENTS = "kernels", "copies", "calls", "agents"


@dataclass(frozen=True, slots=True)
class Kind:
    """A file of rocprofv3."""

    what: str  #: KERNELS, COPIES, CALLS or AGENTS; of others what it is, for they are not read
    marks: frozenset[str]  #: columns that no other file has together
    needed: frozenset[str] = frozenset()  #: columns without which it cannot be read

    @property
    def is_read(self) -> bool:
        """Whether anything in it is needed."""
        return bool(self.needed)


_TIMES = {"Start_Timestamp", "End_Timestamp"}


def _kind(what: str, marks: str, needed: set[str] | None = None) -> Kind:
    return Kind(what, frozenset(marks.split()), frozenset(needed or ()))


#: The first whose marks a file has. Files of sums, counters and memory hold nothing of a timeline:
#: while counters are read, kernels run one by one.
_KINDS = (
    _kind("counters of kernels, no timeline", "Dispatch_Id Counter_Name Counter_Value"),
    _kind(KERNELS, "Kind Agent_Id Kernel_Name", {"Agent_Id", "Kernel_Name", *_TIMES}),
    _kind(
        COPIES,
        "Direction Source_Agent_Id",
        {"Direction", "Source_Agent_Id", "Destination_Agent_Id", *_TIMES},
    ),
    _kind(CALLS, "Domain Function Process_Id", {"Domain", "Function", *_TIMES}),
    _kind(AGENTS, "Node_Id Logical_Node_Id Agent_Type", {"Node_Id", "Agent_Type"}),
    _kind("sums of calls or kernels, no timeline", "Calls TotalDurationNs AverageNs MinNs StdDev"),
    _kind("allocations of memory, no timeline", "Operation Allocation_Size Address"),
    _kind("allocations of scratch memory, no timeline", "Kind Operation Agent_Id Alloc_Flags"),
    _kind("samples of program counters, no timeline", "Sample_Timestamp Exec_Mask Dispatch_Id"),
)

_ENDING = re.compile(
    r"_?(?:(?:kernel|memory_copy|memory_allocation|scratch_memory|marker_api|rccl_api|rccl|hip_api|"
    r"hip_runtime_api|hip_compiler_api|hip_runtime|hip_compile|hip|hsa_api|hsa_core_api|"
    r"hsa_amd_ext_api|hsa|rocdecode_api|rocjpeg_api|regions|marker)_trace|agent_info|"
    r"counter_collection|\w+_stats)$"
)
_PACKED = re.compile(r"\.(?:gz|bz2|xz|zst)$")
_PID = re.compile(r"[0-9]{1,10}")
_PASS = re.compile(r"pass_\d+")
_NO_HOST = re.compile(r"rank|trace|result|prof|out|run|log|test|tmp|^\d|^/", re.IGNORECASE)
_MOST_HEADER = 8192


def header_of(head: bytes) -> list[str] | None:
    """The names in the first line; null where it is no line of a table."""
    line, end, _ = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    if not end and len(line) > _MOST_HEADER:
        return None
    try:
        names = next(csv.reader([line.decode("utf-8").rstrip("\r")]), [])
    except (UnicodeDecodeError, csv.Error):
        return None
    return names if len(names) > 1 else None


def kind_of(names: list[str]) -> Kind | None:
    """What a file with these columns is; null where it is none of rocprofv3's."""
    return next((kind for kind in _KINDS if kind.marks <= set(names)), None)


def group_of(source: Source) -> str:
    """What the names of a process's files begin with: ``nodeA/908``."""
    path = PurePosixPath(source.label)
    stem = _ENDING.sub("", _PACKED.sub("", path.name).removesuffix(".csv"))
    return str(path.with_name(stem)) if stem else str(path.parent / "*")


def pid_of(source: Source) -> int | None:
    """The process that a name tells, as in ``908_kernel_trace.csv``: that is the default."""
    name = PurePosixPath(group_of(source)).name
    return int(name) if _PID.fullmatch(name) else None


def host_of(source: Source) -> str | None:
    """The host, by the folder in which rocprofv3 puts ``<host>/<pid>_...`` unless told otherwise.

    Folders that are named like a run, a rank or a pass are none.
    """
    folders = _folders(source)
    if not folders or pid_of(source) is None or _NO_HOST.search(folders[-1]):
        return None
    return folders[-1]


def _folders(source: Source) -> tuple[str, ...]:
    if source.member is not None:
        parts = PurePosixPath(source.member).parts[:-1]
    else:
        parts = source.path.absolute().parts[:-1] if source.path is not None else ()
    return parts[:-1] if parts and _PASS.fullmatch(parts[-1]) else parts
