"""A profile of what rocprofv3 counted, and which answers its counters cannot give."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from commscope.parsers.omniperf.profile import Profile
from commscope.parsers.rocprof_counters.collected import Collected, counted

_TOOL = "rocprofv3"
_REQUESTS = ("RDREQ_sum", "RDREQ_DRAM_sum", "WRREQ_sum", "WRREQ_DRAM_sum")
#: What counters tell (and what to collect), and with which of them: any of these sets will do.
_ANSWERS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "traffic of HBM (FETCH_SIZE, WRITE_SIZE)": (
        ("FETCH_SIZE", "WRITE_SIZE"),
        ("TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum", "TCC_BUBBLE_sum", "TCC_EA0_WRREQ_sum",
         "TCC_EA0_WRREQ_64B_sum"),
        ("TCC_EA_RDREQ_sum", "TCC_EA_RDREQ_32B_sum", "TCC_EA_WRREQ_sum", "TCC_EA_WRREQ_64B_sum"),
    ),
    "remote traffic (TCC_EA0_RDREQ_sum, TCC_EA0_RDREQ_DRAM_sum, the same of WRREQ)": (
        tuple(f"TCC_EA0_{name}" for name in _REQUESTS),
        tuple(f"TCC_EA_{name}" for name in _REQUESTS),
    ),
    "use of matrix cores (MfmaUtil)": (
        ("MfmaUtil",),
        ("SQ_VALU_MFMA_BUSY_CYCLES", "GRBM_GUI_ACTIVE"),
    ),
    "operations (SQ_INSTS_VALU_ADD_F16 and its like, SQ_INSTS_VALU_MFMA_MOPS_*)": (
        tuple(f"SQ_INSTS_VALU_{what}_{kind}" for kind in ("F16", "F32", "F64")
              for what in ("ADD", "MUL", "TRANS", "FMA"))
        + tuple(f"SQ_INSTS_VALU_MFMA_MOPS_{kind}" for kind in ("F16", "BF16", "F32", "F64")),
    ),
}  # fmt: skip


def profile_of(
    file: str, passes: Sequence[Sequence[Collected]], facts: Mapping[str, Any]
) -> Profile:
    """The profile of all runs; ``facts`` are what other files say of the machine."""
    processes = [one for run in passes for one in run]
    told = {"tool": _TOOL} | {name: fact for name, fact in facts.items() if fact is not None}
    for one in processes:
        told = {**one.facts, **told}
    profile = Profile(file, told, counted(passes))
    profile.notes.extend(note for one in processes for note in one.notes)
    profile.notes.extend(_missing(profile))
    profile.without_peaks = (
        f"{file}: no measured peaks, so no position against the roofline; give a profile of "
        "rocprof-compute (--roof-only) on such a GPU as well"
    )
    return profile


def _missing(profile: Profile) -> Iterator[str]:
    untimed = sum(not kernel.timed for kernel in profile.kernels)
    if untimed:
        kernels = f"{untimed:,} of {len(profile.kernels):,} kernels"
        yield f"{profile.file}: {kernels} have no time, so no rates"
    names = {name for kernel in profile.kernels for name in kernel.counters}
    lacks = unanswered(names)
    if lacks:
        yield f"{profile.file}: not told, for want of counters: {'; '.join(lacks)}"
    if {"SQ_VALU_MFMA_BUSY_CYCLES", "GRBM_GUI_ACTIVE"} <= names and not {
        "compute_units", "simds", "xcds"
    } <= profile.facts.keys():  # fmt: skip
        yield (
            f"{profile.file}: what GPU it is is not told, so no use of matrix cores; "
            "leave agent_info.csv beside it"
        )


def unanswered(names: Collection[str]) -> list[str]:
    """What these counters do not tell, each with those that would."""
    known = set(names)
    return [
        what for what, ways in _ANSWERS.items() if not any(known.issuperset(way) for way in ways)
    ]
