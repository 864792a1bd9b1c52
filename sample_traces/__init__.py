"""Small real traces of our own, with known answers, and the simulated runs of the tutorial.

See README.md in this folder.
"""

from __future__ import annotations

from pathlib import Path

from commscope.errors import UsageError

_FOLDER = Path(__file__).resolve().parent
#: The folder of the runs of docs/tutorial.md: they are simulated, so that ``names`` lacks them.
TUTORIAL = _FOLDER / "tutorial"
#: The folder of generated jobs on one GPU, with what they measured of themselves.
GENERATED = _FOLDER / "generated"


def names() -> tuple[str, ...]:
    """The names of all sample traces."""
    return tuple(sorted(entry.parent.name for entry in _FOLDER.glob("*/rank0.json.gz")))


def path(name: str) -> Path:
    """The folder of a sample trace; raises UsageError where there is none of that name."""
    if name not in names():
        raise UsageError(f"no sample trace {name}; there are {', '.join(names())}")
    return _FOLDER / name
