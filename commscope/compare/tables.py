"""Collectives and kernels of both sides, matched by what they are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median
from typing import Any, TypeVar

import numpy as np

from commscope.analysis.groups import group_rows, group_sums
from commscope.classify import CLASS_FAMILIES, ActivityClass
from commscope.columns import NONE, Int64, codes, int64
from commscope.compare.groups import group_numbers
from commscope.compare.means import mean_sums
from commscope.compare.model import CollectiveFacts, CollectivePair, KernelFacts, KernelPair
from commscope.compare.scope import Scope, Sides
from commscope.findings.model import Metric
from commscope.findings.withheld import is_withheld

_Class = tuple[str, str | None, int | None]
_T = TypeVar("_T")


def collective_pairs(sides: Sides) -> tuple[CollectivePair, ...]:
    """Kinds of collectives, those first whose exposed time differs most."""
    base, new = (_of_side(scopes) for scopes in (sides.base, sides.new))
    pairs = (CollectivePair(*kind, base.get(kind), new.get(kind)) for kind in {*base, *new})
    return tuple(sorted(pairs, key=lambda pair: (-_weight(pair), str(pair))))


def _weight(pair: CollectivePair) -> int:
    times = [of.exposed_ns or 0 for of in (pair.base, pair.new) if of]
    return abs(times[0] - times[-1]) if len(times) > 1 else sum(times)


def _of_side(scopes: Sequence[Scope]) -> dict[_Class, CollectiveFacts]:
    found: defaultdict[_Class, list[CollectiveFacts]] = defaultdict(list)
    for scope in scopes:
        for kind, facts in _collectives(scope):
            found[kind].append(facts)
    return {kind: _merged(facts, len(scopes)) for kind, facts in found.items()}


def _collectives(scope: Scope) -> Iterable[tuple[_Class, CollectiveFacts]]:
    """The kinds of one run."""
    calls = scope.run.analysis.across.calls
    rows = np.flatnonzero(scope.holds(int64(calls, "rank"), int64(calls, "step")))
    group, groups = group_numbers(scope.run.analysis)
    op, ops = codes(calls, "op")
    size = int64(calls, "bytes")
    kind, first = group_rows([group[rows], op[rows], size[rows]])
    order = np.argsort(kind, kind="stable")
    for mine in np.split(rows[order], np.cumsum(np.bincount(kind))[:-1]) if len(first) else []:
        row = mine[0]
        word = None if op[row] < 0 else ops[op[row]]
        known = None if size[row] == NONE else int(size[row])
        yield (groups[group[row]], word, known), _facts(scope, mine)


def _facts(scope: Scope, rows: Int64) -> CollectiveFacts:
    calls = scope.run.analysis.across.calls
    running = int(int64(calls, "dur_ns")[rows].sum())
    cost = scope.run.analysis.costs.of_kind(rows)
    hidden = is_withheld(calls, scope.run.report.trust, Metric.OVERLAP)[rows].any()
    return CollectiveFacts(
        count=len(rows) / scope.cells,
        each_ns=round(running / len(rows)),
        running_ns=round(running / scope.cells),
        exposed_ns=None if hidden else _per_cell(scope, int64(calls, "exposed_ns")[rows]),
        wait_ns=_per_cell(scope, cost["wait_ns"]) if cost["matched"] else None,
        transfer_p50_ns=cost["transfer_p50_ns"],
        busbw_gbps=cost["busbw_gbps"],
        bandwidth_note=cost["bandwidth_note"],
    )


def _per_cell(scope: Scope, values: Any) -> int:
    return round(int(np.sum(values)) / scope.cells)


def _merged(facts: Sequence[CollectiveFacts], runs: int) -> CollectiveFacts:
    """The mean over runs, where a run without them has none; of rates and transfers the median."""
    if len(facts) == runs == 1:
        return facts[0]
    count = sum(of.count for of in facts) / runs
    running = sum(of.running_ns for of in facts) / runs
    return CollectiveFacts(
        count=count,
        each_ns=round(fmean(of.each_ns for of in facts)),
        running_ns=round(running),
        exposed_ns=_over(facts, lambda of: of.exposed_ns, lambda found: sum(found) / runs),
        wait_ns=_over(facts, lambda of: of.wait_ns, lambda found: sum(found) / runs),
        transfer_p50_ns=_over(facts, lambda of: of.transfer_p50_ns, median),
        busbw_gbps=median(rates) if (rates := _known(of.busbw_gbps for of in facts)) else None,
        bandwidth_note=next((of.bandwidth_note for of in facts if of.bandwidth_note), None),
    )


def _known(values: Iterable[_T | None]) -> list[_T]:
    return [value for value in values if value is not None]


def _over(
    facts: Sequence[CollectiveFacts],
    of: Callable[[CollectiveFacts], int | None],
    merge: Callable[[list[int]], float],
) -> int | None:
    """One number of all runs; null where one does not tell it."""
    found = _known(map(of, facts))
    return round(merge(found)) if len(found) == len(facts) else None


def kernel_pairs(sides: Sides) -> tuple[tuple[KernelPair, ...], tuple[KernelPair, ...]]:
    """(Families, kernels by name) of what was launched in the steps, most changed first."""
    base, new = (_kernels_of(scopes) for scopes in (sides.base, sides.new))
    families = [_by_family(side) for side in (base, new)]
    return _pairs(*families), _pairs(base, new)


_Kernels = dict[tuple[str, str], KernelFacts]


def _pairs(base: _Kernels, new: _Kernels) -> tuple[KernelPair, ...]:
    pairs = (KernelPair(*name, base.get(name), new.get(name)) for name in {*base, *new})
    return tuple(sorted(pairs, key=lambda pair: (-abs(pair.change_ns), pair.name, pair.family)))


def _kernels_of(scopes: Sequence[Scope]) -> _Kernels:
    """Kernels and copies of a side by name and family."""
    sums = [_kernel_sums(scope) for scope in scopes]
    count, total = (mean_sums(scopes, [run[i] for run in sums]) for i in (0, 1))
    return {key: KernelFacts(float(count[key]), round(total[key])) for key in count}


def _kernel_sums(scope: Scope) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """(Count, ns) by name and family, of one run."""
    trace, found = scope.run.analysis.trace, scope.run.analysis.timeline.activities
    names, words = codes(trace.events, "name")
    rank, step = (int64(trace.events, name)[found.row] for name in ("rank", "step"))
    mine = np.flatnonzero(scope.holds(rank, step))
    key = [names[found.row[mine]], found.kind[mine].astype(np.int64)]
    group, first = group_rows(key)
    total = group_sums(group, (found.end_ns - found.start_ns)[mine], len(first))
    counts: Counter[tuple[str, str]] = Counter()
    times: Counter[tuple[str, str]] = Counter()
    for row, count, ns in zip(first, np.bincount(group).tolist(), total.tolist()):
        name, kind = int(key[0][row]), ActivityClass(int(key[1][row]))
        named = (words[name], CLASS_FAMILIES.get(kind, trace.classes.family[name]))
        counts[named] += count
        times[named] += ns
    return counts, times


def _by_family(kernels: _Kernels) -> _Kernels:
    count: defaultdict[str, float] = defaultdict(float)
    total: defaultdict[str, int] = defaultdict(int)
    for (_, family), facts in kernels.items():
        count[family] += facts.count
        total[family] += facts.total_ns
    return {(name, name): KernelFacts(count[name], total[name]) for name in count}
