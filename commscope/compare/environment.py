"""What differs between the surroundings of both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from commscope.compare.groups import group_name
from commscope.compare.model import Fact
from commscope.compare.scope import Examined, Sides
from commscope.topology.summary import sentence

#: With these begin the names of facts about variables of the library, and groups of ranks.
VARIABLE, _GROUP = "variable ", "communicators "


def environment_of(sides: Sides) -> tuple[tuple[Fact, ...], tuple[str, ...]]:
    """What differs, and what only one side tells: a fact that one side lacks is no difference."""
    base, new = (_of_side([scope.run for scope in side]) for side in (sides.base, sides.new))
    # What is not set, or not there, is not told: it differs where the other side would tell.
    both_logged = all(scope.run.report.log for scope in sides.every)
    found = [Fact(name, base.get(name), new.get(name)) for name in dict.fromkeys((*base, *new))]
    differing = [fact for fact in found if fact.base != fact.new]
    lacking = [
        fact
        for fact in differing
        if None in (fact.base, fact.new)
        and not fact.name.startswith(_GROUP)
        and not (both_logged and fact.name.startswith(VARIABLE))
    ]
    told = ", ".join(fact.name for fact in lacking)
    notes = (f"environment: only one side tells {told}",) if lacking else ()
    return tuple(fact for fact in differing if fact not in lacking), notes


def _of_side(runs: Sequence[Examined]) -> dict[str, str]:
    """Each fact, as all runs of the side tell it; what they differ in is listed."""
    told: dict[str, list[str]] = {}
    for run in runs:
        for name, value in _facts(run):
            told.setdefault(name, []).append(value)
    return {name: ", ".join(sorted(set(values))) for name, values in told.items()}


def _facts(run: Examined) -> Iterator[tuple[str, str]]:
    environment, trace = run.report.environment, run.analysis.trace
    if environment.platform:
        yield "platform", {"rocm": "ROCm", "cuda": "CUDA"}[environment.platform]
    if environment.gpus:
        yield "GPUs", ", ".join(environment.gpus)
    for name, version in sorted(environment.versions.items()):
        yield f"version of {name}", version
    if run.world is not None:
        yield "ranks of the job", str(run.world)
    yield "ranks in the files", str(len(run.ranks))
    yield "hosts", str(run.analysis.across.hosts)
    yield "steps by", run.report.summary.step_source
    yield from _communicators(run)
    if run.report.log is not None and trace.logs is not None:
        table = trace.logs.tables["ENVIRONMENT"]
        values: dict[str, set[str]] = {}
        for row in table.to_pylist():
            values.setdefault(row["variable"], set()).add(row["value"] or "")
        for name in sorted(values):
            yield f"{VARIABLE}{name}", ", ".join(sorted(values[name]))
        yield from _transports(run)
    if trace.topology is not None:
        hosts = Counter(sentence(trace.topology, host) for host in trace.topology.hosts)
        yield "topology", "; ".join(f"{n} x ({says})" for says, n in sorted(hosts.items()))


def _communicators(run: Examined) -> Iterator[tuple[str, str]]:
    """How many communicators there are of each role or name, and of how many ranks."""
    across = run.analysis.across
    found = across.matching.communicators.found
    groups: dict[str, list[int]] = {}
    for number, communicator in enumerate(found):
        groups.setdefault(group_name(run.analysis, number), []).append(communicator.size)
    yield "communicators", str(len(found))
    for name, sizes in sorted(groups.items()):
        of = " or ".join(map(str, sorted(set(sizes))))
        yield f"{_GROUP}{name}", f"{len(sizes)} of {of} ranks"


def _transports(run: Examined) -> Iterator[tuple[str, str]]:
    """What the collectives ran over, as the logs tell it."""
    log = run.report.log
    rows = list(log.transports) if log is not None else []
    told = {row["transport"] for row in rows if row["transport"]}
    if told:
        yield "transport", "; ".join(sorted(told))
