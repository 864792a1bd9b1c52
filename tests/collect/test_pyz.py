"""The collecting code runs under Python 3.9 with nothing installed, also as one file."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from run_jobs import LATE_S, environment
from support import ROOT

import commscope.collect

FOLDER = Path(commscope.collect.__file__).parent
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.py"))


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def is_at_hand(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in sys.stdlib_module_names or name.startswith(
        "commscope.collect"
    )


@pytest.mark.parametrize("file", [name for name in FILES if "/inject/" not in name])
def test_module_is_of_python_3_9_and_needs_the_standard_library_only(file: str) -> None:
    text = (FOLDER / file).read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 9))
    assert [name for name in imported(tree) if not is_at_hand(name)] == []
    assert "slots=True" not in text


@pytest.mark.parametrize("file", FILES)
def test_module_is_of_python_3_9(file: str) -> None:
    compile(
        (FOLDER / file).read_bytes(),
        file,
        "exec",
        flags=ast.PyCF_ONLY_AST,
        _feature_version=9,
    )


@pytest.fixture(scope="module")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (ROOT / "tools").is_dir():
        pytest.skip("needs the checkout")
    target = tmp_path_factory.mktemp("pyz") / "commscope-collect.pyz"
    importlib.import_module("make_pyz").write(target)
    return target


def test_it_holds_the_package_alone(pyz: Path) -> None:
    with zipfile.ZipFile(pyz) as archive:
        names = archive.namelist()
    assert {f"commscope/collect/{name}" for name in FILES} < set(names)
    others = [name for name in names if not name.startswith("commscope/collect/")]
    assert others == ["__main__.py", "commscope/__init__.py"]
    assert not [name for name in names if "__pycache__" in name]


def test_equal_sources_give_equal_bytes(pyz: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.pyz"
    importlib.import_module("make_pyz").write(again)
    assert again.read_bytes() == pyz.read_bytes()


def pyz_command(pyz: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-S", "-E", "-I", str(pyz), *arguments]


def test_it_runs_a_job_where_nothing_is_installed(pyz: Path, tmp_path: Path) -> None:
    command = pyz_command(pyz, "run", "--run-dir", "run", "--", "sh", "-c", "echo fine; exit 3")
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        check=False,
        timeout=LATE_S,
    )
    assert (done.returncode, done.stdout) == (3, b"fine\n")
    told = f"commscope: the run is in {tmp_path}/run; to report on it: commscope analyze "
    assert done.stderr.decode() == f"{told}{tmp_path}/run\n"
    assert list((tmp_path / "run" / "nodes").glob("0000-*/environment/collected.json"))


def test_it_saves_what_tells_of_the_host(pyz: Path, tmp_path: Path) -> None:
    command = pyz_command(pyz, "env", "--save", str(tmp_path / "out"), "--timeout", "20")
    done = subprocess.run(command, capture_output=True, check=False, timeout=LATE_S)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "out" / "collected.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run"], "no command was given; write it behind --"),
        (["run", "--timeout", "soon", "--", "true"], "--timeout: soon: a number of seconds"),
        (["run", "--log-calls", "--no-log", "--", "true"], "exclude each other"),
        (["run", "--profile-ranks", "0", "--", "true"], "--profile-ranks needs --profile"),
        (["run", "--profile-steps", "9-3", "--profile", "kineto", "--", "true"], "9-3: "),
        (["env", "--save", "x", "--timeout", "nan"], "--timeout"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], says: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "commscope.collect", *arguments]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=LATE_S
    )
    assert done.returncode == 2
    assert says in done.stderr
    assert list(tmp_path.iterdir()) == []
