"""Which rank each file is, and how that is known."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import PurePosixPath

from commscope.errors import UsageError
from commscope.normalize.parts import Part, known_rank, world_size
from commscope.normalize.processes import Process, processes_of, split_devices
from commscope.parsers.base import Reading
from commscope.trace import Note

_IN_NAME = re.compile(r"(?:^|[^a-z])(?<!local[-_.])rank[-_.]?(\d{1,6})(?!\d)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Known:
    """A rank and how it is known: given, metadata, records, file or assumed."""

    rank: int
    source: str


def split_ranks(
    readings: Sequence[Reading], given: Mapping[int, str]
) -> tuple[list[Part], list[Note]]:
    """Every file's activities by rank, and what had to be guessed.

    ``given`` maps ranks to file names. A merged file holds several ranks, and so does the file of
    a process that drives several devices.
    """
    processes, notes = [], []
    for reading in readings:
        found, found_notes = processes_of(reading)
        processes += found
        notes += found_notes
    known = _choose_ranks(processes, given)
    # What is left out for want of activities needs no word on its rank.
    notes += [n for p, k in zip(processes, known) if p.is_active for n in _guess_notes(p, k)]
    free = _free_ranks(processes, known)
    parts = []
    for process, rank in zip(processes, known):
        found_parts, found_notes = split_devices(process, rank.rank, rank.source, free)
        parts += found_parts
        notes += found_notes
    return parts, notes


def _choose_ranks(processes: Sequence[Process], given: Mapping[int, str]) -> list[_Known]:
    by_file = _given_ranks(processes, given)
    found = [_known_rank(process, by_file) for process in processes]
    guessed = varying_numbers([p.file for p, known in zip(processes, found) if known is None])
    taken = {known.rank for known in found if known} | set(guessed.values())
    assumed = _unused(taken, 0)
    # Launchers and loaders of data are processes too: they must take no rank of the others.
    order = sorted(range(len(processes)), key=lambda index: not processes[index].is_active)
    chosen = {i: found[i] or _guess(processes[i], guessed, assumed) for i in order}
    return [chosen[index] for index in range(len(processes))]


def _guess(process: Process, guessed: Mapping[str, int], assumed: Iterator[int]) -> _Known:
    if process.file in guessed:
        return _Known(guessed[process.file], "file")
    return _Known(next(assumed), "assumed")


def _known_rank(process: Process, given: Mapping[str, int]) -> _Known | None:
    facts, file = process.reading.facts, process.file
    candidates = (
        (given.get(file), "given"),
        (process.rank, "metadata"),
        (known_rank(facts.rank), "metadata"),
        (known_rank(facts.records_rank), "records"),
        (rank_in_name(file), "file"),
    )
    return next((_Known(rank, source) for rank, source in candidates if rank is not None), None)


def _guess_notes(process: Process, known: _Known) -> list[Note]:
    says = {
        "records": "from what most of its collectives say",
        "file": "from its name",
        "assumed": "assumed, nothing tells it (say it with --rank N=FILE)",
    }.get(known.source)
    return [Note("ranks", f"{process.file}: rank {known.rank} {says}")] if says else []


def _given_ranks(processes: Sequence[Process], given: Mapping[int, str]) -> dict[str, int]:
    """File -> rank of what the user said; raises UsageError where it names not one process."""
    files = [process.file for process in processes]
    result: dict[str, int] = {}
    for rank, name in given.items():
        option, fits = f"--rank {rank}={name}", _files_named(name, set(files))
        if len(fits) != 1:
            raise UsageError(
                f"{option}: {len(fits)} of the files read have this name; "
                "name one of: " + ", ".join(sorted(set(files))[:5])
            )
        if files.count(fits[0]) > 1:
            raise UsageError(f"{option}: {fits[0]} holds several ranks and names them itself")
        if fits[0] in result:
            raise UsageError(f"{option}: {fits[0]} is already given as rank {result[fits[0]]}")
        result[fits[0]] = rank
    return result


def _files_named(name: str, files: Iterable[str]) -> list[str]:
    """The files whose path ends as the name does, else those whose last part is the same."""
    wanted = PurePosixPath(name).parts
    ending = [f for f in files if f == name or PurePosixPath(f).parts[-len(wanted) :] == wanted]
    return ending or [f for f in files if PurePosixPath(f).name == PurePosixPath(name).name]


def rank_in_name(file: str) -> int | None:
    """The rank that a file's name tells, or that of one of its folders, the innermost first."""
    for part in reversed(PurePosixPath(file).parts):
        found = _IN_NAME.search(part)
        if found:
            return int(found[1])
    return None


def varying_numbers(files: Sequence[str]) -> dict[str, int]:
    """Ranks of files whose names differ in one number, which counts from 0: worker0, worker1.

    Numbers that do not are something else: a process, a time, a step of the training.
    """
    groups: dict[str, list[tuple[str, list[int]]]] = defaultdict(list)
    for file in files:
        groups[_NUMBER.sub("#", file)].append((file, [int(n) for n in _NUMBER.findall(file)]))
    result: dict[str, int] = {}
    for group in groups.values():
        columns = list(zip(*(numbers for _, numbers in group)))
        varying = [c for c in columns if len(set(c)) > 1]
        if len(varying) == 1 and sorted(varying[0]) == list(range(len(group))):
            result |= {file: rank for (file, _), rank in zip(group, varying[0])}
    return result


def _free_ranks(processes: Sequence[Process], known: Sequence[_Known]) -> Iterator[int]:
    """Ranks that the job does not have, whether their files are here or not."""
    world = max((world_size(p.reading.facts) or 0 for p in processes), default=0)
    return _unused({k.rank for k in known}, world)


def _unused(taken: set[int], first: int) -> Iterator[int]:
    return (rank for rank in count(first) if rank not in taken)
