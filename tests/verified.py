"""The verified figures of the real cases (``facts/*.json``) and the files they are about.

Times in facts are integer nanoseconds; text is a figure as it was printed, to its last digit.
``definition`` says by which of ``definitions.py`` a figure was made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import reference
from definitions import DEFINITIONS, Figures
from reference import Partition, Recording, Step
from support import case

#: What two correct calculations may differ by: figures were printed to 0.1 us, some by floats.
TOLERANCE_NS = 1000

_FOLDER = Path(__file__).resolve().parent / "facts"

Facts = dict[str, Any]


def _load() -> dict[str, Facts]:
    found: dict[str, Facts] = {}
    for file in sorted(_FOLDER.glob("*.json")):
        found |= json.loads(file.read_text(encoding="utf-8"))
    return found


#: Path below the cases -> what is known of the file.
FACTS = _load()


@cache
def read(path: str) -> reference.File:
    """The file as the reference reads it, once in a session."""
    return reference.read(case(path))


def only(path: str) -> reference.Recording:
    """The recording of a file that holds one rank."""
    (recording,) = read(path).recordings
    return recording


@cache
def whole(recording: Recording) -> Partition:
    """Its partition by the reference."""
    return reference.whole(recording)


@cache
def steps(recording: Recording) -> tuple[Step, ...]:
    """Its steps by the reference."""
    return tuple(reference.steps(recording))


@cache
def figures(definition: str, recording: Recording) -> Figures:
    """Its figures by one of the definitions."""
    return DEFINITIONS[definition](recording)


def having(key: str) -> list[str]:
    """The files of which the facts know this."""
    return [path for path, facts in FACTS.items() if facts.get(key)]


def figures_of(entry: Mapping[str, Any]) -> dict[str, int | str]:
    """The figures of an entry of facts, without what they belong to."""
    return {name: value for name, value in entry.items() if name not in ("definition", "step")}


def agrees(found: Figures, name: str, verified: int | str) -> bool:
    """Whether what was found is the verified figure, to its last digit or the tolerance."""
    if name == "overlap_percent":
        return abs(overlap_percent(found) - float(verified)) <= half_a_digit(str(verified)) * 1.01
    return abs(found[name] - int(verified)) <= TOLERANCE_NS


def overlap_percent(found: Figures) -> float:
    """The share of communication that is hidden."""
    return 100 * found["hidden_comm_ns"] / found["communication_ns"]


def half_a_digit(printed: str) -> float:
    """How far a value may lie from the text it was rounded to."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])
