"""JSON in values of other formats, which may be anything."""

from __future__ import annotations

import json
from typing import Any


def json_object(text: Any) -> dict[str, Any]:
    """The object that a text is; an empty one where it is none."""
    try:
        found = json.loads(text) if isinstance(text, (str, bytes)) else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
