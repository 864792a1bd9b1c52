"""One line on stderr, and the promise that no failure of ours reaches the job."""

from __future__ import annotations

import functools
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself takes milliseconds to import
    from collections.abc import Callable
    from typing import Any

#: Names a file for all that the processes of a node tell; the wrapper reads it in the end.
TOLD = "COMMSCOPE_TOLD"
_SPEAKERS: set[int] = set()


def tell(text: str) -> None:
    """Writes one line for people; a closed stderr is no reason to fail.

    What fails mostly fails on every rank: of those of a node, the first that tells it is heard.
    """
    line = "".join(it if it.isprintable() else "?" for it in " ".join(text.split()))
    if not _is_heard(line):
        return
    try:
        sys.stderr.write(f"commscope: {line}\n")
    except (AttributeError, OSError, ValueError):
        return


def _is_heard(line: str) -> bool:
    """Notes the line, where that can be done; whether this process is the one that is heard."""
    path = os.environ.get(TOLD)
    if path is None:
        return True
    data = f"{line}\n".encode("utf-8", "replace")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, data)
            if os.lseek(descriptor, 0, os.SEEK_CUR) == len(data):
                _SPEAKERS.add(os.getpid())
        finally:
            os.close(descriptor)
    except OSError:
        return True
    return os.getpid() in _SPEAKERS


def shielded(action: Callable[..., Any], otherwise: Callable[[], object]) -> Callable[..., Any]:
    """The action; where it fails, a line is written, what is given is done, and None returned."""

    @functools.wraps(action)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return action(*arguments, **named)
        except Exception as error:  # noqa: BLE001 - whatever fails in here, the job goes on
            tell(f"profiling ends here, the job goes on ({_reason(error)})")
            otherwise()
        return None

    return run


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return f"{type(error).__name__}: {error}"
