"""The report on a collected run for whoever asks for it, in the folder of the run too."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from commscope.automation.join import Draft, all_nodes, draft_of, put, where
from commscope.automation.made import Made
from commscope.automation.nodes import Job, look
from commscope.automation.runs import Found, Settling, why_not_yet
from commscope.automation.watch import LOST_S
from commscope.errors import UsageError


@dataclass(frozen=True, slots=True)
class Asked:
    """A report, how the job ended and what is missing, and what came of writing it."""

    made: Made
    says: str
    is_written: bool
    line: str  #: where it lies, or why it does not


def report_asked_for(run_dir: Path, *, now_s: float | None = None) -> Asked:
    """The report on all nodes; it is written into the folder where the job is over.

    Asked once more about the same files, it writes nothing. Raises UsageError where the settings
    cannot be read; a folder that cannot be written is told.
    """
    job = look(run_dir)
    draft = draft_of(job, all_nodes)
    why = _why_not(job, time.time() if now_s is None else now_s) or _put(draft)
    line = where(run_dir) if why is None else f"no report is written: {why}"
    return Asked(draft.made, draft.says, why is None, line)


def _why_not(job: Job, now_s: float) -> str | None:
    """Why a report would come too soon: a node that still runs has its own to write."""
    if job.nodes and all(node.status is not None for node in job.nodes):
        return None
    found = Found(job.folder, (job.folder,), job)
    why = why_not_yet(found, now_s, Settling(0.0, 0.0, LOST_S))
    return None if why is None else f"{why}, or died less than half an hour ago"


def _put(draft: Draft) -> str | None:
    try:
        put(draft, draft.job.folder)
    except UsageError as error:
        return str(error)
    return None
