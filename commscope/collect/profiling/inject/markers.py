"""Steps told by ranges of the job: each range whose name matches begins one."""

from __future__ import annotations

import functools
import re
from types import ModuleType
from typing import Any

from .session import Session


class MarkerSteps:
    """Watches ``record_function`` and the ranges of nvtx, which are roctx on ROCm."""

    def __init__(self, session: Session, marker: re.Pattern[str]) -> None:
        self._session, self._marker = session, marker
        self._step = 0
        self._is_inside = False

    def watch_ranges(self, module: ModuleType) -> None:
        """For ``torch.autograd.profiler``."""
        ranges: Any = module.record_function
        original = ranges.__enter__

        @functools.wraps(original)
        def enter(range_: Any) -> Any:
            self._see(range_.name)
            return original(range_)

        ranges.__enter__ = enter

    def watch_nvtx(self, module: Any) -> None:
        """For ``torch.cuda.nvtx``."""
        original = module.range_push

        @functools.wraps(original)
        def push(message: Any, *arguments: Any, **named: Any) -> Any:
            self._see(message)
            return original(message, *arguments, **named)

        module.range_push = push

    def _see(self, name: object) -> None:
        """Ranges that the recording itself makes are not looked at."""
        if self._is_inside or not isinstance(name, str) or not self._marker.search(name):
            return
        self._is_inside = True
        self._session.begin_step(self._step)
        self._step += 1
        self._is_inside = False
