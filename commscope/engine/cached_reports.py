"""Reports, kept for the next time the same is asked of the same files."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points

from commscope.engine.cache_frame import framed, unframed
from commscope.engine.cache_key import CacheKey, code, stamps_of
from commscope.engine.cache_store import LEAST_BYTES, CacheStore
from commscope.errors import FormatError, UsageError
from commscope.parsers.sources import find_files

_MADE_BY = "report"
#: What these add may change without a trace.
_PLUG_INS = ("commscope.parsers", "commscope.rules")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """All that a report rests on: files, folders and patterns, and what is asked of them."""

    paths: Sequence[str | os.PathLike[str]]
    options: Mapping[str, object]  #: as JSON, or as text where that cannot hold them

    def key(self, least_bytes: int) -> CacheKey | None:
        """Its key as the files are now; null where the report is not to be kept.

        That is so for standard input and pipes, for less than ``least_bytes``, for files that
        cannot be found, and with plug-ins.
        """
        if any(entry_points(group=group) for group in _PLUG_INS):
            return None
        try:
            found = find_files(self.paths)
            stamps = stamps_of(found.sources, least_bytes)
        except (UsageError, FormatError, OSError) as error:
            _log.debug("not looked up in the cache: %s", error)
            return None
        asked = json.dumps([self.options, found.notes], sort_keys=True, default=str)
        return None if stamps is None else CacheKey(_MADE_BY, code(), stamps, asked)


@dataclass(frozen=True, slots=True)
class CachedReports:
    """Reports, as bytes, in a store; nothing here ever fails."""

    store: CacheStore
    least_bytes: int = LEAST_BYTES

    def get(self, key: CacheKey) -> bytes | None:
        """What is kept under the key; null where nothing is."""
        return self.store.find(key, _body)

    def put(self, key: CacheKey, report: bytes, question: Question) -> None:
        """Keeps a report, if no file of the question changed since its key was made."""
        if question.key(self.least_bytes) == key:
            self.store.keep(key, framed(key, None, [report]))


def _body(data: bytes, key: CacheKey) -> bytes | None:
    found = unframed(data, key)
    return None if found is None else bytes(found[1])
