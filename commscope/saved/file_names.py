"""New names of files, which tell the rank that the old ones told and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
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


def file_meant(name: str, files: Sequence[str]) -> str | None:
    """The file that the user meant by the end of its name; null where it is none of them."""
    wanted = PurePosixPath(name)
    ends = [file for file in files if f"/{file}".endswith(f"/{name}")]
    ends += [file for file in files if PurePosixPath(file).name == wanted.name]
    return ends[0] if ends else None


def _kind(file: str) -> str:
    return _NUMBER.sub("#", file)
