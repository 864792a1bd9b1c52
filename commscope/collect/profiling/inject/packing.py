"""A trace on its way into its file: compressed, whole or not at all."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .telling import tell

Place = Callable[[Path, Path], object]
#: Of a text as repetitive as this, higher levels save little and take long.
_LEVEL = 3


def exported(profiler: Any) -> Path:
    """The trace as a file of the system's folder for such, which is local and quick.

    Raises OSError where the trace was not written whole: the profiler does not say so itself.
    """
    handle, name = tempfile.mkstemp(prefix="commscope-", suffix=".json")
    os.close(handle)
    path = Path(name)
    profiler.export_chrome_trace(name)
    if not _is_whole(path):
        path.unlink()
        raise OSError(f"the trace could not be written whole to {path.parent}")
    return path


def pack(plain: Path, target: Path, place: Place = os.replace) -> None:
    """Compresses the file into the target and removes it; ``place`` gives it its name.

    Raises OSError where the target cannot be written.
    """
    hidden = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with plain.open("rb") as source, gzip.open(hidden, "wb", _LEVEL) as file:
            shutil.copyfileobj(source, file, 1 << 20)
        place(hidden, target)
    except FileExistsError:
        tell(f"{target} is there already: the trace of another process of this rank was left out")
    except OSError as error:  # of a full disk nothing tells which
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        _remove(plain)
        _remove(hidden)


def trace_of(folder: Path, rank: int) -> Path:
    """Where the trace of a rank belongs."""
    return folder / f"rank{rank}.pt.trace.json.gz"


def beside_others(hidden: Path, target: Path) -> None:
    """Gives a file a name that no other has; raises FileExistsError where one has it."""
    try:
        os.link(hidden, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError(str(target)) from None
        os.replace(hidden, target)


def _is_whole(path: Path) -> bool:
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(size - 64, 0))
        return file.read().rstrip().endswith(b"}")


def _remove(path: Path) -> None:
    if path.exists():
        path.unlink()
