"""commscope: which communication was exposed, why, and what fixing it would win.

import commscope

trace = commscope.load("traces/")
report = commscope.analyze(trace)
print(report)
report.steps.to_pandas()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from commscope._version import __version__
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

if TYPE_CHECKING:
    import commscope.sample_traces as sample_traces  # noqa: PLR0402 - mypy does not see the other form
    from commscope.api import analyze, load
    from commscope.classify import Patterns
    from commscope.report.model import Report, ReportTable
    from commscope.trace import Trace
else:
    # Arrow and NumPy take most of the time of a start: they are imported by who needs them.
    _MODULES = {
        "analyze": "commscope.api",
        "load": "commscope.api",
        "Patterns": "commscope.classify",
        "Report": "commscope.report.model",
        "ReportTable": "commscope.report.model",
        "Trace": "commscope.trace",
    }

    def __getattr__(name):
        if name == "sample_traces":
            return import_module("commscope.sample_traces")
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "AmbiguousFormat",
    "CommscopeError",
    "CorruptTrace",
    "DataError",
    "FormatError",
    "NoDeviceEvents",
    "Patterns",
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
    "sample_traces",
]
