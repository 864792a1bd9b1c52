"""Where the cache lies, and whether it is used."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_dir

from commscope.engine.cache_store import CacheStore

#: Names another folder than the system's for caches.
FOLDER_VARIABLE = "COMMSCOPE_CACHE_DIR"
#: Anything but nothing and 0: nothing is kept, and nothing that was kept is used.
OFF_VARIABLE = "COMMSCOPE_NO_CACHE"
#: Below the folder of the variable or of the system, so that all in it is ours.
_NAME = "kept"


def user_store() -> CacheStore:
    """The user's cache, used or not."""
    given = os.environ.get(FOLDER_VARIABLE)
    folder = given or user_cache_dir("commscope", appauthor=False)
    return CacheStore(Path(os.path.abspath(folder), _NAME))


def store_in_use() -> CacheStore | None:
    """The user's cache; null where the environment says so, or the user has no home."""
    is_off = os.environ.get(OFF_VARIABLE, "") not in ("", "0")
    return None if is_off or not _has_place() else user_store()


def _has_place() -> bool:
    return bool(os.environ.get(FOLDER_VARIABLE)) or os.path.isabs(
        user_cache_dir("commscope", appauthor=False)
    )
