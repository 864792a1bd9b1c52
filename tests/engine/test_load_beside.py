"""What is read beside traces: logs and topology, however they are given."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from job_logs import JobLog

import commscope
from commscope import sample_traces
from commscope.engine.logs import load_logs
from commscope.engine.quotes import quoted_lines
from commscope.errors import UnknownFormat, UsageError

_TOPOLOGY = """\
\tGPU0\tGPU1\tCPU Affinity
GPU0\t X \tNV18\t0-7
GPU1\tNV18\t X \t0-7

Legend:

  X    = Self
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder with the traces of two ranks, and nothing else."""
    folder = tmp_path / "run"
    folder.mkdir()
    for rank in (0, 1):
        shutil.copy(sample_traces.path("ddp_default") / f"rank{rank}.json.gz", folder)
    return folder


def logs_of(trace: commscope.Trace) -> list[str]:
    return [] if trace.logs is None else [file.file for file in trace.logs.files]


def write_logs(folder: Path) -> list[Path]:
    """The logs of two processes, with the process ids of the sample."""
    lines = (
        str(JobLog(((0, 1),))).replace(":100:100 ", ":682:682 ").replace(":101:101 ", ":683:683 ")
    )
    paths = []
    for pid in (682, 683):
        path = folder / f"rccl.{pid}.log"
        path.write_text("".join(f"{line}\n" for line in lines.split("\n") if f":{pid}:" in line))
        paths.append(path)
    return paths


def test_logs_in_the_folder_of_the_traces_are_read(run: Path) -> None:
    write_logs(run)
    trace = commscope.load(run)
    assert logs_of(trace) == ["rccl.682.log", "rccl.683.log"]
    assert not any("left out" in note.says for note in trace.notes)


def test_what_is_no_log_is_left_out_and_said(run: Path) -> None:
    (run / "train.log").write_text("loss 1.0\n")
    trace = commscope.load(run)
    assert trace.logs is None
    assert "left out, no trace: train.log (text)" in [note.says for note in trace.notes]


def test_logs_may_be_given_with_the_option_or_among_the_paths(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "logs"
    other.mkdir()
    first, second = write_logs(other)
    traces = sorted(run.glob("*.gz"))
    assert logs_of(commscope.load(traces, logs=[first, second])) == [first.name, second.name]
    assert logs_of(commscope.load([*traces, second], logs=first)) == [second.name, first.name]


def test_a_log_that_is_given_twice_is_read_once(run: Path) -> None:
    paths = write_logs(run)
    assert len(logs_of(commscope.load(run, logs=paths))) == 2


def test_a_log_without_a_record_is_an_error_where_it_is_given(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("nothing\n")
    with pytest.raises(UnknownFormat, match="no record of RCCL or NCCL"):
        commscope.load(run / "rank0.json.gz", logs=path)
    with pytest.raises(UsageError, match="no such file"):
        commscope.load(run / "rank0.json.gz", logs=tmp_path / "gone.log")


def test_a_log_alone_is_no_trace(run: Path) -> None:
    with pytest.raises(UnknownFormat, match="no trace in 2 files"):
        commscope.load(write_logs(run))


def test_topology_beside_the_traces_or_given_is_read(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "topo"
    other.mkdir()
    path = other / "nvidia_smi_topo.txt"
    path.write_text(_TOPOLOGY)
    given = commscope.load(run / "rank0.json.gz", topology=path)
    shutil.copy(path, run)
    beside = commscope.load(run)
    for trace in (given, beside):
        assert trace.topology is not None
        assert [link.kind for link in trace.topology.links] == ["nvlink"]
    with pytest.raises(UnknownFormat):
        commscope.load(run / "rank0.json.gz", topology=run / "rank1.json.gz")


def test_logs_of_one_name_keep_apart_and_are_quoted(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    first, second = write_logs(other)
    shutil.move(first, run / "job.log")
    shutil.move(second, other / "job.log")
    trace = commscope.load(run, logs=other / "job.log")
    assert logs_of(trace) == ["job.log", "other/job.log"]
    assert trace.logs is not None
    for name, source in trace.logs.sources.items():
        assert quoted_lines({name: source}, {name: [1]})[name, 1].endswith("Init START")


def test_a_log_that_says_nothing_beside_one_that_does_is_said(run: Path, tmp_path: Path) -> None:
    silent = tmp_path / "silent.log"
    silent.write_text("nothing\n")
    trace = commscope.load(run, logs=[*write_logs(tmp_path), silent])
    says = [note.says for note in trace.notes]
    assert "silent.log: no record of RCCL or NCCL in 1 lines" in says


def test_topology_that_is_given_must_be_one_also_beside_others(run: Path, tmp_path: Path) -> None:
    (run / "topo.txt").write_text(_TOPOLOGY)
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("nothing\n")
    with pytest.raises(UnknownFormat, match=r"wrong\.txt"):
        commscope.load(run, topology=wrong)


def test_a_copy_of_a_log_counts_once(tmp_path: Path) -> None:
    first, _ = write_logs(tmp_path)
    shutil.copy(first, tmp_path / "z.log")
    (tmp_path / "y.log").write_bytes(first.read_bytes().replace(b"Init", b"init"))
    loaded = load_logs([tmp_path])
    assert [file.file for file in loaded.logs.files] == [
        "rccl.682.log", "rccl.683.log", "y.log",
    ]  # fmt: skip
    assert "z.log: is a copy of rccl.682.log, which was read" in loaded.notes


def test_what_hipconfig_tells_of_versions_is_no_log(tmp_path: Path) -> None:
    """It prints a line that is in the library's banner, too."""
    told = "HIP version  : 5.2.21153-0\n\n== hipconfig\nHIP_PLATFORM : amd\n"
    (tmp_path / "hipconfig.txt").write_text(told)
    with pytest.raises(UnknownFormat, match=r"hipconfig\.txt: is hipconfig text, no log"):
        load_logs([tmp_path])
    (tmp_path / "job.log").write_text("RCCL version : 2.22.3-develop:1\n" + told)
    (read,) = load_logs([tmp_path]).logs.files
    assert (read.file, read.counts.records) == ("job.log", 2)
