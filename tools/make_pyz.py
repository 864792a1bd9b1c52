"""Writes commscope/collect as one file that any Python from 3.9 runs, with nothing installed.

    python tools/make_pyz.py [FILE]

Equal sources give equal bytes: members are in order, uncompressed and of one time.
"""

from __future__ import annotations

import argparse
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "commscope" / "collect"
DEFAULT = ROOT / "dist" / "commscope-collect.pyz"

_BEGIN = b"#!/usr/bin/env python3\n"
_MAIN = b"import sys\n\nfrom commscope.collect.main import main\n\nsys.exit(main())\n"
_TIME = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644 << 16


def members() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each member, in order."""
    yield "__main__.py", _MAIN
    # The package's own file imports what only an installed commscope has.
    yield "commscope/__init__.py", b""
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT).as_posix(), path.read_bytes()


def write(target: Path) -> None:
    """Writes the file whole or not at all, executable."""
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with new.open("wb") as output:
            output.write(_BEGIN)
            with zipfile.ZipFile(output, "a") as archive:
                for name, data in members():
                    info = zipfile.ZipInfo(name, _TIME)
                    info.external_attr = _MODE
                    info.create_system = 3
                    archive.writestr(info, data)
        new.chmod(0o755)
        os.replace(new, target)
    finally:
        new.unlink(missing_ok=True)


def main() -> int:
    """Writes the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT)
    target: Path = parser.parse_args().file
    write(target)
    print(f"{target}: {target.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
