"""Everything the analysis computes of a trace, once."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from commscope.analysis.across import Across, across_ranks
from commscope.analysis.breakdown import outside_steps, rank_partitions, step_partitions
from commscope.analysis.by_role import role_table
from commscope.analysis.causes import Causes, causes_of
from commscope.analysis.chosen import in_chosen_steps
from commscope.analysis.contention import contention_table
from commscope.analysis.costs import Costs, costs_of
from commscope.analysis.coverage import graph_coverage, launch_coverage
from commscope.analysis.gaps import Gaps, gaps_of
from commscope.analysis.host import HostCalls, host_calls
from commscope.analysis.imbalance import compute_table
from commscope.analysis.kernels import activity_counts, family_table, kernel_table, step_kernels
from commscope.analysis.lateness import Lateness, lateness_of
from commscope.analysis.launch import launch_table
from commscope.analysis.overlap import collective_kinds
from commscope.analysis.pipeline import bubble_table, pipeline_stages
from commscope.analysis.timeline import Timeline, timeline_of
from commscope.analysis.traffic import traffic_table
from commscope.analysis.waiting import with_split
from commscope.analysis.windows import Windows, windows_of
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
    collectives: pa.Table  #: see ``waiting.call_waits``
    collective_kinds: pa.Table  #: see ``overlap.collective_kinds``
    kernels: pa.Table  #: see ``kernels.kernel_table``
    families: pa.Table  #: see ``kernels.family_table``
    counts: dict[int, dict[str, int]]  #: see ``kernels.activity_counts``
    launch: pa.Table  #: see ``launch.launch_table``
    coverage: pa.Table  #: see ``coverage.launch_coverage``
    graphs: pa.Table  #: see ``coverage.graph_coverage``
    across: Across  #: see ``across.across_ranks``
    roles: pa.Table  #: see ``by_role.role_table``
    bubbles: pa.Table  #: see ``pipeline.bubble_table``
    imbalance: pa.Table  #: see ``imbalance.compute_table``
    traffic: pa.Table  #: see ``traffic.traffic_table``
    windows: Windows  #: device windows of the steps that are shown
    host: HostCalls  #: see ``host.host_calls``
    gaps: Gaps  #: see ``gaps.gaps_of``
    causes: Causes  #: of the gaps, see ``causes.causes_of``
    lateness: Lateness  #: of the instances, see ``lateness.lateness_of``
    contention: pa.Table  #: see ``contention.contention_table``
    costs: Costs  #: of all collectives, see ``costs.costs_of``

    @property
    def active_steps(self) -> pa.Table:
        """The rows of ``steps`` with activity: one for each of ``windows``."""
        return self.steps.filter(self.steps.column("start_ns").is_valid())


def analyse(trace: Trace) -> Analysis:
    """Computes all of it: table in, table out, nothing is read, drawn or printed."""
    timeline = timeline_of(trace)
    partitions = step_partitions(timeline, trace.steps)
    across = across_ranks(trace, timeline, partitions)
    calls = _of_chosen_steps(trace, across.calls)
    kernels = kernel_table(trace, timeline)
    steps = with_split(partitions, timeline, across.waiting)
    windows = windows_of(timeline, trace.steps)
    stages, host = pipeline_stages(across), host_calls(trace, timeline)
    gaps = gaps_of(timeline, across, windows)
    return Analysis(
        trace=trace,
        timeline=timeline,
        ranks=with_split(rank_partitions(timeline), timeline, across.waiting),
        outside_ns=outside_steps(timeline, trace.all_steps),
        steps=steps.append_column("kernels", pa.array(step_kernels(trace))),
        collectives=calls,
        collective_kinds=collective_kinds(timeline, calls, trace.steps),
        kernels=kernels,
        families=family_table(kernels),
        counts=activity_counts(trace, timeline),
        launch=launch_table(trace, timeline),
        coverage=launch_coverage(trace),
        graphs=graph_coverage(trace),
        across=across,
        roles=role_table(timeline, across, windows),
        bubbles=bubble_table(timeline, across, windows),
        imbalance=compute_table(timeline, windows, stages),
        traffic=traffic_table(calls, across.matching.communicators),
        windows=windows,
        host=host,
        gaps=gaps,
        causes=causes_of(trace, timeline, host, gaps, across.waiting.has_matches),
        lateness=lateness_of(timeline, across, host, windows, stages),
        contention=contention_table(trace, timeline, windows),
        costs=costs_of(trace, across),
    )


def _of_chosen_steps(trace: Trace, calls: pa.Table) -> pa.Table:
    if trace.selection is None:
        return calls
    chosen = in_chosen_steps(trace, int64(calls, "rank"), int64(calls, "step"))
    return calls.filter(pa.array(chosen))
