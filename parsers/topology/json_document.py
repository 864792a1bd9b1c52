"""JSON as the tools print it: now and then with lines of warnings before it."""

from __future__ import annotations

import re
from typing import Any

import msgspec

_BEGIN = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)


def document_of(text: str) -> Any:
    """The document; raises ValueError where there is none or it is cut."""
    found = _BEGIN.search(text)
    if not found:
        raise ValueError("no JSON in it")
    try:
        return msgspec.json.decode(text[found.start() :].encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
