"""Started by every Python of the job, for the folder of this file is in PYTHONPATH.

It makes ready what profiles the job, hides from ``sys.path``, and then runs the ``sitecustomize``
that would have run without it. A failure of ours is one line on stderr. Most processes of a job
never import torch, so what is imported from here is kept small.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import PathFinder


def _make_ready() -> None:
    try:
        importlib.import_module("_commscope_job.ready").make_ready(os.environ)
    except Exception as error:  # noqa: BLE001 - whatever fails in here, the job goes on
        sys.stderr.write(f"commscope: this process is not profiled ({error!r})\n")


def _hide() -> None:
    """The job sees the path of imports that it would have had."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]


def _run_the_next() -> None:
    """Errors of the user's own file are the user's: the interpreter reports them as ever."""
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    from importlib.util import module_from_spec  # noqa: PLC0415 - rarely needed

    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


# A run within a run has its own folder in front of the outer one's: the settings are the inner's.
if "COMMSCOPE_PROFILER" in os.environ and "_commscope_job" not in sys.modules:
    _make_ready()
_hide()
_run_the_next()
