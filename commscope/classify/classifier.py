"""Class and family of every distinct name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from commscope.classify import kernel_name
from commscope.classify.communication import is_communication, is_copy
from commscope.classify.families import COMMUNICATION, COPY, compute_family
from commscope.classify.user import NO_PATTERNS, ActivityClass, Patterns


def classify_names(
    names: Sequence[str], patterns: Patterns = NO_PATTERNS
) -> tuple[npt.NDArray[np.uint8], tuple[str, ...]]:
    """Class (an ``ActivityClass`` as uint8) and family of each name, in the order given.

    The family is ``communication`` or ``copy`` for these classes, else one of ``FAMILIES``.
    """
    classes = np.fromiter((_class_of(n, patterns) for n in names), np.uint8, count=len(names))
    families = tuple(
        _family_of(name, ActivityClass(of), patterns)
        for name, of in zip(names, classes.tolist(), strict=True)
    )
    return classes, families


def _class_of(name: str, patterns: Patterns) -> ActivityClass:
    given = patterns.activity_class(name[: kernel_name.EXAMINED])
    if given is not None:
        return given
    if is_copy(name):
        return ActivityClass.COPY
    if is_communication(kernel_name.split(name).head):
        return ActivityClass.COMMUNICATION
    return ActivityClass.COMPUTE


def _family_of(name: str, of: ActivityClass, patterns: Patterns) -> str:
    if of is ActivityClass.COMMUNICATION:
        return COMMUNICATION
    if of is ActivityClass.COPY:
        return COPY
    given = patterns.family(name[: kernel_name.EXAMINED])
    return given or compute_family(kernel_name.split(name))
