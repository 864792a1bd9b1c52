"""The parser of readings that were saved."""

from __future__ import annotations

from collections.abc import Iterable

from commscope.parsers.base import Confidence, Match, Progress, Reading
from commscope.parsers.opening import Source
from commscope.parsers.saved.documents import (
    READING_SCHEMA,
    family_in,
    is_log_table,
    part_of,
)

_PARQUET = b"PAR1"
_LOGS = "the logs of a saved run"
_BESIDE = {"commscope.run": "the manifest of a saved run", "commscope.logs": _LOGS}


class SavedParser:
    """Reads what ``commscope bundle`` and ``commscope baseline save`` kept of traces."""

    name = "commscope"
    description = "runs that commscope saved"
    suffixes = (".reading.json", ".events.parquet", ".host.parquet", ".collectives.parquet")

    def match(self, head: bytes, source: Source) -> Match:
        """Judges documents by their schema, tables by their names."""
        family = family_in(head)
        if family == READING_SCHEMA.partition("/")[0]:
            return Match(Confidence.MARKER, f"is of the schema {family}")
        if family in _BESIDE:
            return Match(Confidence.MARKER, f"is of the schema {family}", unread=_BESIDE[family])
        if head.startswith(_PARQUET) and part_of(source.label) is not None:
            return Match(Confidence.STRUCTURE, "is a table named like one of a saved run")
        if head.startswith(_PARQUET) and is_log_table(source.label):
            reason = "is a table named like one of the logs of a saved run"
            return Match(Confidence.STRUCTURE, reason, unread=_LOGS)
        return Match(Confidence.NONE, "is of no saved run")

    def group(self, source: Source) -> str:
        """What the names of the files of one reading begin with."""
        part = part_of(source.label)
        return source.label if part is None else part[0]

    def read(self, source: Source, progress: Progress) -> Iterable[Reading]:
        """The one reading."""
        # What reads Parquet takes a while to import.
        from commscope.parsers.saved.reader import read_reading  # noqa: PLC0415

        yield read_reading(source, progress)
