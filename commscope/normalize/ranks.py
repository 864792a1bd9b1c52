"""Which rank each file is, and how that is known."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np

from commscope.columns import int64
from commscope.errors import UsageError
from commscope.normalize.parts import Part, Tables, constant_rank, distinct, take
from commscope.parsers.base import Reading
from commscope.schema import COLLECTIVES, EVENTS, HOST, conform
from commscope.trace import Note

_IN_NAME = re.compile(r"(?:^|[^a-z])rank[-_.]?(\d{1,6})(?!\d)", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,6}")


def split_ranks(
    readings: Sequence[Reading], given: Mapping[int, str]
) -> tuple[list[Part], list[Note]]:
    """Every file's activities by rank, and what had to be guessed.

    ``given`` maps ranks to file names. A merged file holds several ranks, and so does the file of
    a process that drives several devices.
    """
    chosen, notes = _choose_ranks(readings, given)
    parts = []
    for reading, (rank, source) in zip(readings, chosen):
        merged = distinct(reading.events, "rank") or distinct(reading.host, "rank")
        if merged:
            parts += [_merged_part(reading, r) for r in merged]
        else:
            parts += _device_parts(reading, rank, source, notes)
    return parts, notes


def _merged_part(reading: Reading, rank: int) -> Part:
    tables = Tables(reading.events, reading.host, reading.collectives)
    events = np.flatnonzero(int64(reading.events, "rank") == rank)
    host = np.flatnonzero(int64(reading.host, "rank") == rank)
    return _part(reading, rank, "metadata", take(tables, events, host))


def _device_parts(reading: Reading, rank: int, source: str, notes: list[Note]) -> list[Part]:
    """One part a device; several devices in one process are several ranks."""
    tables = Tables(reading.events, reading.host, reading.collectives)
    devices = distinct(reading.events, "device")
    if len(devices) < 2:
        return [_part(reading, rank, source, tables)]
    numbers = [rank * len(devices) + i for i in range(len(devices))]
    notes.append(
        Note(
            "ranks",
            f"{reading.input.file}: one process drives devices {_listed(devices)}; each is a rank "
            f"of its own here: {_listed(numbers)}",
        )
    )
    all_host = np.arange(reading.host.num_rows)
    device_of = int64(reading.events, "device")
    return [
        _part(reading, number, source, take(tables, np.flatnonzero(device_of == device), all_host))
        for number, device in zip(numbers, devices)
    ]


def _part(reading: Reading, rank: int, source: str, tables: Tables) -> Part:
    devices = distinct(tables.events, "device")
    ranked = Tables(
        conform(constant_rank(tables.events, rank), EVENTS, "events"),
        conform(constant_rank(tables.host, rank), HOST, "host"),
        conform(constant_rank(tables.collectives, rank), COLLECTIVES, "collectives"),
    )
    return Part(rank, source, devices[0] if devices else 0, reading, ranked)


def _choose_ranks(
    readings: Sequence[Reading], given: Mapping[int, str]
) -> tuple[list[tuple[int, str]], list[Note]]:
    by_file = _given_ranks([r.input.file for r in readings], given)
    found = [_known_rank(reading, by_file) for reading in readings]
    open_files = [r.input.file for r, known in zip(readings, found) if known is None]
    guessed = _varying_numbers(open_files)
    chosen, notes = [], []
    assumed = iter(_unused({known[0] for known in found if known}))
    for reading, known in zip(readings, found):
        file = reading.input.file
        if known is None:
            known = (guessed[file], "file") if file in guessed else (next(assumed), "assumed")
        chosen.append(known)
        notes += _guess_notes(reading, *known)
    return chosen, notes


def _known_rank(reading: Reading, given: Mapping[str, int]) -> tuple[int, str] | None:
    facts, file = reading.facts, reading.input.file
    candidates = (
        (given.get(file), "given"),
        (facts.rank, "metadata"),
        (facts.records_rank, "records"),
        (rank_in_name(file), "file"),
    )
    return next(((rank, source) for rank, source in candidates if rank is not None), None)


def _guess_notes(reading: Reading, rank: int, source: str) -> list[Note]:
    says = {
        "records": "from what most of its collectives say",
        "file": "from its name",
        "assumed": "assumed, nothing tells it (say it with --rank N=FILE)",
    }.get(source)
    if says is None or reading.events.column("rank").null_count < reading.events.num_rows:
        return []  # known, or a merged file, which has the rank of each row
    return [Note("ranks", f"{reading.input.file}: rank {rank} {says}")]


def _given_ranks(files: Sequence[str], given: Mapping[int, str]) -> dict[str, int]:
    """File -> rank of what the user said; raises UsageError for a file that is not there."""
    result = {}
    for rank, name in given.items():
        wanted = PurePosixPath(name).parts
        fits = [f for f in files if PurePosixPath(f).parts[-len(wanted) :] == wanted or f == name]
        fits = fits or [f for f in files if PurePosixPath(f).name == PurePosixPath(name).name]
        if len(fits) != 1:
            raise UsageError(
                f"--rank {rank}={name}: {len(fits)} of the files read have this name; "
                "name one of: " + ", ".join(files[:5])
            )
        result[fits[0]] = rank
    return result


def rank_in_name(file: str) -> int | None:
    """The rank a file's name or its folder's tells, the innermost first."""
    for part in reversed(PurePosixPath(file).parts):
        found = _IN_NAME.search(part)
        if found:
            return int(found[1])
    return None


def _varying_numbers(files: Sequence[str]) -> dict[str, int]:
    """Ranks of files whose names differ in exactly one number: trace_0.json, trace_1.json."""
    groups: dict[str, list[tuple[str, list[int]]]] = defaultdict(list)
    for file in files:
        groups[_NUMBER.sub("#", file)].append((file, [int(n) for n in _NUMBER.findall(file)]))
    result: dict[str, int] = {}
    for group in groups.values():
        columns = list(zip(*(numbers for _, numbers in group)))
        varying = [c for c in columns if len(set(c)) > 1]
        if len(varying) == 1 and len(set(varying[0])) == len(group):
            result |= {file: rank for (file, _), rank in zip(group, varying[0])}
    return result


def _unused(taken: set[int]) -> Iterable[int]:
    rank = 0
    while True:
        if rank not in taken:
            yield rank
        rank += 1


def _listed(values: Iterable[int]) -> str:
    return ", ".join(map(str, values))
