"""``--no-cache``: whether what was read of large files is kept for the next time."""

from __future__ import annotations

import click

from commscope.engine.cache import NoCache, ReadingCache
from commscope.engine.cache_folder import user_cache

NO_CACHE = click.option(
    "--no-cache", is_flag=True,
    help="Read all files anew, and keep nothing of them for the next time.",
)  # fmt: skip


def chosen_cache(*, no_cache: bool) -> ReadingCache:
    """The user's cache, unless the option or the environment says otherwise."""
    return NoCache() if no_cache else user_cache()
