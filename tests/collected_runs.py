"""Folders of collected runs, as ``commscope run`` leaves them, made of small traces."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import small_run
from job_logs import JobLog

WELL: dict[str, Any] = {"exit_code": 0, "signal": None, "hung": False, "problems": []}


def start_job(folder: Path, nodes: int | None = 2) -> Path:
    """The folder as the first node makes it."""
    folder.mkdir(parents=True)
    run = {"schema": "commscope.job/1", "command": ["torchrun", "train.py"], "nodes": nodes}
    (folder / "run.json").write_text(json.dumps(run))
    return folder


def add_node(
    job: Path,
    number: int,
    ranks: Sequence[int],
    *,
    world: int = 4,
    status: dict[str, Any] | None = WELL,
    traced: bool = True,
    log: str = "",
) -> str:
    """Adds a node with a trace a rank; returns its name."""
    name = f"{number:04d}-host{number}"
    node = job / "nodes" / name
    (node / "traces").mkdir(parents=True)
    (node / "logs").mkdir()
    told = {"node": number, "host": f"host{number}", "ranks": [*ranks], "world_size": world}
    (node / "node.json").write_text(json.dumps(told))
    for rank in ranks if traced else ():
        packed = gzip.compress(small_run.trace(rank))
        (node / "traces" / f"rank{rank}.pt.trace.json.gz").write_bytes(packed)
    if log:
        (node / "logs" / f"nccl.host{number}.7.log").write_text(log)
    if status is not None:
        end_node(job, name, **status)
    return name


def end_node(job: Path, name: str, **status: Any) -> None:
    """Says how the job ended on a node."""
    (job / "nodes" / name / "status.json").write_text(json.dumps({**WELL, **status}))


def job_log(*ranks: int, world: int = 2) -> str:
    """What the library logs on these ranks of a job."""
    lines = str(JobLog([[*range(world)]])).splitlines()
    return "".join(f"{line}\n" for line in lines if int(line.split(":")[1]) - 100 in ranks)


def reports(folder: Path) -> list[str]:
    """The names of what is reported in a folder."""
    return sorted(path.name for path in folder.glob("report.*"))
