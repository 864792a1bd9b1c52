"""What was read of a source, kept for the next time."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from commscope.engine.cache_entry import decode, encode
from commscope.engine.cache_key import key_of
from commscope.engine.cache_store import LEAST_BYTES, CacheStore
from commscope.parsers.base import Parser, Reading
from commscope.parsers.opening import Source

_log = logging.getLogger(__name__)


class ReadingCache(Protocol):
    """Where readings are kept, or not."""

    def get(self, source: Source, parser: Parser) -> list[Reading] | None:
        """What the parser read of the source as it is now; null where that is not kept."""
        ...

    def put(self, source: Source, parser: Parser, readings: Sequence[Reading]) -> None:
        """Keeps what the parser read of the source."""
        ...


class NoCache:
    """Keeps nothing."""

    def get(self, source: Source, parser: Parser) -> None:
        """Nothing."""

    def put(self, source: Source, parser: Parser, readings: Sequence[Reading]) -> None:
        """Nothing is kept."""


@dataclass(frozen=True, slots=True)
class CachedReadings:
    """Readings in a store; nothing here ever fails."""

    store: CacheStore
    least_bytes: int = LEAST_BYTES

    def get(self, source: Source, parser: Parser) -> list[Reading] | None:
        """What the parser read of the source as it is now; null where that is not kept."""
        try:
            key = key_of(source, parser, self.least_bytes)
        except OSError as error:
            _log.debug("%s: not looked up in the cache: %s", source.label, error)
            return None
        return None if key is None else self.store.find(key, decode)

    def put(self, source: Source, parser: Parser, readings: Sequence[Reading]) -> None:
        """Keeps what the parser read of the source, if it did not change meanwhile."""
        try:
            key = key_of(source, parser, self.least_bytes)
            if key is not None:
                self.store.keep(key, encode(key, readings))
        except (OSError, ValueError) as error:
            _log.debug("%s: not kept in the cache: %s", source.label, error)
