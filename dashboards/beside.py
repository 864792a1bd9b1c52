"""What pages show of a run besides its report, kept without the trace it is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from commscope.analysis.bandwidth import Message, bandwidth_of
from commscope.analysis.hardware import Part
from commscope.analysis.reference import Expected, Reference
from commscope.analysis.result import Analysis
from commscope.counters.by_kernel import by_kernel
from commscope.counters.model import KernelCounters
from commscope.logs.link_use import LinkUse, link_use
from commscope.logs.summary import LogSummary, summarize
from commscope.topology.model import Topology

_LONG_NS = 2**62


@dataclass(frozen=True, slots=True)
class Links:
    """By what bandwidth is expected: a known GPU's links, or what was measured on this machine."""

    part: Part | None
    one_host: bool
    reference: Reference | None

    def expected(self, op: str, members: int, size_bytes: int) -> Expected:
        """The bus bandwidth to expect of a message, as in the report's tables."""
        message = Message(op, size_bytes, members, _LONG_NS, True, self.one_host)
        found = bandwidth_of(message, self.part, self.reference)
        return Expected(found.expected_busbw_gbps, found.expected_from)


@dataclass(frozen=True, slots=True)
class Beside:
    """``contention`` is that of ``analysis.contention``; ``counters`` are by name of a kernel."""

    links: Links
    contention: pa.Table
    counters: Mapping[str, KernelCounters]
    topology: Topology | None
    log: LogSummary | None
    link_use: LinkUse | None

    @classmethod
    def of(cls, analysis: Analysis) -> Beside:
        """What is kept of an analysis."""
        trace, costs = analysis.trace, analysis.costs
        names = analysis.kernels.column("name").to_pylist()
        return cls(
            links=Links(costs.part, costs.one_host, costs.reference),
            contention=analysis.contention,
            counters=by_kernel(names, trace.counters),
            topology=trace.topology,
            log=None if trace.logs is None else summarize(trace.logs),
            link_use=None if trace.logs is None else link_use(trace.logs),
        )
