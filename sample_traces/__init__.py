"""Small real traces of our own, with known answers: see README.md in this folder."""

from __future__ import annotations

from pathlib import Path

from commscope.errors import UsageError

_FOLDER = Path(__file__).resolve().parent


def names() -> tuple[str, ...]:
    """The names of all sample traces."""
    return tuple(sorted(entry.parent.name for entry in _FOLDER.glob("*/rank0.json.gz")))


def path(name: str) -> Path:
    """The folder of a sample trace; raises UsageError where there is none of that name."""
    if name not in names():
        raise UsageError(f"no sample trace {name}; there are {', '.join(names())}")
    return _FOLDER / name
