"""Runs kept as tables: to be shared as one file, or as baselines for the next change.

``files`` makes the files of a run, ``pack`` writes them into a folder or an archive, ``baselines``
keeps several runs by name. ``redaction`` renames what tells whose run it is.
"""

from __future__ import annotations

from commscope.saved.baselines import Baseline, SavedRun, baseline_runs, list_baselines, saved_run
from commscope.saved.files import run_files
from commscope.saved.pack import write_archive, write_folder

__all__ = [
    "Baseline",
    "SavedRun",
    "baseline_runs",
    "list_baselines",
    "run_files",
    "saved_run",
    "write_archive",
    "write_folder",
]
