"""What the wrapper tells: one line a matter on standard error, and all of it in ``status.json``."""

from __future__ import annotations

import contextlib
import os

_STANDARD_ERROR = 2
_MOST_LETTERS = 2000


class Told:
    """Problems of a run, in the order in which they came up."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def tell(self, text: str) -> None:
        """Tells a problem at once."""
        self.problems.append(text)
        say(text)

    def tell_first(self, texts: list[str]) -> None:
        """Tells the first of some problems, which mostly are of one cause, and how many follow."""
        self.problems.extend(texts)
        if texts:
            more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
            say(f"{texts[0]}{more}")


def say(text: str) -> None:
    """Prints a line; where nobody reads it any more, it is lost."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text[:_MOST_LETTERS])
    with contextlib.suppress(OSError):
        os.write(_STANDARD_ERROR, f"commscope: {plain}\n".encode("utf-8", "replace"))


def reason(error: OSError) -> str:
    """What the system says, without the path."""
    return error.strerror or str(error)
