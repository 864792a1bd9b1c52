"""The words of a command: its program, its name, and none of its secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

#: Words that may stand before the program: each runs what follows it.
_BEFORE = frozenset(("env", "nice", "ionice", "numactl", "time", "stdbuf", "taskset", "timeout"))
_NUMBER = re.compile("[0-9]+")
_MOST_NAME = 60
_SECRET = re.compile(
    r"token(?!iz|s\b)|secret|passw|passphrase|credential|private|(?:api|access|auth)[_-]?key",
    re.IGNORECASE,
)
_HIDDEN = "***"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._+-]+")


def program(command: Sequence[str]) -> str | None:
    """The word that names the program, behind such as ``env A=1`` and ``numactl -N 0``."""
    for word in command:
        is_option = word.startswith("-") or "=" in word or _NUMBER.fullmatch(word)
        if not is_option and os.path.basename(word) not in _BEFORE:
            return word
    return None


def safe_name(text: str) -> str:
    """A text as part of a file's name; never empty nor hidden."""
    return _NOT_IN_A_NAME.sub("-", text).strip("-.")[:_MOST_NAME] or "job"


def without_secrets(command: Sequence[str]) -> list[str]:
    """The words of a command, but for the values of options and variables named like a secret."""
    shown: list[str] = []
    hides_next = False
    for word in command:
        name, equals, _ = word.partition("=")
        is_named = len(name) < _MOST_NAME and bool(_SECRET.search(name))
        shown.append(_HIDDEN if hides_next else word)
        hides_next = is_named and not equals and name.startswith("-") and not hides_next
        if is_named and equals:
            shown[-1] = f"{name}={_HIDDEN}"
    return shown


def name_of(command: Sequence[str], program: str | None) -> str:
    """What a run is called by: its script, or its module, else its program."""
    words = list(command)
    script = next((word for word in words if word.endswith(".py")), None)
    if script is not None:
        return safe_name(os.path.basename(script)[: -len(".py")])
    if "-m" in words[:-1]:
        return safe_name(words[words.index("-m") + 1])
    return safe_name(os.path.basename(program or words[0]))
