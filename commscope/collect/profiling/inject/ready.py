"""Makes a fresh Python process ready to be profiled, as cheaply as can be.

A process that never imports torch pays one look-up a module. rocprofv3 has to be there before a
process touches a GPU, so a worker starts itself anew under it.
"""

from __future__ import annotations

from .after_import import run_after_import
from .telling import shielded

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself takes milliseconds to import
    from collections.abc import MutableMapping
    from types import ModuleType
    from typing import Any

    from .after_import import Action

PROFILER = "COMMSCOPE_PROFILER"
#: What of torch is watched, and the method that does.
_WATCHED = {
    "torch.optim.optimizer": "watch_optimizers",
    "torch.amp.grad_scaler": "watch_scaler",
    "torch.autograd.profiler": "watch_ranges",
    "torch.cuda.nvtx": "watch_nvtx",
}


def make_ready(environment: MutableMapping[str, str]) -> None:
    """Waits for torch; a worker that belongs under rocprofv3 does not return from here."""
    if environment[PROFILER] == "rocprofv3":
        from .under_rocprof import start_anew  # noqa: PLC0415 - only for those who need it

        start_anew(environment)
    steps = _Steps(environment)
    run_after_import({name: steps.action(method) for name, method in _WATCHED.items()})


class _Steps:
    """Made when torch comes, for its parts load more of the standard library."""

    def __init__(self, environment: MutableMapping[str, str]) -> None:
        self._environment = environment
        self._made: Any = None
        self._has_failed = False

    def action(self, method: str) -> Action:
        """What to do with the module that has been imported: nothing, if steps come otherwise."""

        def act(module: ModuleType) -> None:
            if self._has_failed:
                return
            self._made = self._made or self._make()
            getattr(self._made, method, _pass)(module)

        return shielded(act, self._fail)

    def _fail(self) -> None:
        self._has_failed = True

    def _make(self) -> Any:
        from .markers import MarkerSteps  # noqa: PLC0415 - see above
        from .notes import TORCH, note  # noqa: PLC0415
        from .optimizers import OptimizerSteps  # noqa: PLC0415
        from .session import Session  # noqa: PLC0415
        from .settings import Settings  # noqa: PLC0415

        settings = Settings.of(self._environment)
        note(TORCH)
        session, marker = Session(settings), settings.marker
        return MarkerSteps(session, marker) if marker else OptimizerSteps(session)


def _pass(*_: object) -> None:
    """Nothing to do."""
