"""Steps told by the optimizer: hooks that torch calls after each call of any optimizer."""

from __future__ import annotations

import functools
import threading
from types import ModuleType
from typing import Any

from .cycle import Cycle
from .session import Session
from .telling import shielded, tell


class OptimizerSteps:
    """Gradient accumulation needs nothing: micro-batches do not call the optimizer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._cycle = Cycle()
        self._calls = 0
        self._sequence = 0
        self._is_off = False
        self._called = shielded(self._call, self._end)

    def watch_optimizers(self, module: ModuleType) -> None:
        """For ``torch.optim.optimizer``."""
        register = getattr(module, "register_optimizer_step_post_hook", None)
        if register is None:
            tell("this torch has no hooks for optimizers: give --profile-marker")
        else:
            register(self._after)

    def watch_scaler(self, module: ModuleType) -> None:
        """For ``torch.amp.grad_scaler``: a step that is skipped for infinities is a step too."""
        scaler: Any = module.GradScaler
        original = scaler.step

        @functools.wraps(original)
        def step(self_: Any, optimizer: Any, *arguments: Any, **named: Any) -> Any:
            before = self._calls
            result = original(self_, optimizer, *arguments, **named)
            if self._calls == before:
                self._called(optimizer)
            return result

        scaler.step = step

    def _after(self, optimizer: Any, _arguments: Any, _named: Any) -> None:
        self._called(optimizer)

    def _call(self, optimizer: Any) -> None:
        import torch  # noqa: PLC0415 - the job has it

        self._calls += 1
        if self._is_off or not _is_of_python():
            return
        step = self._cycle.called(optimizer, after_forward=self._forward_has_run(torch))
        if step is not None:
            self._session.begin_step(step)

    def _forward_has_run(self, torch: Any) -> bool:
        """A forward pass leaves nodes for the backward pass, and those are numbered."""
        number = getattr(torch.autograd, "_get_sequence_nr", lambda: 0)()
        has_run = number != self._sequence or not number
        self._sequence = number
        return has_run

    def _end(self) -> None:
        self._is_off = True


def _is_of_python() -> bool:
    """Not a thread of the autograd engine, from which the job's thread cannot be profiled."""
    return any(thread.ident == threading.get_ident() for thread in threading.enumerate())
