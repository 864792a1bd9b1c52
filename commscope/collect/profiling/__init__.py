"""Profiling a job without changing its code.

``prepare`` gives the variables that the launcher adds to the environment of the job; each Python
process of the job then reads them (``inject``) and records itself, or has rocprofv3 record it.
"""

from __future__ import annotations

from commscope.collect.profiling.options import (
    ProfileOptions,
    parse_ranks,
    parse_steps,
)
from commscope.collect.profiling.prepare import Prepared, missing_traces, prepare

__all__ = [
    "Prepared",
    "ProfileOptions",
    "missing_traces",
    "parse_ranks",
    "parse_steps",
    "prepare",
]
