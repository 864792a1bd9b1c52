"""The traces of a run, analysed, and whether every rank has one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from commscope.analysis.result import Analysis, analyse
from commscope.engine.load import read_run, trace_of
from commscope.errors import CommscopeError, NoDeviceEvents
from commscope.generator.grading.model import Blame, Numbers, Place, Row, failed, held, not_told
from commscope.generator.grading.truths import Truths
from commscope.report.build import report_of
from commscope.report.model import Report

_CHECK = "trace"
#: Back ends of torch.distributed for jobs without GPUs.
_OF_CPUS = ("gloo",)
#: Topics of notes on what was left out or repaired, which a complete run has none of.
_DAMAGE = "damage"


@dataclass(frozen=True, slots=True)
class Traces:
    """The analysis of all traces, as ``commscope analyze`` makes it."""

    analysis: Analysis
    report: Report

    @property
    def ranks(self) -> list[int]:
        """Ranks of which there is a trace."""
        found: list[int] = sorted(self.analysis.trace.ranks.column("rank").to_pylist())
        return found

    def format_of(self, rank: int) -> str:
        """The format of the rank's trace."""
        return next(
            (f.format for f in self.analysis.trace.files if f.rank == rank),
            self.analysis.trace.files[0].format,
        )


def read_traces(folder: Path) -> Traces | CommscopeError:
    """Reads and analyses the traces in a folder; gives the error where that cannot be done."""
    try:
        analysis = analyse(trace_of(read_run([folder])))
        return Traces(analysis, report_of(analysis))
    except CommscopeError as error:
        return error


def trace_rows(
    truths: Truths, traces: Traces | CommscopeError, profiled: Collection[int]
) -> Iterator[Row]:
    """A row a rank of the job, and one for each trace that is damaged.

    Only the ranks that are ``profiled`` need one; none: all.
    """
    if isinstance(traces, NoDeviceEvents) and truths.header and truths.header.backend in _OF_CPUS:
        yield not_told(_CHECK, Place(), "the job ran on CPUs, of which traces show no activity")
        return
    if isinstance(traces, CommscopeError):
        yield failed(_CHECK, Place(), Blame("profiler", f"no trace can be used: {traces}"))
        return
    found = set(traces.ranks)
    why = "".join(f"; {says}" for says in _said_of_damage(traces))
    for rank in sorted(truths.of_rank):
        if profiled and rank not in profiled and rank not in found:
            yield not_told(_CHECK, Place(rank), "the rank was not profiled (--profile-ranks)")
            continue
        numbers = Numbers("there", "there" if rank in found else "missing", unit="words")
        says = (
            f"rank {rank} has a truth, but no trace: the profiler wrote none, or one that is of "
            f"another rank{why}"
        )
        yield held(_CHECK, Place(rank), numbers, Blame("profiler", says))
    for rank in sorted(found - set(truths.of_rank)):
        says = f"there is a trace of rank {rank}, but no truth of it"
        yield failed(_CHECK, Place(rank), Blame("truth", says))
    for file in traces.analysis.trace.files:
        if file.cut or file.lacks_events or file.events_lost or file.bytes_lost:
            says = f"{file.file} is damaged ({file.cut or 'parts of it cannot be read'})"
            yield failed(_CHECK, Place(file.rank), Blame("profiler", f"{says}: record it again"))


def _said_of_damage(traces: Traces) -> list[str]:
    return [note.says for note in traces.analysis.trace.notes if note.topic == _DAMAGE]
