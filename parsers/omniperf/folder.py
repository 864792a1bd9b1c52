"""A profile in files: the folder of a workload, or what is left of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from commscope import wording
from commscope.parsers.omniperf.facts import facts_of, peaks_of, rows_of
from commscope.parsers.omniperf.kernels import read_dispatches, read_top
from commscope.parsers.omniperf.kinds import Kind, version_in
from commscope.parsers.omniperf.profile import Counted, Profile

#: The version with which omniperf became rocprof-compute.
_RENAMED = 3
_ROOF_ONLY = re.compile(rb"^roof_only: (true|false)\s*$", re.M)


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a folder: what it is, and how to read it when its turn comes."""

    label: str
    kind: Kind
    read: Callable[[], bytes]
    tells_queues: bool = False  #: it is a table with the queues of dispatches

    @property
    def is_first(self) -> bool:
        """Whether it is of the main replays, whose times count."""
        return self.label.rpartition("/")[2].startswith("pmc_perf")


def read_folder(file: str, parts: Sequence[Part]) -> Profile:
    """The profile that these files of one folder are.

    What cannot be read of a file is noted; what ``Part.read`` raises is not caught.
    """
    profile = Profile(file)
    for part in parts:
        _add_facts(profile, part)
    kernels = _kernels(profile, parts)
    _add_times(profile, kernels, parts)
    profile.kernels = list(kernels.values())
    profile.facts["tool"] = _tool_of(profile, parts)
    profile.notes.extend(_missing(profile))
    profile.without_peaks = (
        f"{file}: no roofline.csv, so no position against the roofline; profile without --no-roof"
    )
    return profile


def _tool_of(profile: Profile, parts: Sequence[Part]) -> str:
    """What wrote the files: omniperf was renamed with its third version.

    rocprof tells queues, which omniperf leaves out of what it makes of rocprof's tables.
    """
    tables = [part for part in parts if part.kind is Kind.COUNTERS]
    if tables and "arch" not in profile.facts and all(part.tells_queues for part in tables):
        return "rocprof"
    first = str(profile.facts.get("version")).partition(".")[0]
    return "omniperf" if first.isdigit() and int(first) < _RENAMED else "rocprof-compute"


def _add_facts(profile: Profile, part: Part) -> None:
    if part.kind is Kind.SYSTEM:
        rows = rows_of(part.read())
        if not rows:
            profile.notes.append(f"{part.label}: holds no row that can be read")
        for row in rows[:1]:
            version = profile.facts.get("version")
            profile.facts = {**profile.facts, **facts_of(row)}
            profile.facts["version"] = version or profile.facts["version"]
    elif part.kind is Kind.PEAKS:
        rows = rows_of(part.read())
        if not rows:
            profile.notes.append(f"{part.label}: holds no row that can be read")
        for row in rows:
            profile.peaks.extend(peaks_of(row, row.get("device")))
    elif part.kind is Kind.LOG:
        profile.facts["version"] = version_in(part.read()) or profile.facts.get("version")
    elif part.kind is Kind.CONFIG:
        found = _ROOF_ONLY.search(part.read())
        profile.facts["roof_only"] = found[1] == b"true" if found else None


def _kernels(profile: Profile, parts: Sequence[Part]) -> dict[str, Counted]:
    """The kernels of all files with counters; what several files tell, the first one tells."""
    kernels: dict[str, Counted] = {}
    files = [part for part in parts if part.kind is Kind.COUNTERS]
    for part in sorted(files, key=lambda part: not part.is_first):
        found, torn = read_dispatches(part.read())
        profile.notes.extend(_torn(part, len(found), torn))
        for name, kernel in found.items():
            known = kernels.setdefault(name, kernel)
            known.counters = {**kernel.counters, **known.counters}
            if not known.timed and part.is_first:
                _copy_times(known, kernel)
    return kernels


def _torn(part: Part, kernels: int, torn: int) -> Iterator[str]:
    if torn:
        rows = wording.counted(torn, "row is", "rows are")
        yield f"{part.label}: {rows} torn and not counted; copy the file again"
    if not kernels:
        yield f"{part.label}: holds no dispatch"


def _copy_times(to: Counted, kernel: Counted) -> None:
    to.timed, to.total_ns, to.median_ns = kernel.timed, kernel.total_ns, kernel.median_ns


def _add_times(profile: Profile, kernels: dict[str, Counted], parts: Sequence[Part]) -> None:
    """Lengths from other files, for kernels whose counters came without."""
    for kind in (Kind.TIMES, Kind.TOP):
        for part in parts:
            if part.kind is not kind or all(kernel.timed for kernel in kernels.values()):
                continue
            data = part.read()
            found = read_dispatches(data)[0] if kind is Kind.TIMES else read_top(data)
            for name, kernel in found.items():
                known = kernels.get(name)
                if known is not None and not known.timed:
                    _copy_times(known, kernel)
    untimed = sum(not kernel.timed for kernel in kernels.values())
    if untimed:
        profile.notes.append(
            f"{profile.file}: {untimed:,} of {len(kernels):,} kernels have no time, so no rates"
        )


def _missing(profile: Profile) -> Iterator[str]:
    if not profile.kernels:
        yield f"{profile.file}: no kernel with counters"
    if "arch" not in profile.facts:
        yield f"{profile.file}: no sysinfo.csv, so no MFMA utilisation; give the whole folder"
