"""Started by every Python of the job, for the folder of this file is in PYTHONPATH.

It makes ready what profiles the job, hides from ``sys.path``, and then runs the ``sitecustomize``
that would have run without it. A failure of ours is one line on stderr. Most processes of a job
never import torch, so what is imported from here is kept small.

Tools of a system may have an old Python, which meets this file too: it is in the syntax of 2.7.
"""

import importlib
import os
import sys


def _make_ready():
    # type: () -> None
    try:
        importlib.import_module("_commscope_job.ready").make_ready(os.environ)
    except Exception as error:  # noqa: BLE001 - whatever fails in here, the job goes on
        sys.stderr.write("commscope: this process is not profiled (%r)\n" % (error,))  # noqa: UP031


def _hide():
    # type: () -> None
    """The job sees the path of imports that it would have had."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]


def _run_the_next():
    # type: () -> None
    """Errors of the user's own file are the user's: the interpreter reports them as ever."""
    from importlib.machinery import PathFinder  # noqa: PLC0415 - Python 2 has none
    from importlib.util import module_from_spec  # noqa: PLC0415

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _run_the_next_of_old():
    # type: () -> None
    """The same with what was there before; newer versions of Python have it no more."""
    imp = importlib.import_module("imp")
    try:
        file, path, kind = imp.find_module("sitecustomize", sys.path)
    except ImportError:
        return
    # Without a name Python 2 would clear it while it runs.
    sys.modules["_commscope_sitecustomize"] = sys.modules.pop("sitecustomize")
    try:
        imp.load_module("sitecustomize", file, path, kind)
    finally:
        if file:
            file.close()


_IS_OLD = sys.version_info < (3, 7)
# A run within a run has its own folder in front of the outer one's: the settings are the inner's.
if "COMMSCOPE_PROFILER" in os.environ and "_commscope_job" not in sys.modules and not _IS_OLD:
    _make_ready()
_hide()
if _IS_OLD:
    _run_the_next_of_old()
else:
    _run_the_next()
