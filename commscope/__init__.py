"""commscope: which communication was exposed, why, and what fixing it would win.

    import commscope

    trace = commscope.load("traces/")
    report = commscope.analyze(trace)
    print(report)
    report.steps.to_pandas()
"""

from __future__ import annotations

from commscope._version import __version__
from commscope.api import analyze, load
from commscope.errors import (
    AmbiguousFormat,
    CommscopeError,
    CorruptTrace,
    DataError,
    FormatError,
    NoDeviceEvents,
    RankConflict,
    SchemaError,
    UnknownFormat,
    UsageError,
)
from commscope.report.model import Report, ReportTable
from commscope.trace import Trace

__all__ = [
    "AmbiguousFormat",
    "CommscopeError",
    "CorruptTrace",
    "DataError",
    "FormatError",
    "NoDeviceEvents",
    "RankConflict",
    "Report",
    "ReportTable",
    "SchemaError",
    "Trace",
    "UnknownFormat",
    "UsageError",
    "__version__",
    "analyze",
    "load",
]
