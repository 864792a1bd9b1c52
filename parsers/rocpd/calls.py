"""What the calls of the host are, by domain and name, and what markers say."""

from __future__ import annotations

import json

import numpy as np

from commscope.columns import NONE, Int64
from commscope.parsers.device_tables import HOST_KINDS
from commscope.parsers.rocprof_domains import domain_of
from commscope.parsers.rocprof_names import call_kind
from commscope.parsers.words import Words

ANNOTATION = HOST_KINDS.index("annotation")


def is_marker(domain: str) -> bool:
    """Whether the domain is that of ranges and marks which the program itself names."""
    return call_kind(domain_of(domain), "") == "annotation"


def said(name: Int64, message: Int64, words: Words) -> Int64:
    """Names of annotations: what their message says, or their own where they have none.

    A message is the code of a JSON object with it, ``NONE`` for none.
    """
    texts = [*words, ""]
    distinct, inverse = np.unique(np.where(message == NONE, -1, message), return_inverse=True)
    found = [_message(texts[code]) for code in distinct.tolist()]
    codes = np.array([NONE if text is None else words[text] for text in found], np.int64)
    codes = codes[inverse.reshape(-1)]
    return np.where(codes == NONE, name, codes)


def _message(text: str) -> str | None:
    try:
        found = json.loads(text).get("message")
    except (ValueError, AttributeError, RecursionError):
        return None
    # A lone surrogate is valid JSON, but no text that a table holds.
    return found.encode(errors="replace").decode() if isinstance(found, str) and found else None
