"""How a file writes its events: found from the first two, never assumed.

A file is fast to cut at the exact bytes that stand between two events, and most events (operators,
Python functions, flow arrows) can be told as not needed from the bytes they begin with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Phases that hold nothing the analysis needs: flows, counters, metadata, instants.
_PHASES = (b"s", b"t", b"f", b"M", b"C", b"i", b"I", b"n", b"N", b"O", b"D")
_CATEGORIES = (b"cpu_op", b"python_function", b"cpu_instant_event", b"overhead", b"fwdbwd", b"ac2g")
#: Operators that are needed all the same.
_NEEDED = (b"record_param_comms", b"ProfilerStep#")

_PHASE = re.compile(rb'\{(\s*"ph"\s*:\s*")[A-Za-z]"')
_CATEGORY = re.compile(rb'\{(\s*"ph"\s*:\s*"X"\s*,\s*"cat"\s*:\s*")')
_NAME = re.compile(rb'"cat"\s*:\s*"[^"\\]*(",\s*"name"\s*:\s*")')
_BETWEEN = re.compile(rb"\}\s*,\s*\{")


@dataclass(frozen=True, slots=True)
class Layout:
    """The bytes between two events, and what an event that is not needed begins with."""

    separator: bytes
    skipped: tuple[bytes, ...]
    needed: tuple[bytes, ...]


def find_layout(text: bytes, first_end: int) -> Layout | None:
    """The layout, from text that begins with an event ending at ``first_end``; None if it is alone."""
    between = _BETWEEN.match(text, first_end - 1)
    if between is None:
        return None
    sample = text[: between.end() + 4096]
    return Layout(between.group(), *_prefixes(sample))


def _prefixes(sample: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Beginnings of events to skip, and of those to keep although their category is skipped.

    Empty where events do not begin with phase, category and name: then all are decoded.
    """
    phase, category, name = (p.search(sample) for p in (_PHASE, _CATEGORY, _NAME))
    if not (phase and category and name):
        return (), ()
    skipped = [phase[1] + letter + b'"' for letter in _PHASES]
    skipped += [category[1] + word + b'"' for word in _CATEGORIES]
    operator = category[1] + b"cpu_op" + name[1]
    return tuple(skipped), tuple(operator + word for word in _NEEDED)
