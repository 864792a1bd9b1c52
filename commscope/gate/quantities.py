"""What kind of number a name of the report stands for, and in which units people write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from commscope.units import percent, size, span

Kind = Literal["time", "size", "rate", "ratio", "count", "text", "flag"]

#: Units of each kind, and how many of the report's own (ns, bytes, GB/s, shares of one) they are.
UNITS: dict[Kind, dict[str, float]] = {
    "time": {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9},
    "size": {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9},
    "rate": {"GB/s": 1},
    "ratio": {"%": 0.01},
}
_RATIO = re.compile(r"(.+_)?(share|ratio|confidence)|share_of_expected")


def kind_of(path: Sequence[str]) -> Kind:
    """The kind of number that a name stands for; a percentile is of the kind of its group."""
    name = path[-1]
    if name in ("p50", "p95", "max") and len(path) > 1:
        name = path[-2]
    if name.endswith("_ns"):
        return "time"
    if name.endswith("_gbps"):
        return "rate"
    if name.endswith("bytes"):
        return "size"
    return "ratio" if "shares" in path or _RATIO.fullmatch(name) else "count"


def is_share(path: Sequence[str]) -> bool:
    """Whether a number lies between 0 and 1."""
    return "shares" in path or path[-1].endswith(("overlap_ratio", "_share", "confidence"))


def in_words(value: float | str | bool | None, kind: Kind) -> str:
    """A value as people read it; a question mark for one that is not known."""
    if value is None:
        return "?"
    if isinstance(value, (bool, str)):
        return str(value).lower() if isinstance(value, bool) else value
    return _SHOWN.get(kind, _as_count)(value)


def _as_count(value: float) -> str:
    return f"{value:,.6g}"


_SHOWN: dict[Kind, Callable[[float], str]] = {
    "time": span,
    "size": size,
    "rate": lambda value: f"{value:.1f} GB/s",
    "ratio": percent,
}
