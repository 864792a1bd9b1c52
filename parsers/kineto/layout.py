"""How a file writes its events: found from the first two, never assumed.

A file is fast to cut at the exact bytes that stand between two events, and most events (operators,
Python functions, flow arrows) can be told as not needed from the bytes they begin with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: As much white space between two tokens is no layout but damage.
_SPACE = rb"\s{0,64}"
_BETWEEN = re.compile(rb'\}%s,%s\{%s"(?:ph")?' % (_SPACE, _SPACE, _SPACE))
_BEGIN = re.compile(
    rb'"ph"(?P<phase>%s:%s")X(?P<category>"%s,%s"cat"%s:%s")[^"\\]*(?P<name>"%s,%s"name"%s:%s")'
    % ((_SPACE,) * 10)
)


@dataclass(frozen=True, slots=True)
class Prefix:
    """What stands between the first words of an event: phase, category and name, in this order."""

    phase: bytes  #: after the key "ph", up to the phase
    category: bytes  #: from there up to the category
    name: bytes  #: from there up to the name


@dataclass(frozen=True, slots=True)
class Layout:
    """The bytes between two events, through the first key of the second one if that is "ph"."""

    separator: bytes
    prefix: Prefix | None  #: null where events do not begin that way: then none can be skipped

    @property
    def gap(self) -> int:
        """Bytes from one event's end to the next one's begin."""
        return self.separator.index(b"{") - 1

    @property
    def is_indented(self) -> bool:
        """Whether the bytes between events differ from those between objects inside events."""
        return b"\n" in self.separator


def find_layout(text: bytes, first_end: int) -> Layout | None:
    """The layout, from text that begins with an event ending at ``first_end``; None if it is alone.

    The separator holds a quotation mark, so it cannot stand inside a string.
    """
    between = _BETWEEN.match(text, first_end - 1)
    if between is None:
        return None
    separator = between.group()
    begin = _BEGIN.search(text)
    is_fast = begin is not None and separator.endswith(b'"ph"')
    return Layout(separator, Prefix(**begin.groupdict()) if begin and is_fast else None)
