"""Who records a run: by what is installed, and with the words that its version understands."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from commscope.errors import UsageError
from commscope.generator.playing import collectors
from commscope.generator.playing.collectors import around_rocprofv3, choose
from commscope.generator.playing.launching import RankCommand, check, launch

_TRACES = ["--kernel-trace", "--memory-copy-trace", "--hip-runtime-trace", "--marker-trace"]
_STAND_IN = """#!{python}
import json, pathlib, subprocess, sys
words = sys.argv[1:]
if words == ["--version"]:
    print({version!r})
    sys.exit()
folder = pathlib.Path(words[words.index("-d") + 1])
name = words[words.index("-o") + 1]
(folder / (name + "_results.json")).write_text(json.dumps(words))
sys.exit(subprocess.call(words[words.index("--") + 1:]))
"""


def _stand_in(folder: Path, version: str | None) -> str:
    """A program that notes its words and runs the rest."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "rocprofv3"
    said = "" if version is None else f"version: {version}.0"
    program.write_text(_STAND_IN.format(python=sys.executable, version=said))
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("version", "formats", "words"),
    [
        ("0.4", (), ["--output-format", "json"]),
        ("0.5", (), ["--rccl-trace", "--output-format", "json"]),
        ("0.6", ("csv", "json"), ["--rccl-trace", "--output-format", "csv", "json"]),
        ("1.0", (), ["--rccl-trace", "--output-format", "rocpd"]),
        ("1.1", ("rocpd", "csv"), ["--rccl-trace", "--output-format", "rocpd", "csv"]),
        (None, (), ["--output-format", "json"]),
    ],
)
def test_rocprofv3_is_asked_as_its_version_understands(
    version: str | None, formats: tuple[str, ...], words: list[str], tmp_path: Path
) -> None:
    collector = around_rocprofv3(_stand_in(tmp_path / "bin", version), formats)
    folder = tmp_path / "rank3"
    code = "import sys; print('played'); sys.exit(0)"
    wrapped = collector.wrap((sys.executable, "-c", code), folder)
    ended = launch([RankCommand(3, wrapped, folder / "output.log")], 60)
    check(ended, 60)
    (trace,) = collectors.traces_in(folder)
    given = json.loads(trace.read_text())
    assert given == [
        *_TRACES, *words, "-d", str(folder), "-o", "trace", "--", sys.executable, "-c", code,
    ]  # fmt: skip
    assert not any("pmc" in word or "%rank%" in word for word in given)
    assert (folder / "output.log").read_text() == "played\n"


def test_what_rocprofv3_cannot_record_is_told(tmp_path: Path) -> None:
    old = around_rocprofv3(_stand_in(tmp_path / "a", "0.4"))
    assert ["calls of RCCL are not recorded" in it for it in old.warnings] == [True]
    unknown = around_rocprofv3(_stand_in(tmp_path / "b", None))
    assert "does not tell its version" in unknown.warnings[0]
    assert around_rocprofv3(_stand_in(tmp_path / "c", "1.0")).warnings == ()


@pytest.mark.parametrize("name", ["rocpd", "parquet"])
def test_a_format_that_a_version_does_not_write_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"--formats {name}: .*rocprofv3 0.6 does not write it"):
        around_rocprofv3(_stand_in(tmp_path, "0.6"), (name,))


def test_an_exit_code_of_the_program_comes_through(tmp_path: Path) -> None:
    collector = around_rocprofv3(_stand_in(tmp_path / "bin", "1.0"))
    words = collector.wrap((sys.executable, "-c", "import sys; sys.exit(77)"), tmp_path)
    (ended,) = launch([RankCommand(0, words, tmp_path / "log")], 60)
    assert ended.exit_code == 77


def test_the_best_that_is_installed_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collectors.importlib.util, "find_spec", lambda _: None)
    nothing = {"PATH": str(tmp_path / "empty"), "ROCM_PATH": str(tmp_path)}
    assert choose("auto", "amd", environment=nothing).name == "none"
    _stand_in(tmp_path / "bin", "1.0")
    assert choose("auto", "amd", environment={"PATH": str(tmp_path / "bin")}).name == "rocprofv3"
    (tmp_path / "bin/rocprofv3").rename(tmp_path / "bin/rocprof")
    older = choose("auto", "amd", environment=nothing)  # it is in ROCM_PATH
    assert older.wrap(("p",), tmp_path)[1:3] == ("--hip-trace", "--roctx-trace")
    assert choose("auto", "host").name == "own"


def test_kineto_plays_a_shared_object_under_the_python_that_has_torch(tmp_path: Path) -> None:
    collector = choose("kineto", "amd", python="/opt/torch/bin/python")
    words = collector.wrap(("gen.so", "--rank", "0"), tmp_path)
    assert collector.shared
    assert words[0] == "/opt/torch/bin/python"
    assert words[1].endswith("under_torch.py")
    assert words[2:] == (str(tmp_path / "trace.json.gz"), "gen.so", "--rank", "0")


@pytest.mark.parametrize(
    ("wanted", "backend", "says"),
    [
        ("nsys", "amd", "--profiler nsys: one of auto, rocprofv3"),
        ("rocprofv3", "nvidia", "sees nothing of the backend nvidia: one of cupti, kineto, none"),
        ("kineto", "host", "sees nothing of the backend host: one of own, none"),
        ("rocprofv3", "amd", "rocprofv3 is neither on the PATH"),
    ],
)
def test_a_profiler_that_cannot_be_had_is_said(
    wanted: str, backend: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=says):
        choose(wanted, backend, environment={"PATH": str(tmp_path), "ROCM_PATH": str(tmp_path)})


def test_formats_are_refused_where_no_profiler_writes_them(tmp_path: Path) -> None:
    nothing = {"PATH": str(tmp_path), "ROCM_PATH": str(tmp_path)}
    with pytest.raises(UsageError, match="--formats: are those of rocprofv3; the profiler here is"):
        choose("none", "amd", ["csv"], environment=nothing)
