"""Everything the analysis computes of a trace, once."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from commscope.analysis.across import Across, across_ranks
from commscope.analysis.breakdown import outside_steps, rank_partitions, step_partitions
from commscope.analysis.chosen import in_chosen_steps
from commscope.analysis.coverage import graph_coverage, launch_coverage
from commscope.analysis.kernels import activity_counts, family_table, kernel_table, step_kernels
from commscope.analysis.launch import launch_table
from commscope.analysis.overlap import collective_kinds, collective_times
from commscope.analysis.timeline import Timeline, timeline_of
from commscope.analysis.waiting import with_split
from commscope.columns import Int64, int64
from commscope.trace import Trace


@dataclass(frozen=True, slots=True)
class Analysis:
    """Tables with one row a rank, a step and rank, a kind of collective, a kernel.

    Where the user chose steps, all but those of ``ranks``, ``outside_ns``, ``counts`` and the two
    of coverage hold only what belongs to these.
    """

    trace: Trace
    timeline: Timeline
    ranks: pa.Table  #: see ``breakdown.rank_partitions`` and ``waiting.with_split``
    outside_ns: Int64  #: see ``breakdown.outside_steps``
    steps: pa.Table  #: see ``breakdown.step_partitions``, with ``kernels`` launched in the step
    collectives: pa.Table  #: see ``overlap.collective_times``
    collective_kinds: pa.Table  #: see ``overlap.collective_kinds``
    kernels: pa.Table  #: see ``kernels.kernel_table``
    families: pa.Table  #: see ``kernels.family_table``
    counts: dict[int, dict[str, int]]  #: see ``kernels.activity_counts``
    launch: pa.Table  #: see ``launch.launch_table``
    coverage: pa.Table  #: see ``coverage.launch_coverage``
    graphs: pa.Table  #: see ``coverage.graph_coverage``
    across: Across  #: see ``across.across_ranks``


def analyse(trace: Trace) -> Analysis:
    """Computes all of it: table in, table out, nothing is read, drawn or printed."""
    timeline = timeline_of(trace)
    partitions = step_partitions(timeline, trace.steps)
    across = across_ranks(trace, timeline, partitions)
    times = _of_chosen_steps(trace, collective_times(trace, timeline))
    kernels = kernel_table(trace, timeline)
    steps = with_split(partitions, timeline, across.waiting)
    return Analysis(
        trace=trace,
        timeline=timeline,
        ranks=with_split(rank_partitions(timeline), timeline, across.waiting),
        outside_ns=outside_steps(timeline, trace.all_steps),
        steps=steps.append_column("kernels", pa.array(step_kernels(trace))),
        collectives=times,
        collective_kinds=collective_kinds(timeline, times, trace.steps),
        kernels=kernels,
        families=family_table(kernels),
        counts=activity_counts(trace, timeline),
        launch=launch_table(trace, timeline),
        coverage=launch_coverage(trace),
        graphs=graph_coverage(trace),
        across=across,
    )


def _of_chosen_steps(trace: Trace, times: pa.Table) -> pa.Table:
    if trace.selection is None:
        return times
    chosen = in_chosen_steps(trace, int64(times, "rank"), int64(times, "step"))
    return times.filter(pa.array(chosen))
