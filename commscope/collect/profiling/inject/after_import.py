"""Runs actions right after modules have been imported, and costs next to nothing before."""

from __future__ import annotations

import sys

from .telling import shielded

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself takes milliseconds to import
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    Action = Callable[[ModuleType], None]


def run_after_import(actions: dict[str, Action]) -> None:
    """Each action gets the module of its name once that has been executed; none may raise."""
    waiting = dict(actions)
    for name in [name for name in actions if name in sys.modules]:
        waiting.pop(name)(sys.modules[name])
    if waiting:
        sys.meta_path.insert(0, _Watcher(waiting))


class _Watcher:
    """Looks at the names that are imported, and leaves finding to those who find."""

    def __init__(self, actions: dict[str, Action]) -> None:
        self._actions = actions

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - the protocol of finders
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        action = self._actions.pop(name, None)
        if action is None:
            return None
        spec: ModuleSpec | None = shielded(_followed, _nothing)(name, action)
        return spec


def _nothing() -> None:
    """Without a spec of ours the finders after this one are asked, as ever."""


def _followed(name: str, action: Action) -> ModuleSpec | None:
    """The module's own spec; the loader does one thing more, once, and stays what it was."""
    from importlib.util import find_spec  # noqa: PLC0415 - only where torch is imported

    spec = find_spec(name)
    loader: Any = None if spec is None else spec.loader
    if loader is None:
        return None
    execute, was = loader.exec_module, vars(loader).get("exec_module")

    def execute_and_act(module: ModuleType) -> None:
        if was is None:
            vars(loader).pop("exec_module", None)
        else:  # of another tool that does the same
            loader.exec_module = was
        execute(module)
        action(module)

    loader.exec_module = execute_and_act
    return spec
