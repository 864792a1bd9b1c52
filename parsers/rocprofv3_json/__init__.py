"""The JSON of rocprofv3, ``<pid>_results.json``: one document, with one or more processes.

The document becomes readings in steps, each a module that knows only the ones before:

    ``sections``: pieces of text -> ``records``: records -> ``gathering``: columns with ids ->
    ``process``: names and devices -> ``reader``: one Reading a process
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from commscope.parsers.base import Confidence, Match, Progress, Reading
from commscope.parsers.opening import Source
from commscope.parsers.rocprofv3_json.reader import FORMAT, read_results

_MARKER = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"rocprofiler-sdk-tool"\s*:')


class RocprofV3JsonParser:
    """Reads what ``rocprofv3 --output-format json`` writes."""

    name = FORMAT
    description = "rocprofv3 JSON"
    suffixes = ("_results.json",)

    def match(self, head: bytes, source: Source) -> Match:
        """Judges by the first key of the document."""
        if _MARKER.match(head):
            return Match(Confidence.MARKER, "is a document of rocprofiler-sdk-tool")
        if source.label.removesuffix(".gz").endswith(self.suffixes):
            return Match(Confidence.NAME, "is named like the JSON of rocprofv3")
        return Match(Confidence.NONE, "is no document of rocprofiler-sdk-tool")

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        """One reading a process."""
        return read_results(source, progress)
