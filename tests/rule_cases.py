"""Jobs of a few rows, whose times can be added up by hand, and what a rule must say of them.

A job repeats a pattern in every step of a rank; all times are in microseconds from the begin of the
step, the last step is open. Activities are launched by thread 1, each by a call of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from log_samples import read_text
from tables import Gpu, Host, reading, step

from commscope.analysis.result import Analysis, analyse
from commscope.findings.case import Beside
from commscope.findings.model import Finding, Grade, Looked
from commscope.findings.quality import trust_of
from commscope.findings.rules import BUILT_IN, look
from commscope.joined.result import join
from commscope.normalize import Options, normalize
from commscope.parsers.base import Reading
from commscope.schema import PARSED_COLLECTIVES
from commscope.trace import Trace

US = 1_000
FORWARD = "void at::native::vectorized_elementwise_kernel<4>"
OPTIMIZER = "void multi_tensor_apply_kernel<FusedAdam>"
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
MI300X = "AMD Instinct MI300X"


@dataclass(frozen=True)
class Kernel:
    """A kernel of compute; ``launched`` is null where the file does not tell."""

    start: float
    end: float
    launched: float | None
    name: str = FORWARD
    stream: int = 0


@dataclass(frozen=True)
class Copied:
    """A copy, and the call that made it."""

    start: float
    end: float
    launched: float
    returned: float
    stream: int = 0


@dataclass(frozen=True)
class Collective:
    """A kernel of a collective with its metadata; all ranks are members where none are given."""

    start: float
    end: float
    launched: float
    bytes: int | None = 2_000_000
    op: str = "all_reduce"
    comm: str = "0"
    stream: int = 1
    peer: int | None = None
    send_sizes: tuple[int, ...] | None = None
    members: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Call:
    """A call or annotation of the host that launches nothing; ``sync`` by default."""

    start: float
    end: float
    name: str
    kind: str = "sync"


Item = Kernel | Copied | Collective | Call
Pattern = Sequence[Item]


@dataclass(frozen=True)
class Job:
    """What each rank does in a step: always, or by the number of the step.

    ``files`` is of how many ranks there is a file. Without ``launches`` the files have no calls,
    and so no steps; ``marked`` says whether steps are annotated. ``lost`` kernels a step are not
    recorded, so that trust withholds it. ``log`` is what the library wrote.
    """

    ranks: Sequence[Pattern | Callable[[int], Pattern]]
    step_us: int = 1_000
    steps: int = 4
    gpu: str | None = None
    files: int | None = None
    launches: bool = True
    marked: bool = True
    lost: int = 0
    log: str | None = None
    limits: Mapping[str, float] = field(default_factory=dict)

    def without_launches(self) -> Job:
        return replace(self, launches=False, marked=False, steps=1)

    def alone(self) -> Job:
        """With the file of the first rank only."""
        return replace(self, files=1)

    def withheld(self) -> Job:
        """With so many kernels lost that nothing of it can be trusted."""
        return replace(self, lost=10)

    def pattern(self, rank: int, number: int) -> Pattern:
        given = self.ranks[rank]
        return given(number) if callable(given) else given


@dataclass(frozen=True)
class Found:
    """What the rules found in a job, and how each of them ended."""

    analysis: Analysis
    findings: tuple[Finding, ...]
    looked: Mapping[str, Looked]

    def of(self, rule: str) -> list[Finding]:
        return [finding for finding in self.findings if finding.rule == rule]


def trace_of(job: Job) -> Trace:
    """The trace of a job's files."""
    count = len(job.ranks) if job.files is None else job.files
    return normalize([_reading(job, rank) for rank in range(count)], Options())


def examine(job: Job) -> Found:
    """Lets all rules look at a job."""
    analysis = analyse(trace_of(job))
    joined = None if job.log is None else join(analysis, read_text(job.log.encode()))
    beside = None if joined is None else Beside(joined, ())
    findings, looked = look(analysis, trust_of(analysis), BUILT_IN, job.limits, beside)
    return Found(analysis, findings, {one.rule: one for one in looked})


