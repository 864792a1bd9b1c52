"""The parsers that come with commscope.

Others register through the entry-point group ``commscope.parsers``.
"""

from __future__ import annotations

from commscope.parsers.base import Parser
from commscope.parsers.kineto import KinetoParser
from commscope.parsers.omniperf import OmniperfParser
from commscope.parsers.pftrace import PftraceParser
from commscope.parsers.rocpd import RocpdParser
from commscope.parsers.rocprof_v1 import RocprofV1Parser
from commscope.parsers.rocprof_v2 import RocprofV2Parser
from commscope.parsers.rocprofv3_csv import RocprofV3CsvParser
from commscope.parsers.rocprofv3_json import RocprofV3JsonParser
from commscope.parsers.saved import SavedParser

PARSERS: tuple[Parser, ...] = (
    KinetoParser(),
    OmniperfParser(),
    PftraceParser(),
    RocpdParser(),
    RocprofV1Parser(),
    RocprofV2Parser(),
    RocprofV3CsvParser(),
    RocprofV3JsonParser(),
    SavedParser(),
)
