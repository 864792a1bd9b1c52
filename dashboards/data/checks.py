"""What callers ask for, checked: the routes answer with the sentence."""

from __future__ import annotations

from commscope.errors import UsageError


def require(holds: bool, says: str) -> None:
    """Raises UsageError with the sentence where this does not hold."""
    if not holds:
        raise UsageError(says)
