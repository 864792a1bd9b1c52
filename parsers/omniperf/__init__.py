"""Profiles of hardware counters by omniperf or rocprof-compute: folders and databases.

They are no traces: kernels ran one at a time, once for each group of counters. What is read are
means of each kernel's dispatches; begins and ends serve as lengths only.
"""

from __future__ import annotations

from commscope.parsers.omniperf.database import looks_like_database, read_database
from commscope.parsers.omniperf.folder import Part, read_folder
from commscope.parsers.omniperf.kinds import Kind, kind_of, tells_queues
from commscope.parsers.omniperf.parser import OmniperfParser
from commscope.parsers.omniperf.profile import Counted, Peak, Profile

__all__ = [
    "Counted",
    "Kind",
    "OmniperfParser",
    "Part",
    "Peak",
    "Profile",
    "kind_of",
    "looks_like_database",
    "read_database",
    "read_folder",
    "tells_queues",
]
