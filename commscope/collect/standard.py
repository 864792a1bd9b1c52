"""Input, output and error of a wrapper that was started without some of them, as daemons do."""

from __future__ import annotations

import os

_STANDARD = (0, 1, 2)


def open_missing() -> tuple[int, ...]:
    """Opens /dev/null for those that are closed, lest other files get their numbers; which."""
    missing = tuple(number for number in _STANDARD if not _is_open(number))
    for number in missing:
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        os.set_inheritable(number, True)
    return missing


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
