"""Prints the lowest declared version of every dependency, as pip constraints.

    python tools/lowest.py [EXTRA ...] < pyproject.toml > constraints.txt

``pyproject.toml`` is the only list of versions: ``numpy>=1.23.5`` there is ``numpy==1.23.5`` here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)\s*>=\s*(?P<version>[\w.]+)[^;]*(?P<marker>;.*)?", re.ASCII
)


def pin(requirement: str) -> str:
    """The requirement held at its lower bound; ValueError where it declares none."""
    match = _REQUIREMENT.fullmatch(requirement.strip())
    if match is None:
        raise ValueError(f"{requirement!r} declares no lower bound: write it as name>=version")
    marker = match["marker"] or ""
    return f"{match['name']}=={match['version']}{marker}"


def pins(project: Mapping[str, Any], extras: Sequence[str]) -> Iterator[str]:
    """The pins of the project's own dependencies, then of the extras named."""
    yield from map(pin, project["dependencies"])
    for extra in extras:
        yield from map(pin, project["optional-dependencies"][extra])


if __name__ == "__main__":
    print(*pins(tomllib.load(sys.stdin.buffer)["project"], sys.argv[1:]), sep="\n")
