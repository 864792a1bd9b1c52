"""New names of files, which tell the rank that the old ones told and nothing else."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from commscope.normalize.ranks import rank_in_name, varying_numbers
from commscope.saved.names import in_letters, letters_for

_NUMBER = re.compile(r"\d+")


def new_file_names(traces: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    """Old name -> new name, of traces and of what lies beside them.

    Digits stand for ranks only, where names are read for them; so files that are told apart by a
    number that counts from 0 keep it.
    """
    files = list(dict.fromkeys((*traces, *others)))
    width = letters_for(len(files))
    letters = {file: in_letters(place, width) for place, file in enumerate(files)}
    counted = varying_numbers([file for file in traces if rank_in_name(file) is None])
    group = {_kind(file): letters[file] for file in reversed(files)}
    new = {}
    for file in files:
        rank = rank_in_name(file)
        if rank is not None:
            new[file] = f"file-{letters[file]}-rank{rank}"
        elif file in counted:
            new[file] = f"part-{group[_kind(file)]}-{counted[file]}"
        else:
            new[file] = f"file-{letters[file]}"
    return new


def files_meant(given: Mapping[int, str], files: Sequence[str]) -> dict[int, str]:
    """By rank the file that the user meant by the end of its name; none where it is not there."""
    called: dict[str, list[str]] = defaultdict(list)
    for file in files:
        called[PurePosixPath(file).name].append(file)
    meant = {}
    for rank, end in given.items():
        same = called.get(PurePosixPath(end).name, [])
        found = next((file for file in same if f"/{file}".endswith(f"/{end}")), None)
        if same:
            meant[rank] = found or same[0]
    return meant


def _kind(file: str) -> str:
    return _NUMBER.sub("#", file)
