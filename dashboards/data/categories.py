"""Kinds of bars on the timeline: each has a number on the wire, a name for colours, and a label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from commscope.analysis.gaps import PARTS
from commscope.classify import FAMILIES

_CLASSES = ("communication", "copy")
COMPUTE_FAMILIES = tuple(family for family in FAMILIES if family not in _CLASSES)


@dataclass(frozen=True, slots=True)
class Category:
    """What a bar is; the number is stable within a version of the wire."""

    id: int
    name: str
    label: str


def _named() -> tuple[tuple[str, str], ...]:
    return (
        ("step", "step"),
        *((family, family) for family in COMPUTE_FAMILIES),
        ("communication", "communication"),
        *((f"exposed_{part}", f"exposed: {part}") for part in PARTS),
        ("copy", "copy"),
        ("host_launch", "host: launch"),
        ("host_sync", "host: synchronise"),
        ("host_annotation", "host: annotation"),
        ("host_other", "host: other call"),
        # Only of the minimap, which shows a mean over all ranks.
        ("compute", "compute, mean of the ranks"),
    )


CATEGORIES = tuple(Category(number, *words) for number, words in enumerate(_named()))
_NUMBERS = {category.name: category.id for category in CATEGORIES}
_HOST_WORDS = {"launch": "host_launch", "sync": "host_sync", "annotation": "host_annotation"}


def number_of(name: str) -> int:
    """The number of a category."""
    return _NUMBERS[name]


STEP, COMMUNICATION, COPY = (number_of(name) for name in ("step", "communication", "copy"))
COMPUTE = number_of("compute")
#: Of the parts of exposed communication, in the order of ``analysis.gaps.PARTS``.
EXPOSED_PARTS = tuple(number_of(f"exposed_{part}") for part in PARTS)


def of_families(families: tuple[str, ...]) -> npt.NDArray[np.uint8]:
    """The category of each family of compute kernels; of other classes that of ``other``."""
    other = number_of("other")
    found = (_NUMBERS[f] if f in COMPUTE_FAMILIES else other for f in families)
    return np.fromiter(found, np.uint8, count=len(families))


def of_host_kinds(kinds: list[str]) -> npt.NDArray[np.uint8]:
    """The category of each kind of row of HOST."""
    found = (number_of(_HOST_WORDS.get(kind, "host_other")) for kind in kinds)
    return np.fromiter(found, np.uint8, count=len(kinds))
