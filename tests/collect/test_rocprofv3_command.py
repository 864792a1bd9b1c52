"""rocprofv3 is a stand-in: a script that notes its words and becomes the program after ``--``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from commscope.collect.profiling.options import ProfileOptions
from commscope.collect.profiling.prepare import Prepared, prepare
from commscope.collect.profiling.rocprofv3 import WHOLE_RUN, flags, installed_version, version_in

_STAND_IN = """#!{python} -S
import json, os, sys
if sys.argv[1:] == ["--version"]:
    print({version!r})
    raise SystemExit(0)
at = sys.argv.index("--")
folder = sys.argv[sys.argv.index("-d") + 1]
os.makedirs(folder)
with open(os.path.join(folder, "words.json"), "w") as file:
    json.dump(sys.argv[1:at], file)
os.execv(sys.argv[at + 1], sys.argv[at + 1:])
"""


class Job:
    """A job whose PATH has the stand-in."""

    def __init__(self, folder: Path, version: str, ranks: frozenset[int] | None = None) -> None:
        self.traces = folder / "traces"
        program = folder / "rocm" / "bin" / "rocprofv3"
        program.parent.mkdir(parents=True)
        program.write_text(_STAND_IN.format(python=sys.executable, version=version))
        program.chmod(0o755)
        self.program = str(program)
        given = {"PATH": str(program.parent)}
        options = ProfileOptions("rocprofv3", ranks=ranks)
        self.prepared: Prepared = prepare(options, self.traces, folder, given)
        self.environment = given | self.prepared.variables

    def python(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def wrapped(self) -> list[str]:
        return sorted(path.name for path in self.traces.glob("rank*"))


def test_the_options_are_those_that_the_version_understands() -> None:
    assert "--rccl-trace" not in flags((0, 4))
    assert flags((0, 5))[-3:] == ["--rccl-trace", "--output-format", "json"]
    assert flags((1, 1))[-3:] == ["--rccl-trace", "--output-format", "rocpd"]
    assert not [word for word in flags((1, 1)) if "pmc" in word]


def test_the_version_is_read_where_it_stands(tmp_path: Path) -> None:
    assert version_in("\n    version: 1.0.0\n    git_revision: 0d2d6ba\n") == (1, 0)
    assert version_in("usage: rocprofv3") is None
    job = Job(tmp_path, version="")
    assert installed_version(job.program) is None
    assert "does not tell its version" in job.prepared.warnings[1]
    (tmp_path / "rocm" / ".info").mkdir()
    (tmp_path / "rocm" / ".info" / "version").write_text("6.4.1-83\n")
    assert installed_version(job.program) == (0, 6)


def test_each_worker_runs_under_it_with_a_folder_of_its_own(tmp_path: Path) -> None:
    job = Job(tmp_path, "version: 1.0.0")
    assert job.prepared.warnings == [WHOLE_RUN]
    code = "import os, sys; print(sys.argv, sys.flags.dont_write_bytecode); sys.exit(9)"
    ended = job.python("-B", "-c", code, "--lr", "a b", RANK="3")
    assert (ended.stdout, ended.returncode) == ("['-c', '--lr', 'a b'] 1\n", 9)
    assert ended.stderr == ""
    words = json.loads((job.traces / "rank3" / "words.json").read_text())
    assert words == [*flags((1, 0)), "-d", str(job.traces / "rank3"), "-o", "trace"]


def test_launchers_and_the_children_of_workers_do_not(tmp_path: Path) -> None:
    job = Job(tmp_path, "version: 1.0.0", frozenset({0}))
    torchrun = tmp_path / "torchrun"
    torchrun.write_text("print('agent')")
    assert job.python(str(torchrun), SLURM_PROCID="0").stdout == "agent\n"
    assert job.wrapped() == []
    child = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', '']))"
    assert job.python("-c", child, RANK="0").returncode == 0
    assert job.python("-c", "", RANK="1").returncode == 0
    assert job.wrapped() == ["rank0"]


def test_a_worker_runs_without_it_where_it_does_not_start(tmp_path: Path) -> None:
    job = Job(tmp_path, "version: 1.0.0")
    os.unlink(job.program)
    ended = job.python("-c", "print('trained')", RANK="0")
    assert (ended.stdout, ended.returncode) == ("trained\n", 0)
    assert "cannot be started" in ended.stderr


@pytest.mark.parametrize("kind", ["none", "kineto"])
def test_other_profilers_do_not_ask_for_it(tmp_path: Path, kind: str) -> None:
    assert "rocprof" not in str(prepare(ProfileOptions(kind), tmp_path, tmp_path, {}).variables)
