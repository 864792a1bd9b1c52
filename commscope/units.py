"""Numbers for people: times, sizes and shares in units that fit."""

from __future__ import annotations

_TIMES = ((10**9, "s"), (10**6, "ms"), (10**3, "us"))
_SIZES = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def span(ns: float) -> str:
    """A length of time with three significant digits or more: 27.2 ms."""
    for factor, unit in _TIMES:
        if abs(ns) >= factor:
            scaled = ns / factor
            decimals = 2 if abs(scaled) < 10 else 1 if abs(scaled) < 1000 else 0
            return f"{scaled:,.{decimals}f} {unit}"
    return f"{ns:,.0f} ns"


def size(count: float) -> str:
    """A size in bytes with four significant digits, 1 MB = 1e6 bytes: 27.29 MB."""
    for factor, unit in _SIZES:
        if abs(count) >= factor:
            scaled = count / factor
            decimals = 3 if abs(scaled) < 10 else 2 if abs(scaled) < 100 else 1
            return f"{scaled:,.{decimals}f} {unit}"
    return f"{count:,.0f} B"


def size_range(least: float, most: float) -> str:
    """Sizes from the least to the most; one where they are shown alike."""
    low, high = size(least), size(most)
    return low if low == high else f"{low} to {high}"


def percent(share: float | None) -> str:
    """A share of one as percent."""
    return "?" if share is None else f"{100 * share:.1f} %"
