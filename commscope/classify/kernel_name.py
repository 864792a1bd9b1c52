"""Splits the name of a kernel into what it is called and what it is made of.

``void ns::kernel<float, Op<int> >(float*)`` has the head ``ns::kernel`` and the body
``<float, Op<int> >(float*)``. Rules look at the head: template arguments and parameters name
types and functions that the kernel merely uses. Mangled names are split the same way.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: Characters of a name that are looked at. Names of several kB are real; what a kernel is stands
#: at the front, and a bound keeps the time for hostile names small.
EXAMINED = 2000

_ANONYMOUS = "(anonymous namespace)::"
_RETURN_TYPE = re.compile(r"(?:static |__global__ )*(?:void |(?:std::)?enable_if<[^>]*>::type )")
_HEAD_END = re.compile(r"[<(]| \[|\.kd\b")
_LENGTH = re.compile(r"L?(\d{1,3})")


class KernelName(NamedTuple):
    """A name in two parts; the body may be empty."""

    head: str
    body: str


def split(name: str) -> KernelName:
    """Head and body of a kernel's name, whether it is mangled or not."""
    name = name[:EXAMINED].strip()
    if name.startswith("_Z"):
        mangled = _split_mangled(name)
        if mangled.head:
            return mangled
    return _split_plain(name)


def _split_plain(name: str) -> KernelName:
    name = name.replace(_ANONYMOUS, "")
    returns = _RETURN_TYPE.match(name)
    start = returns.end() if returns else 0
    end = _HEAD_END.search(name, start)
    stop = end.start() if end else len(name)
    return KernelName(name[start:stop], name[stop:])


def _split_mangled(name: str) -> KernelName:
    position = 3 if name.startswith("_ZN") else 2
    parts = []
    while length := _LENGTH.match(name, position):
        position = length.end() + int(length[1])
        part = name[length.end() : position]
        if not part.startswith("_GLOBAL__N"):
            parts.append(part)
    return KernelName("::".join(parts), name[position:])
