"""Values of counters by dispatch, and the kernels that they sum up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from commscope.columns import Int64
from commscope.parsers.omniperf.profile import Counted
from commscope.parsers.words import Words

Float64 = npt.NDArray[np.float64]
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Collected:
    """What one process counted: a row each dispatch, and a row each value of one.

    A counter may have several values in a dispatch, one for each instance of its block: they add
    up, as in rocprofv3's own tables.
    """

    kernels: Sequence[str]
    counters: Sequence[str]
    kernel: Int64  #: of each dispatch, its place in ``kernels``
    length_ns: Float64  #: of each dispatch; NaN where it is not told
    dispatch: Int64  #: of each value, the row of its dispatch
    counter: Int64  #: of each value, its place in ``counters``
    value: Float64
    facts: Mapping[str, Any] = field(default_factory=dict)  #: columns of WORKLOADS
    notes: tuple[str, ...] = ()


def counted(passes: Sequence[Sequence[Collected]]) -> list[Counted]:
    """The kernels of all runs of a program, each of which counted something else.

    Processes of one run add up. Dispatches and times are those of one run: the one in which the
    kernel ran most often. Means are over all dispatches in which a counter was read.
    """
    rows = _Rows()
    for number, processes in enumerate(passes):
        for one in processes:
            rows.add(one, number)
    if not rows.kernel:
        return []
    joined = rows.joined()
    found = _timed(joined, list(rows.kernels), len(passes))
    _add_means(found, joined, list(rows.counters))
    return found


def places(keys: Iterable[_Key]) -> tuple[Int64, list[_Key]]:
    """The place of each key among the distinct ones, and these."""
    found: dict[_Key, int] = {}
    codes = [found.setdefault(key, len(found)) for key in keys]
    return np.array(codes, np.int64), list(found)


@dataclass(frozen=True, slots=True)
class _Joined:
    kernel: Int64
    run: Int64
    length_ns: Float64
    dispatch: Int64
    counter: Int64
    value: Float64


@dataclass(slots=True)
class _Rows:
    """Rows of several processes, with codes of common words."""

    kernels: Words = field(default_factory=Words)
    counters: Words = field(default_factory=Words)
    kernel: list[Int64] = field(default_factory=list)
    run: list[Int64] = field(default_factory=list)
    length_ns: list[Float64] = field(default_factory=list)
    dispatch: list[Int64] = field(default_factory=list)
    counter: list[Int64] = field(default_factory=list)
    value: list[Float64] = field(default_factory=list)
    _dispatches: int = 0

    def add(self, one: Collected, run: int) -> None:
        """Takes the rows of a process."""
        if not len(one.kernel):
            return
        self.kernel.append(self.kernels.encode(list(one.kernels))[one.kernel])
        self.run.append(np.full(len(one.kernel), run, np.int64))
        self.length_ns.append(one.length_ns)
        self.dispatch.append(one.dispatch + self._dispatches)
        names = self.counters.encode(list(one.counters))
        self.counter.append(names[one.counter] if len(one.counter) else one.counter)
        self.value.append(one.value)
        self._dispatches += len(one.kernel)

    def joined(self) -> _Joined:
        """All rows."""
        return _Joined(
            kernel=np.concatenate(self.kernel),
            run=np.concatenate(self.run),
            length_ns=np.concatenate(self.length_ns),
            dispatch=np.concatenate(self.dispatch),
            counter=np.concatenate(self.counter),
            value=np.concatenate(self.value),
        )


def _timed(rows: _Joined, names: Sequence[str], runs: int) -> list[Counted]:
    """The kernels with the number of their dispatches, and the times of these."""
    pairs, count = np.unique(rows.kernel * runs + rows.run, return_counts=True)
    most: dict[int, tuple[int, int]] = {}
    for pair, n in zip(pairs.tolist(), count.tolist()):
        kernel, run = divmod(pair, runs)
        if kernel not in most or n > most[kernel][1]:
            most[kernel] = run, n
    found = [Counted(name, most[kernel][1]) for kernel, name in enumerate(names)]
    chosen = np.array([most[kernel][0] for kernel in range(len(names))], np.int64)
    known = np.flatnonzero((rows.run == chosen[rows.kernel]) & ~np.isnan(rows.length_ns))
    order = known[np.argsort(rows.kernel[known], kind="stable")]
    kernels, first = np.unique(rows.kernel[order], return_index=True)
    for kernel, lengths in zip(kernels.tolist(), np.split(rows.length_ns[order], first[1:])):
        one = found[kernel]
        one.timed = len(lengths)
        one.total_ns, one.median_ns = float(lengths.sum()), float(np.median(lengths))
    return found


def _add_means(kernels: Sequence[Counted], rows: _Joined, names: Sequence[str]) -> None:
    if not len(rows.value):
        return
    width = len(names)
    place, inverse = np.unique(rows.kernel[rows.dispatch] * width + rows.counter,
                               return_inverse=True)  # fmt: skip
    total = np.bincount(inverse.reshape(-1), rows.value, minlength=len(place))
    read = np.unique(rows.dispatch * width + rows.counter)
    in_dispatches = rows.kernel[read // width] * width + read % width
    _, count = np.unique(in_dispatches, return_counts=True)
    for at, value, n in zip(place.tolist(), total.tolist(), count.tolist()):
        kernel, counter = divmod(at, width)
        kernels[kernel].counters[names[counter]] = value / n
