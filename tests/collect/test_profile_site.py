"""The start of a Python process with the injected folder in PYTHONPATH; torch is a stand-in."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from commscope.collect.profiling import inject
from commscope.collect.profiling.inject.telling import TOLD
from commscope.collect.profiling.options import ProfileOptions
from commscope.collect.profiling.prepare import prepare, told_inside

#: As much of torch as tells of optimizers: the hook is called as torch calls it.
_OPTIMIZER = """
hooks = []
def register_optimizer_step_post_hook(hook):
    hooks.append(hook)
class Optimizer:
    def step(self):
        for hook in hooks:
            hook(self, (), {})
"""
_TORCH = "class autograd:\n    _get_sequence_nr = None\nfrom torch import optim\n"


#: As much of ``imp`` as old versions need; new ones have none.
_IMP = """
import os, sys, types
def find_module(name, path):
    for folder in path:
        file = os.path.join(folder, name + ".py")
        if os.path.exists(file):
            return open(file), file, None
    raise ImportError(name)
def load_module(name, file, path, kind):
    module = sys.modules[name] = types.ModuleType(name)
    exec(file.read(), vars(module))
"""


class Job:
    """A folder with a stand-in for torch, and the variables of a profiled job."""

    def __init__(self, folder: Path) -> None:
        self.user = folder / "user"
        (self.user / "torch" / "optim").mkdir(parents=True)
        (self.user / "torch" / "__init__.py").write_text(_TORCH)
        (self.user / "torch" / "optim" / "__init__.py").write_text("from . import optimizer\n")
        (self.user / "torch" / "optim" / "optimizer.py").write_text(_OPTIMIZER)
        given = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.user)}
        options = ProfileOptions("kineto")
        self.environment = given | prepare(options, folder / "traces", folder, given).variables

    def python(self, code: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=60
        )


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def test_a_process_without_torch_notices_nothing(job: Job) -> None:
    ended = job.python("import sys; print(sys.path[1], 'dataclasses' in sys.modules)")
    assert (ended.stdout.split()[0], ended.stderr, ended.returncode) == (str(job.user), "", 0)
    loaded = job.python("import sys; print([m for m in sys.modules if m.startswith('_commscope')])")
    assert loaded.stdout.count("_commscope_job.") == 3  # ready, after_import, telling


def test_the_users_own_sitecustomize_runs_and_is_what_it_was(job: Job) -> None:
    (job.user / "sitecustomize.py").write_text("import builtins; builtins.marked = __file__\n")
    ended = job.python("import sitecustomize; print(marked == sitecustomize.__file__)")
    assert (ended.stdout, ended.stderr) == ("True\n", "")


def test_an_old_python_can_read_the_first_file_and_hands_over(job: Job) -> None:
    (text,) = [it.read_text(encoding="utf-8") for it in files(inject).iterdir()
               if it.name == "sitecustomize.py"]  # fmt: skip
    tree = ast.parse(text, feature_version=(3, 4))
    newer = (ast.AnnAssign, ast.JoinedStr, ast.Nonlocal, ast.NamedExpr, ast.YieldFrom, ast.Starred)
    assert not [it for it in ast.walk(tree) if isinstance(it, newer)]
    of_functions = [it for it in ast.walk(tree) if isinstance(it, ast.FunctionDef)]
    assert not [it for it in of_functions if it.returns or it.args.args or it.args.kwonlyargs]
    assert "__future__" not in text
    assert text.isascii()  # Python 2 asks for a declaration otherwise


@pytest.mark.parametrize("there", [True, False])
def test_an_old_python_runs_the_users_own_alone(job: Job, there: bool) -> None:
    if there:
        (job.user / "sitecustomize.py").write_text("import sys; sys.stdout.write('mine')\n")
    (job.user / "imp.py").write_text(_IMP)
    first = Path(job.environment["PYTHONPATH"].split(os.pathsep)[0]) / "sitecustomize.py"
    first.write_text(
        first.read_text().replace("_IS_OLD = sys.version_info < (3, 7)", "_IS_OLD = 1")
    )
    ended = job.python("import sys; print(any('_commscope_job' in it for it in sys.modules))")
    assert (ended.stdout, ended.stderr) == ("mine" * there + "False\n", "")


def test_a_sitecustomize_that_fails_fails_as_ever(job: Job) -> None:
    (job.user / "sitecustomize.py").write_text("raise RuntimeError('mine')\n")
    with_us = job.python("print('goes on')")
    job.environment = {"PYTHONPATH": str(job.user)}
    assert (with_us.stdout, with_us.stderr) == ("goes on\n", job.python("").stderr)


@pytest.mark.parametrize("broken", ["{", "{}", '{"kind":"kineto"}'])
def test_broken_settings_are_one_line_and_the_job_goes_on(job: Job, broken: str) -> None:
    job.environment["COMMSCOPE_PROFILE"] = broken
    ended = job.python("import torch; print('trained'); raise SystemExit(3)")
    assert (ended.stdout, ended.returncode) == ("trained\n", 3)
    assert ended.stderr.startswith("commscope: profiling ends here, the job goes on (")
    assert ended.stderr.count("\n") == 1


def test_a_failure_in_a_hook_is_one_line_and_the_job_goes_on(job: Job) -> None:
    ended = job.python(
        "from torch.optim.optimizer import Optimizer\n"
        "it = Optimizer()\n"
        "for step in range(20): it.step()\n"  # the stand-in has no numbers to tell: TypeError
        "print('trained')"
    )
    assert (ended.stdout, ended.returncode) == ("trained\n", 0)
    assert ended.stderr.count("profiling ends here") == 1


def test_the_loader_of_a_watched_module_stays_what_it_was(job: Job) -> None:
    ended = job.python(
        "import torch.optim.optimizer as it, importlib\n"
        "print(len(it.hooks), vars(it.__loader__).keys() == {'name', 'path'})\n"
        "importlib.reload(it); print(len(it.hooks))"
    )
    assert ended.stdout == "1 True\n0\n"


def test_a_run_within_a_run_takes_the_steps(job: Job, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    options = ProfileOptions("kineto", (3, 4))
    made = prepare(options, inner / "traces", inner, job.environment)
    assert len(made.warnings) == 1
    job.environment |= made.variables
    ended = job.python("import torch, sys; print(len(torch.optim.optimizer.hooks), sys.path[1])")
    assert (ended.stdout, ended.stderr) == (f"1 {job.user}\n", "")


def test_what_fails_in_all_processes_is_heard_once(job: Job, tmp_path: Path) -> None:
    job.environment["COMMSCOPE_PROFILE"] = "{"
    ended = [job.python("import torch") for _ in range(2)]
    assert [it.stderr.count("profiling ends here") for it in ended] == [1, 0]
    (line,) = told_inside(Path(job.environment[TOLD]))
    assert line.startswith("profiling ends here")
    assert told_inside(tmp_path / "gone") == []


def test_where_nothing_can_be_noted_each_process_is_heard(job: Job, tmp_path: Path) -> None:
    job.environment |= {"COMMSCOPE_PROFILE": "{", TOLD: str(tmp_path / "gone" / "told")}
    ended = [job.python("import torch") for _ in range(2)]
    assert [it.stderr.count("profiling ends here") for it in ended] == [1, 1]
