"""What the report says of machines whose files disagree."""

from __future__ import annotations

import json
from pathlib import Path

from small_run import trace

import commscope


def write(folder: Path, *versions: dict[str, int]) -> commscope.Report:
    """The report of ranks whose files tell these versions and no others."""
    for rank, found in enumerate(versions):
        document = json.loads(trace(rank)) | found
        if "cuda_runtime_version" not in found:
            del document["cuda_runtime_version"]
        (folder / f"rank{rank}.json").write_text(json.dumps(document))
    return commscope.analyze(commscope.load(folder))


def test_versions_that_agree_are_told_once(tmp_path: Path) -> None:
    report = write(tmp_path, {"hip_runtime_version": 60443483}, {"hip_runtime_version": 60443483})
    assert report.environment.versions["rocm"] == "6.4.43483"
    assert not [note for note in report.notes if "differ" in note]


def test_versions_that_differ_are_all_told(tmp_path: Path) -> None:
    report = write(tmp_path, {"hip_runtime_version": 60443483}, {"hip_runtime_version": 70226015})
    assert report.environment.versions["rocm"] == "6.4.43483, 7.2.26015"
    assert (
        "the files differ in rocm: 6.4.43483 (rank0.json); 7.2.26015 (rank1.json)" in report.notes
    )


def test_a_file_that_tells_no_version_disagrees_with_none(tmp_path: Path) -> None:
    report = write(tmp_path, {"cuda_runtime_version": 12040}, {})
    assert report.environment.versions["cuda"] == "12.4"
    assert not [note for note in report.notes if "differ" in note]
