"""What an activity is, told from its name: class, kernel family, collective operation.

Everything here works on the dictionary of distinct names, never on the rows of a table. The
classes are those of the definitions: communication, compute and copy.
"""

from __future__ import annotations

from commscope.classify.classifier import CLASS_FAMILIES, classes_of, families_of
from commscope.classify.collective import canonical_op, dtype_bytes, op_from_name
from commscope.classify.families import FAMILIES
from commscope.classify.user import (
    NO_PATTERNS,
    ActivityClass,
    Expression,
    FoundNames,
    Patterns,
)

__all__ = [
    "CLASS_FAMILIES",
    "FAMILIES",
    "NO_PATTERNS",
    "ActivityClass",
    "Expression",
    "FoundNames",
    "Patterns",
    "canonical_op",
    "classes_of",
    "dtype_bytes",
    "families_of",
    "op_from_name",
]
