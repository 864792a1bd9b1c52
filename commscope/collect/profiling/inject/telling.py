"""One line on stderr, and the promise that no failure of ours reaches the job."""

from __future__ import annotations

import functools
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself takes milliseconds to import
    from collections.abc import Callable
    from typing import Any


def tell(text: str) -> None:
    """Writes one line for people; a closed stderr is no reason to fail."""
    try:
        sys.stderr.write(f"commscope: {' '.join(text.split())}\n")
    except (AttributeError, OSError, ValueError):
        return


def shielded(action: Callable[..., Any], otherwise: Callable[[], object]) -> Callable[..., Any]:
    """The action; where it fails, a line is written, what is given is done, and None returned."""

    @functools.wraps(action)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return action(*arguments, **named)
        except Exception as error:  # noqa: BLE001 - whatever fails in here, the job goes on
            tell(f"profiling ends here, the job goes on ({type(error).__name__}: {error})")
            otherwise()
        return None

    return run
