"""Makes way for a profiler that the job itself starts: two at once are an error in torch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

#: Private to torch, stable since 1.9; where one is missing, it is not watched.
_BEGINNINGS = ("_prepare_trace", "_start_trace")


class Foreign:
    """While it lives, a profiler other than ours that begins has ours end first."""

    def __init__(self, profilers: Any, ours: Any, make_way: Callable[[], object]) -> None:
        self._profilers, self._ours, self._make_way = profilers, ours, make_way
        self._originals = {
            name: getattr(profilers, name) for name in _BEGINNINGS if hasattr(profilers, name)
        }
        for name, original in self._originals.items():
            setattr(profilers, name, self._watched(original))

    def end(self) -> None:
        """Everything is again as it was."""
        for name, original in self._originals.items():
            setattr(self._profilers, name, original)

    def _watched(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def begin(profiler: Any, *arguments: Any, **named: Any) -> Any:
            if profiler is not self._ours:
                self._make_way()
            return original(profiler, *arguments, **named)

        return begin
