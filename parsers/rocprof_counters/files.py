"""Which files with counters are of one run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from commscope.parsers.opening import Source

_PASS = re.compile(r"(?:pass|pmc)_\d{1,4}")
_ENDING = re.compile(
    r"_?(?:counter_collection|agent_info|results)?\.(?:csv|json|db)(?:\.(?:gz|bz2|xz|zst))?$"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file belongs: files of one folder are a profile, those of one pass a run of it."""

    folder: str  #: without the folders of passes
    run: str  #: the folder of its pass; empty where there are none
    stem: str  #: what files of one process begin with


def place_of(source: Source) -> Place:
    """The place of a file, by its folders and its name."""
    *folders, name = PurePosixPath(source.label).parts
    if not folders and source.path is not None and source.member is None:
        folders = [source.path.absolute().parent.name]
    kept = [folder for folder in folders if not _PASS.fullmatch(folder)]
    passes = [folder for folder in folders if _PASS.fullmatch(folder)]
    return Place("/".join(kept) or ".", "/".join(passes), _ENDING.sub("", name))
