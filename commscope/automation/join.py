"""One report of all nodes of a job, by the first node that is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from commscope.automation.made import Given, Made, made_of
from commscope.automation.nodes import SAVED, Job, Node, files_of, is_collected, look, look_afresh
from commscope.automation.pause import Pause, growing, sleep
from commscope.automation.publish import publish, published_about
from commscope.automation.stamps import stamps_of
from commscope.automation.told import ending, missing, problems
from commscope.errors import UsageError
from commscope.parsers.own_files import RUN_FILE

_FIRST_S, _LONGEST_S = 0.2, 5.0

#: The nodes that a report is on.
Chosen = Callable[[Job], Sequence[Node]]


@dataclass(frozen=True, slots=True)
class Draft:
    """A report on nodes of a job that is not written yet."""

    job: Job
    chosen: Chosen
    there: tuple[Node, ...]
    digest: str
    made: Made

    @property
    def says(self) -> str:
        """How the job ended, if not well, and what is missing; empty where there is neither."""
        said = (ending(self.job), missing(self.job, self.there))
        return "; ".join(says for says in said if says)


@dataclass(frozen=True, slots=True)
class Finished:
    """A report that was written, in at most three lines."""

    made: Made
    lines: tuple[str, ...]


def finish_run(
    run_dir: Path,
    wait_s: float,
    node: str | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
    pause: Pause = sleep,
) -> Finished | None:
    """Writes the report of a job as soon as all nodes have been read, or the wait is over.

    Of several nodes (``node`` is the name of the caller's) the first that has been read does so;
    null for the others, and where another process wrote the same report sooner. A node that was
    late, and is missing in the report that is there, writes it anew. Raises UsageError where the
    folder is none of a collected run, or cannot be written.
    """
    if not is_collected(run_dir):
        raise UsageError(f"{run_dir}: is no folder of commscope run; analyse it where the run is")
    deadline = clock() + wait_s
    for interval in growing(_FIRST_S, _LONGEST_S):
        job, left = look(run_dir), deadline - clock()
        if node is not None and _is_left_to_another(job, node):
            return None
        if job.is_complete or left <= 0 or pause(min(interval, left)):
            break
    job = job if job.is_complete else look_afresh(job)
    may_report = node is None or _first(job) == node or _is_late(job, node)
    return report_on(job, read_ones) if may_report else None


def read_ones(job: Job) -> Sequence[Node]:
    """The nodes that have ended and been read."""
    return job.complete


def all_nodes(job: Job) -> Sequence[Node]:
    """All nodes: of those that nobody has read the files are."""
    return job.nodes


def report_on(job: Job, chosen: Chosen, output: Path | None = None) -> Finished | None:
    """Writes the report of the chosen nodes; null where another process did so meanwhile.

    It lies in the folder of the run, or in another one. Raises UsageError as ``finish_run``.
    """
    folder, draft = job.folder if output is None else output, draft_of(job, chosen)
    return Finished(draft.made, _lines(draft, folder)) if put(draft, folder) else None


def draft_of(job: Job, chosen: Chosen) -> Draft:
    """The report of the chosen nodes; raises UsageError where the settings cannot be read."""
    there = tuple(chosen(job))
    digest = digest_of(job, there)
    return Draft(job, chosen, there, digest, made_of(given_of(job, there)))


def put(draft: Draft, folder: Path) -> bool:
    """Writes a report; false where it was there. Raises UsageError where it cannot be written."""

    def current() -> str:
        now = look(draft.job.folder)
        return digest_of(now, draft.chosen(now))

    about = {"nodes": [node.folder.name for node in draft.there]}
    return publish(folder, draft.digest, draft.made.files, about=about, current=current)


def digest_of(job: Job, there: Sequence[Node]) -> str:
    """What a report on these nodes rests on."""
    return stamps_of(job.folder, [job.folder / RUN_FILE, *(node.folder for node in there)]).digest


def given_of(job: Job, there: Sequence[Node]) -> Given:
    """What is read of the nodes: their tables, or all their files where nobody made any."""
    said = (ending(job), missing(job, there), *problems(job))
    return Given(
        job.name,
        tuple(
            node.folder / SAVED if node.is_saved else files_of(job.folder, node.folder.name)
            for node in there
        ),
        tuple(path for node in there if (path := node.folder / "logs").is_dir()),
        tuple(says for says in said if says),
    )


def _is_left_to_another(job: Job, node: str) -> bool:
    """Whether the first node has been read, so that it is sure to report on the others too."""
    first = job.nodes[0] if job.nodes else None
    is_led = first is not None and first.is_complete and first.folder.name != node
    return is_led and not _is_late(job, node)


def _first(job: Job) -> str | None:
    """The node that reports: the first that has been read, else the first there is."""
    return next((each.folder.name for each in (*job.complete, *job.nodes)), None)


def _is_late(job: Job, node: str) -> bool:
    """Whether there is a report without this node."""
    covered = _covered(job.folder)
    return covered is not None and node not in covered


def _covered(folder: Path) -> list[str] | None:
    """The nodes of the report that is there; null where there is none."""
    about = published_about(folder)
    if about is None:
        return None
    nodes = about.get("nodes")
    return nodes if isinstance(nodes, list) else []


def _lines(draft: Draft, folder: Path) -> tuple[str, ...]:
    """How the job ended and what is missing, the verdict, and where the report lies."""
    return tuple(line for line in (draft.says, draft.made.verdict, where(folder)) if line)


def where(folder: Path) -> str:
    """Where a report lies."""
    return f"report: {folder / 'report.html'} (also .json and .md)"
