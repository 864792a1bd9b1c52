"""``--no-cache``: whether what was read and found is kept for the next time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commscope.engine.cache_folder import store_in_use
from commscope.engine.cache_store import CacheStore

if TYPE_CHECKING:
    from commscope.engine.cache import ReadingCache

NO_CACHE = click.option(
    "--no-cache", is_flag=True,
    help="Read all files anew, and keep nothing of them for the next time.",
)  # fmt: skip


def chosen_store(*, no_cache: bool) -> CacheStore | None:
    """The user's cache; null where the option or the environment says so."""
    return None if no_cache else store_in_use()


def chosen_cache(*, no_cache: bool) -> ReadingCache:
    """What keeps readings, unless the option or the environment says otherwise."""
    from commscope.engine.cache import CachedReadings, NoCache  # noqa: PLC0415 - imports parsers

    store = chosen_store(no_cache=no_cache)
    return NoCache() if store is None else CachedReadings(store)
