"""Which counters belong to a kernel of a trace: by its name, as nothing else is common to both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from commscope.counters.model import KernelCounters
from commscope.counters.names import Parts, is_cut, parts_of, tidy

#: A shorter piece of a name says too little.
_LEAST_PREFIX = 16


def by_kernel(names: Iterable[str], kernels: Sequence[KernelCounters]) -> dict[str, KernelCounters]:
    """The counters of those kernels of a trace that can be told without doubt.

    Names that are the same but for suffixes and blanks belong together. Of the others, a name that
    is cut belongs to the only one that begins so, and one that lacks parameters or template
    arguments to the only one that differs in nothing else; only, among the kernels of the profile
    and among those of the trace. Of one kernel in several profiles the row with most time is
    taken, or none where they place it differently.
    """
    spelled: defaultdict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        spelled[tidy(name)].append(name)
    rows = _rows(kernels)
    pairs = {name: name for name in spelled if name in rows}
    cut_rows = {tidy(one.kernel) for one in kernels if is_cut(one.kernel)}
    cut_names = {name for name, forms in spelled.items() if any(map(is_cut, forms))}
    pairs |= _begins(spelled, rows, pairs, cut_names, cut_rows)
    pairs |= _alike(
        [name for name in spelled if name not in cut_names],
        [name for name in rows if name not in cut_rows],
    )
    return {name: row for tidied, other in pairs.items() for name in spelled[tidied]
            if (row := rows[other]) is not None}  # fmt: skip


def _rows(kernels: Sequence[KernelCounters]) -> dict[str, KernelCounters | None]:
    """The row of each tidy name; null where rows of one name contradict each other."""
    found: defaultdict[str, list[KernelCounters]] = defaultdict(list)
    for kernel in kernels:
        found[tidy(kernel.kernel)].append(kernel)
    return {name: _agreed(rows) for name, rows in found.items()}


def _agreed(rows: Sequence[KernelCounters]) -> KernelCounters | None:
    known = [row for row in rows if row.position is not None]
    if len({(row.position, row.binding_roof) for row in known}) > 1:
        return None
    return max(known or rows, key=lambda row: row.total_ns or 0)


def _begins(
    names: Iterable[str],
    rows: Iterable[str],
    taken: Mapping[str, str],
    cut_names: set[str],
    cut_rows: set[str],
) -> dict[str, str]:
    """Pairs of which one is the begin of the other, and of nothing else."""
    of_name: defaultdict[str, list[str]] = defaultdict(list)
    of_row: defaultdict[str, list[str]] = defaultdict(list)
    others = list(rows)
    for name in names if cut_names or cut_rows else ():
        for row in others:
            if name == row or _is_begin(name, row, cut_names) or _is_begin(row, name, cut_rows):
                of_name[name].append(row)
                of_row[row].append(name)
    return {
        name: found[0]
        for name, found in of_name.items()
        if name not in taken and len(found) == 1 and len(of_row[found[0]]) == 1
    }


def _is_begin(short: str, long: str, cut: set[str]) -> bool:
    return len(short) >= _LEAST_PREFIX and short in cut and long.startswith(short)


def _alike(names: Sequence[str], rows: Sequence[str]) -> dict[str, str]:
    """Pairs that differ only in parts that one of them lacks, and fit nothing else."""
    trace, profile = _by_head(names), _by_head(rows)
    found = {}
    for head, mine in trace.items():
        theirs = profile.get(head, {})
        for name, parts in mine.items():
            fitting = [row for row, other in theirs.items() if parts.fits(other)]
            if len(fitting) == 1 and _fitting(theirs[fitting[0]], mine) == 1:
                found[name] = fitting[0]
    return found


def _fitting(parts: Parts, names: Mapping[str, Parts]) -> int:
    return sum(parts.fits(other) for other in names.values())


def _by_head(names: Iterable[str]) -> dict[str, dict[str, Parts]]:
    found: defaultdict[str, dict[str, Parts]] = defaultdict(dict)
    for name in names:
        parts = parts_of(name)
        found[parts.head][name] = parts
    return dict(found)
