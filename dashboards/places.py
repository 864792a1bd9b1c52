"""Links from numbers to where they can be seen on the timeline."""

from __future__ import annotations

from commscope.dashboards.app_data import AppData, LoadedRun
from commscope.findings.model import Finding

_PATH = "/timeline"
#: What is shown on either side of a place, as a share of it, and at the least.
_AROUND, _LEAST_NS = 0.3, 2_000


def around(start_ns: int, end_ns: int) -> tuple[int, int]:
    """A place with something on either side."""
    more = max(round((end_ns - start_ns) * _AROUND), _LEAST_NS)
    return start_ns - more, end_ns + more


def on_common_clock(run: LoadedRun, rank: int, at_ns: int) -> int:
    """A time of the rank's own clock on that of all ranks; both since the origin of the report."""
    if rank not in run.view.ranks:
        return at_ns
    return run.view.on_common_clock(rank, at_ns)


def timeline_link(data: AppData, run: int, rank: int, start_ns: int, end_ns: int) -> str:
    """The timeline at a stretch of a rank, which is selected.

    Times are those of the rank's own clock, since the origin.
    """
    start, end = (on_common_clock(data.runs[run], rank, at) for at in (start_ns, end_ns))
    t0, t1 = around(start, end)
    return data.link(_PATH, run, t0=t0, t1=t1, sel=f"{start}-{end}")


def finding_link(data: AppData, run: int, found: Finding, place: int = 0) -> str:
    """The timeline with a finding, at one of the places where it can be seen."""
    return data.link(_PATH, run, finding=found.id, place=place or None)
