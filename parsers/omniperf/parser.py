"""Tells files of a profile from traces, so that none is taken for one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from commscope.errors import CorruptTrace
from commscope.parsers.base import Confidence, Match, Progress, Reading
from commscope.parsers.counter_names import counters_in
from commscope.parsers.omniperf.database import looks_like_database
from commscope.parsers.omniperf.kinds import Kind, kind_of
from commscope.parsers.opening import Source
from commscope.parsers.whole_csv import header

_NAME = "omniperf"
_WAY = "see commscope omniperf"
#: rocprof writes the same columns as what it collects for omniperf. Of its own it can count only
#: so much in one run.
_MOST_OF_ONE_RUN = 50
_FILE_NAME = re.compile(r"(?:pmc_perf\w*|timestamps|SQC?_[A-Z_]+)\.csv(?:\.\w+)?")


class OmniperfParser:
    """Recognises profiles of counters, which are no traces: it reads none."""

    name = _NAME
    description = f"profiles of omniperf and rocprof-compute ({_WAY})"
    suffixes: tuple[str, ...] = ()

    def match(self, head: bytes, source: Source) -> Match:
        """Judges by names of columns or tables, and by the file's where rocprof has these too."""
        if looks_like_database(head):
            return _matched("the tables of rocprof-compute", "a profile of counters")
        kind = kind_of(head)
        if kind is None or (kind in (Kind.COUNTERS, Kind.TIMES) and not _is_own(head, source)):
            return Match(Confidence.NONE, "is of no profile of counters")
        return _matched(f"what omniperf writes of {kind.what}", f"{kind.what} of a profile")

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:  # noqa: ARG002
        """Raises CorruptTrace: kernels of a profile ran one at a time, so it has no timeline."""
        raise CorruptTrace(f"{source.label}: is a profile of counters, no trace; {_WAY}")


def _is_own(head: bytes, source: Source) -> bool:
    file = source.label.rpartition("/")[2]
    merged = len(counters_in(header(head))) > _MOST_OF_ONE_RUN
    return merged or _FILE_NAME.fullmatch(file) is not None


def _matched(has: str, what: str) -> Match:
    return Match(Confidence.MARKER, f"has {has}", unread=f"{what}, no trace; {_WAY}")
