"""What commscope writes itself is no input, and what only has its name is one."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
import small_run
from collected_runs import add_node, start_job

from commscope.parsers.sources import find_sources


def labels(folder: Path) -> list[str]:
    return [source.label for source in find_sources([folder]).sources]


def test_documents_of_a_collected_run_are_passed_over(tmp_path: Path) -> None:
    job = start_job(tmp_path / "run", nodes=1)
    node = add_node(job, 0, [0])
    (job / "nodes" / node / "other.json").write_text("{}")
    trace = "traces/rank0.pt.trace.json.gz"
    assert labels(job) == [f"nodes/{node}/other.json", f"nodes/{node}/{trace}"]
    assert labels(job / "nodes" / node) == ["other.json", trace]


@pytest.mark.parametrize("name", ["report.json", "report.html", "report.md", "run.json"])
def test_a_trace_of_such_a_name_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(small_run.trace(0))
    assert labels(tmp_path) == [name]


def test_what_is_named_is_read(tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    file.write_text("<!-- commscope:report -->\n")
    assert [source.label for source in find_sources([file]).sources] == ["report.md"]


def test_documents_elsewhere_are_those_of_others(tmp_path: Path) -> None:
    folder = tmp_path / "nodes" / "one"
    folder.mkdir(parents=True)
    (folder / "status.json").write_text("{}")
    assert labels(tmp_path) == ["nodes/one/status.json"]


def test_a_packed_run_is_read_without_its_report(tmp_path: Path) -> None:
    run = small_run.write_run(tmp_path / "run", ranks=1)
    (run / "report.md").write_text("<!-- commscope:report -->\nhost:1:1 [0] NCCL WARN quoted\n")
    archive = tmp_path / "run.tar"
    with tarfile.open(archive, "w") as packed:
        packed.add(run, "run")
    assert [source.member for source in find_sources([archive]).sources] == ["run/rank0.json"]
