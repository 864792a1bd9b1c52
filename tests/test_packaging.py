"""What is installed: nothing is missing, nothing leaks, everything imports.

The suite runs in a checkout and against the built wheel; the few tests that need the one or the
other are skipped, with the reason, where it is not at hand.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAPPED = ("parsers", "dashboards", "sample_traces")


def folder_of(package: str) -> Path | None:
    """Where an importable package lies, or null where there is none."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def module_files() -> dict[str, Path]:
    """Every module of commscope, wherever its folder lies, with its file."""
    found: dict[str, Path] = {}
    for package in ("commscope", *(f"commscope.{name}" for name in MAPPED)):
        folder = folder_of(package)
        for path in sorted(folder.rglob("*.py")) if folder else ():
            parts = (package, *path.relative_to(folder).with_suffix("").parts)
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


MODULE_FILES = module_files()


def pyproject() -> dict[str, Any]:
    """What pyproject.toml says; the test is skipped without a checkout."""
    if not (ROOT / "commscope").is_dir():
        pytest.skip("needs the checkout")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def checkout_settings() -> dict[str, Any]:
    settings: dict[str, Any] = pyproject()["tool"]["setuptools"]
    return settings


def package_folders(settings: dict[str, Any]) -> dict[str, Path]:
    """Every folder of the checkout that holds Python modules, by its package's name."""
    found: dict[str, Path] = {}
    for package, top in {"commscope": "commscope", **settings["package-dir"]}.items():
        for path in (ROOT / top).rglob("*.py"):
            parts = path.parent.relative_to(ROOT / top).parts
            found[".".join((package, *parts))] = path.parent
    return found


def test_every_folder_with_modules_is_a_listed_package() -> None:
    settings = checkout_settings()
    assert sorted(settings["packages"]) == sorted(package_folders(settings))


def test_every_top_level_sub_package_is_mapped() -> None:
    expected = {f"commscope.{name}": name for name in MAPPED if list((ROOT / name).rglob("*.py"))}
    assert checkout_settings()["package-dir"] == expected


def is_asset(path: Path) -> bool:
    return path.is_file() and path.suffix not in {".py", ".pyc"}


def test_every_other_file_is_listed_as_package_data() -> None:
    settings = checkout_settings()
    folders = package_folders(settings)
    listed = {
        path
        for package, patterns in settings["package-data"].items()
        for pattern in patterns
        for path in folders[package].glob(pattern)
    }
    assets = {path for folder in folders.values() for path in folder.rglob("*") if is_asset(path)}
    assert sorted(str(path.relative_to(ROOT)) for path in assets - listed) == []


def test_every_dependency_has_a_lower_bound_to_test_with() -> None:
    project = pyproject()["project"]
    extras = project["optional-dependencies"]
    pins = list(importlib.import_module("lowest").pins(project, list(extras)))
    assert len(pins) == len(project["dependencies"]) + sum(map(len, extras.values()))
    assert "numpy==1.23.5" in pins
    assert "tomli==2.0; python_version < '3.11'" in pins


def installed_files() -> list[Path]:
    """What the wheel put into the environment; the test is skipped in an editable install."""
    distribution = importlib.metadata.distribution("commscope")
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        pytest.skip("needs an installed wheel")
    return [Path(file) for file in distribution.files or ()]


def test_wheel_holds_only_the_package_and_its_description() -> None:
    version = importlib.metadata.version("commscope")
    tops = {path.parts[0] for path in installed_files() if path.name != "commscope"}
    assert tops == {"commscope", f"commscope-{version}.dist-info"}


def test_wheel_is_what_is_tested() -> None:
    assert installed_files()
    folder = folder_of("commscope")
    assert folder is not None
    assert folder.is_relative_to(sys.prefix)


def test_type_information_is_shipped() -> None:
    folder = folder_of("commscope")
    assert folder is not None
    assert (folder / "py.typed").is_file()


def test_version_is_the_same_everywhere() -> None:
    declared = importlib.import_module("commscope._version").__version__
    assert importlib.metadata.version("commscope") == declared


def test_the_core_and_all_mapped_packages_are_found() -> None:
    assert {"commscope.schema", "commscope.parsers.base", "commscope.sample_traces"} <= set(
        MODULE_FILES
    )


TORCH_JOB = "commscope.generator.torch_job.job"
#: Modules of what a job may bring along: they extend a class of its library.
OF_OTHERS = {"commscope.integrations.transformers": "transformers", TORCH_JOB: "torch"}
#: What runs in a job, under a name of its own: absolute imports would not find it.
INJECTED = ("commscope.collect.profiling.inject", TORCH_JOB)


def importable() -> list[str]:
    return [
        name
        for name in MODULE_FILES
        if name.rpartition(".")[2] != "__main__"
        and all(
            importlib.util.find_spec(library)
            for other, library in OF_OTHERS.items()
            if name.startswith(other)
        )
    ]


@pytest.mark.parametrize("module", importable())
def test_module_imports(module: str) -> None:
    assert importlib.import_module(module).__name__ == module


IMPORT_ALL = """
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print(json.dumps(sorted(sys.modules)))
"""


def test_mapped_folders_are_never_imported_as_top_level_packages(tmp_path: Path) -> None:
    command = [sys.executable, "-c", IMPORT_ALL, json.dumps(importable())]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) & set(MAPPED) == set()


def stray_imports(path: Path) -> Iterator[str]:
    """The imports of a file that are relative, or take a mapped folder for a package."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.startswith(".") or name.split(".")[0] in MAPPED)


@pytest.mark.parametrize(
    "source", ["from . import x", "import parsers.kineto", "from parsers import x"]
)
def test_stray_imports_are_noticed(source: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(source, encoding="utf-8")
    assert list(stray_imports(path))


@pytest.mark.parametrize("module", MODULE_FILES)
def test_imports_are_absolute(module: str) -> None:
    strays = list(stray_imports(MODULE_FILES[module]))
    if module.startswith(INJECTED):
        strays = [name for name in strays if not name.startswith(".") or name.startswith("..")]
    assert strays == []
