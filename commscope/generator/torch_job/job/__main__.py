"""Loads this folder as a package, and runs its job: ``python FOLDER OPTIONS.json``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

_PACKAGE = "_commscope_torch_job"


def load() -> ModuleType:
    """The module that runs the job."""
    folder = Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} cannot be loaded")
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)
    return importlib.import_module(f"{_PACKAGE}.main")


if __name__ == "__main__":
    # The modules beside this one are none of torch's business.
    del sys.path[0]
    sys.exit(load().main(sys.argv[1]))
