"""From rows of dispatches to kernels: counts, lengths and means of counters."""

from __future__ import annotations

import numpy as np

from commscope.parsers.counter_names import counters_in
from commscope.parsers.omniperf.kinds import name_in, times_in
from commscope.parsers.omniperf.profile import Counted
from commscope.parsers.whole_csv import (
    Codes,
    Columns,
    Float64,
    coded,
    header,
    read_columns,
    words_of,
)


def read_dispatches(data: bytes) -> tuple[dict[str, Counted], int]:
    """The kernels of a table with one row a dispatch, by name, and how many rows are torn."""
    names = header(data)
    name, times = name_in(set(names)), times_in(set(names))
    if name is None:
        return {}, 0
    counters = counters_in(names)
    found = read_columns(data, [name, *(times or ()), *counters])
    codes, words = coded(found.fields[name])
    kernels = _counted(codes, words)
    if times is not None and len(codes):
        _add_lengths(kernels, codes, found.lengths(*times))
    for counter in counters:
        _add_means(kernels, codes, counter, found)
    return {kernel.name: kernel for kernel in kernels}, found.torn


def read_top(data: bytes) -> dict[str, Counted]:
    """The kernels of a table with one row a kernel."""
    found = read_columns(data, ["Kernel_Name", "Count", "Sum(ns)", "Median(ns)"])
    if len(found.fields) < 4:
        return {}
    names = words_of(found.fields["Kernel_Name"])
    numbers = [found.numbers(name).tolist() for name in ("Count", "Sum(ns)", "Median(ns)")]
    return {
        name: Counted(name, int(count), int(count), total, median)
        for name, count, total, median in zip(names, *numbers)
        if 0 < count < 2**53 and 0 < total < np.inf and 0 < median < np.inf
    }


def _counted(codes: Codes, words: list[str]) -> list[Counted]:
    count = np.bincount(codes, minlength=len(words))
    return [Counted(word, int(n)) for word, n in zip(words, count)]


def _add_lengths(kernels: list[Counted], codes: Codes, length: Float64) -> None:
    known = np.flatnonzero(~np.isnan(length))
    order = known[np.argsort(codes[known], kind="stable")]
    found, first = np.unique(codes[order], return_index=True)
    for code, lengths in zip(found.tolist(), np.split(length[order], first[1:])):
        kernel = kernels[code]
        kernel.timed = len(lengths)
        kernel.total_ns, kernel.median_ns = float(lengths.sum()), float(np.median(lengths))


def _add_means(kernels: list[Counted], codes: Codes, counter: str, found: Columns) -> None:
    values = found.numbers(counter)
    known = ~np.isnan(values)
    count = np.bincount(codes[known], minlength=len(kernels))
    total = np.bincount(codes[known], values[known], minlength=len(kernels))
    for kernel, n, value in zip(kernels, count.tolist(), total.tolist()):
        if n and np.isfinite(value):
            kernel.counters[counter] = value / n
