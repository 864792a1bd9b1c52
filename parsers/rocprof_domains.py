"""Domains of calls as rocprofv3 names them, from the words of AMD's other profilers."""

from __future__ import annotations

import numpy as np

from commscope.columns import Int64
from commscope.parsers.device_tables import HOST_KINDS
from commscope.parsers.rocprof_names import call_kind
from commscope.parsers.words import Words

_DOMAINS = {
    "HIP_API": "HIP_RUNTIME_API",
    "HSA_API": "HSA_CORE_API",
    "MARKER_API": "MARKER_CORE_API",
    "HIP": "HIP_RUNTIME_API",
    "HSA": "HSA_CORE_API",
    "RCCL": "RCCL_API",
    "ROCTX": "MARKER_CORE_API",
}


def domain_of(category: str) -> str:
    """The domain that a category such as ``rocm_hip_api`` is; others in capitals."""
    word = category.upper().removeprefix("ROCM_")
    return _DOMAINS.get(word, word)


def kinds_of_calls(category: Int64, name: Int64, words: Words) -> Int64:
    """Codes of HOST_KINDS for calls whose category and name are codes of words."""
    texts, size = words.spelled, len(words)
    distinct, inverse = np.unique(category * size + name, return_inverse=True)
    pairs = ((texts[pair // size], texts[pair % size]) for pair in distinct.tolist())
    kinds = [HOST_KINDS.index(call_kind(domain_of(one), called)) for one, called in pairs]
    return np.asarray(np.array(kinds, np.int64)[inverse.reshape(-1)])
