"""Takes log lines out of what a container's runtime wrapped around them.

Docker writes a JSON object a line; the interface of Kubernetes (CRI) cuts long lines into partial
ones. All other wrappers stand before a record and are passed over by ``records``.
"""

from __future__ import annotations

import re

import msgspec

_JSON_KEYS = ("log", "message", "msg")
#: More of a partial line is not kept.
_MOST_BYTES = 1 << 20
_PARTIAL = re.compile(rb"\S{1,64} (stdout|stderr) ([PF]) ")


class Unwrapper:
    """Unwraps the lines of one file; a partial line waits for the rest of it."""

    def __init__(self) -> None:
        self._waiting: dict[bytes, bytes] = {}

    def lines(self, whole: bytes) -> list[bytes]:
        """The lines of a text, one for each of its own; a partial one is empty until its end.

        How the first one is wrapped tells it for all: who wraps a file wraps all of its lines.
        """
        texts = whole.split(b"\n")
        if whole[:1] == b"{":
            texts = [_from_json(text) if text[:1] == b"{" else text for text in texts]
        if self._waiting or _PARTIAL.match(whole):
            texts = [self._joined(text) for text in texts]
        return texts

    def _joined(self, text: bytes) -> bytes:
        found = _PARTIAL.match(text)
        if not found:
            return text
        stream, kind = found.groups()
        waiting = self._waiting.pop(stream, b"")
        if kind == b"F":
            return waiting + text[found.end() :] if waiting else text
        self._waiting[stream] = (waiting + text[found.end() :])[:_MOST_BYTES]
        return b""


def _from_json(text: bytes) -> bytes:
    """What a line of JSON logs; the line itself where it logs nothing."""
    try:
        document = msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return text
    for key in _JSON_KEYS:
        said = document.get(key)
        if isinstance(said, str):
            return said.rstrip("\n").replace("\n", " ").encode("utf-8", "surrogatepass")
    return text