def _reading(job: Job, rank: int) -> Reading:
    rows = _Rows(len(job.ranks))
    for number in range(job.steps):
        begin = number * job.step_us * US
        if job.marked:
            rows.host.append(step(number, begin, job.step_us * US))
        # Before the first launch of a step, as recording may end with the last one.
        rows.host += [Host(begin + i, 1, correlation=10**6 + begin + i) for i in range(job.lost)]
        for item in job.pattern(rank, number):
            rows.add(item, begin)
    host = rows.host if job.launches else []
    gpus = {} if job.gpu is None else {0: job.gpu}
    found = reading(*rows.gpu, *host, file=f"r{rank}.json", rank=rank, gpus=gpus)
    return replace(found, collectives=_collectives(rows.told))


@dataclass
class _Rows:
    """Rows of one file; ``told`` is the metadata of its collectives."""

    world: int
    gpu: list[Gpu] = field(default_factory=list)
    host: list[Host] = field(default_factory=list)
    told: list[dict[str, Any]] = field(default_factory=list)

    def add(self, item: Item, begin: int) -> None:
        """Adds what happens in a step that begins then."""
        start, length = begin + round(item.start * US), round((item.end - item.start) * US)
        if isinstance(item, Call):
            self.host.append(Host(start, length, item.name, item.kind))
            return
        if isinstance(item, Collective):
            self.told.append(self._metadata(item))
        name, kind, call, takes_us = _described(item)
        number = None if item.launched is None else len(self.gpu) + 1
        if item.launched is not None:
            launched = begin + round(item.launched * US)
            self.host.append(Host(launched, round(takes_us * US), call, correlation=number))
        self.gpu.append(Gpu(start, length, name, stream=item.stream, kind=kind, correlation=number))

    def _metadata(self, item: Collective) -> dict[str, Any]:
        members = item.members or tuple(range(self.world))
        before = sum(one["comm"] == item.comm for one in self.told)
        return {
            "event": len(self.gpu), "op": item.op, "comm": item.comm, "bytes": item.bytes,
            "seq": before, "members": list(members), "group_size": len(members),
            "peer": item.peer, "send_sizes": item.send_sizes, "source": "args",
        }  # fmt: skip


def _described(item: Kernel | Copied | Collective) -> tuple[str, str, str, float]:
    """Name and kind of the activity, name of its call, and how long that takes."""
    if isinstance(item, Copied):
        takes_us = item.returned - item.launched
        return "Memcpy HtoD (Host -> Device)", "memcpy", "hipMemcpyWithStream", takes_us
    name = REDUCE if isinstance(item, Collective) else item.name
    return name, "kernel", "hipLaunchKernel", 1


def _collectives(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(
        [{name: row.get(name) for name in PARSED_COLLECTIVES.names} for row in rows],
        schema=PARSED_COLLECTIVES,
    )


@dataclass(frozen=True)
class Says:
    """What a finding must be; times in microseconds, ``shown`` is the first of its evidence."""

    bound_us: float
    severity: Grade
    says: str
    shown: tuple[int, int, float, float]  #: rank, step, begin and end from the begin of the step
    rank: int | None = None
    measured: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RuleCase:
    """A job in which a rule fires, its nearest innocent relative, and those it cannot judge."""

    fires: Job
    says: Says
    quiet: Job
    blind: Sequence[tuple[Job, str]]


def assert_fires(rule: str, case: RuleCase) -> None:
    """The rule gives the one finding that it should, as it should."""
    found = examine(case.fires)
    (finding,) = found.of(rule)
    assert found.looked[rule].result == "found"
    assert (finding.says, finding.severity) == (case.says.says, case.says.severity)
    assert finding.rank == case.says.rank
    assert finding.bound_ns == round(case.says.bound_us * US)
    measured = {name: one.value for name, one in finding.measured.items()}
    for name, value in case.says.measured.items():
        assert abs(measured[name] - value) <= abs(value) * 1e-6, name
    _assert_shown(case, finding)


def _assert_shown(case: RuleCase, finding: Finding) -> None:
    rank, number, start, end = case.says.shown
    begin = number * case.fires.step_us
    first = finding.evidence[0]
    assert (first.rank, first.step) == (rank, number)
    assert (first.t0_ns, first.t1_ns) == (round((begin + start) * US), round((begin + end) * US))


def assert_quiet(rule: str, job: Job) -> None:
    """The rule looks, and finds nothing."""
    found = examine(job)
    assert found.of(rule) == []
    assert found.looked[rule].result == "nothing"


def assert_blind(rule: str, job: Job, reason: str) -> None:
    """The rule says why it cannot look."""
    looked = examine(job).looked[rule]
    assert (looked.result, looked.says) == ("could_not_look", reason)
