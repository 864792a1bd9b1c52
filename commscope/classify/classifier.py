"""Class and family of every distinct name, in the order given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from commscope.classify import kernel_name
from commscope.classify.communication import is_communication, is_copy
from commscope.classify.families import COMMUNICATION, COPY, compute_family
from commscope.classify.user import NO_PATTERNS, ActivityClass, Patterns

#: The family of all activities of a class; compute has many.
CLASS_FAMILIES = {ActivityClass.COMMUNICATION: COMMUNICATION, ActivityClass.COPY: COPY}


def classes_of(names: Sequence[str], patterns: Patterns = NO_PATTERNS) -> npt.NDArray[np.uint8]:
    """The class of each name: an ``ActivityClass`` as uint8."""
    return np.fromiter((_class_of(n, patterns) for n in names), np.uint8, count=len(names))


def families_of(names: Sequence[str], patterns: Patterns = NO_PATTERNS) -> tuple[str, ...]:
    """The family of each name as that of a compute kernel: one of ``COMPUTE_FAMILIES``."""
    return tuple(_family_of(name, patterns) for name in names)


def _class_of(name: str, patterns: Patterns) -> ActivityClass:
    given = patterns.activity_class(name[: kernel_name.EXAMINED])
    if given is not None:
        return given
    if is_copy(name):
        return ActivityClass.COPY
    if is_communication(kernel_name.split(name).head):
        return ActivityClass.COMMUNICATION
    return ActivityClass.COMPUTE


def _family_of(name: str, patterns: Patterns) -> str:
    given = patterns.family(name[: kernel_name.EXAMINED])
    return given or compute_family(kernel_name.split(name))
