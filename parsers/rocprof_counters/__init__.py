"""Hardware counters that rocprofv3 itself collects, in any of the formats that it writes.

    csv, JSON or rocpd -> Collected: values of dispatches -> Profile: means of each kernel

While counters are read, kernels run one at a time: the files are no timeline. What needs more
counters than fit into one run is spread over runs, each in a folder of its own (``pass_1``).
"""

from __future__ import annotations

from commscope.parsers.rocprof_counters.collected import Collected, counted
from commscope.parsers.rocprof_counters.database import read_database
from commscope.parsers.rocprof_counters.document import read_document
from commscope.parsers.rocprof_counters.files import Place, place_of
from commscope.parsers.rocprof_counters.profile import profile_of
from commscope.parsers.rocprof_counters.table import read_table
from commscope.parsers.rocprof_forms import Form, form_of

__all__ = [
    "Collected",
    "Form",
    "Place",
    "counted",
    "form_of",
    "place_of",
    "profile_of",
    "read_database",
    "read_document",
    "read_table",
]
