"""The folder of a run, in which the wrappers of its nodes meet.

Nothing is locked, and nothing is read half-written, on NFS neither: a node takes its place by
``mkdir``, which one only can succeed with, and files appear under their names when they are whole.

    RUN/run.json                     what was run: written by the node that comes first
    RUN/nodes/0000-HOST/node.json    which node this is
                        logs/ traces/ environment/
                        status.json  how the job ended here: the node is complete
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commscope.collect.commands import safe_name, without_secrets
from commscope.collect.nodes import Place

SCHEMA = "commscope.job/1"
RUN, NODE, STATUS = "run.json", "node.json", "status.json"
DEFAULT_PARENT = Path("commscope-runs")

_MOST_RUNS_OF_A_NAME = 1000


@dataclass(frozen=True)
class NodeFolder:
    """The part of a run's folder that one wrapper writes."""

    run: Path
    name: str

    @property
    def path(self) -> Path:
        """``RUN/nodes/NODE``."""
        return self.run / "nodes" / self.name

    @property
    def logs(self) -> Path:
        """Where the logs of this node's processes go."""
        return self.path / "logs"

    @property
    def traces(self) -> Path:
        """Where the traces of this node's ranks go."""
        return self.path / "traces"

    @property
    def environment(self) -> Path:
        """Where the facts of this node's host go."""
        return self.path / "environment"


@dataclass(frozen=True)
class Run:
    """What is run: the command, its name, and when it was started (ISO 8601)."""

    command: Sequence[str]
    name: str
    started: str


def default_folder(run: Run, place: Place) -> Path:
    """Where a run goes that was given no folder: of one name for all nodes where they share a job.

    Time and name otherwise.
    """
    shared = place.job if place.count != 1 else None
    begin = run.started[:19].replace(":", "-") if shared is None else safe_name(shared)
    return DEFAULT_PARENT / f"{begin}-{run.name}"


def open_node(wanted: Path, run: Run, place: Place, host: str) -> NodeFolder:
    """Takes this node's place in the folder; where an earlier run has it, in one beside it.

    Raises OSError where it cannot be made.
    """
    wanted = Path(os.path.abspath(wanted))
    for number in range(1, _MOST_RUNS_OF_A_NAME):
        folder = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        (folder / "nodes").mkdir(parents=True, exist_ok=True)
        index = _claim(folder, place) if _is_ours(folder, place) else None
        if index is not None:
            node = NodeFolder(folder, f"{index:04d}-{safe_name(host)}")
            node.path.mkdir()
            _describe(node, run, place, host, index)
            return node
    raise FileExistsError(f"{wanted} and {_MOST_RUNS_OF_A_NAME} beside it are taken")


def is_in_progress(folder: Path) -> bool:
    """Whether a node of a run has begun and not ended: it runs, or died without a word."""
    nodes = folder / "nodes"
    begun, ended = list(nodes.glob(".[0-9]*")), list(nodes.glob(f"[0-9]*/{STATUS}"))
    return len(begun) > len(ended)


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Writes a document whole or not at all; raises OSError."""
    new = _written(path, document)
    try:
        os.replace(new, path)
    finally:
        _remove(new)


def iso_time() -> str:
    """Now, with the zone's offset, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def _is_ours(folder: Path, place: Place) -> bool:
    """Whether a folder is free, or may be of this job: another job says that it is another."""
    try:
        told = json.loads((folder / RUN).read_bytes())
    except (OSError, ValueError):
        return True
    job = told.get("job") if isinstance(told, dict) else None
    return job is None or place.job is None or job == place.job


def _claim(folder: Path, place: Place) -> int | None:
    """The node's number, taken for it alone; null where it, or every one, is taken."""
    numbers = range(place.count or 1) if place.index is None else (place.index,)
    for number in numbers:
        with contextlib.suppress(FileExistsError):
            (folder / "nodes" / f".{number:04d}").mkdir()
            return number
    return None


def _describe(node: NodeFolder, run: Run, place: Place, host: str, index: int) -> None:
    described = {
        "schema": SCHEMA,
        "command": without_secrets(run.command),
        "name": run.name,
        "started": run.started,
        "nodes": place.count,
        "job": place.job,
    }
    _write_first(node.run / RUN, described)
    here = {
        "node": index,
        "host": host,
        "ranks": None if place.ranks is None else list(place.ranks),
        "world_size": place.world_size,
        "started": run.started,
        "pid": os.getpid(),
    }
    write_json(node.path / NODE, here)


def _write_first(path: Path, document: Mapping[str, Any]) -> None:
    """Writes a document unless another has written it."""
    new = _written(path, document)
    try:
        os.link(new, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links: nodes that come at once write the same
        if not path.exists():
            os.replace(new, path)
    finally:
        _remove(new)


_COUNT = itertools.count()


def _written(path: Path, document: Mapping[str, Any]) -> Path:
    new = path.with_name(f".{path.name}.{os.uname().nodename}.{os.getpid()}.{next(_COUNT)}")
    text = json.dumps(document, indent=1, sort_keys=True) + "\n"
    try:
        new.write_bytes(text.encode("utf-8", "surrogateescape"))
    except OSError:
        _remove(new)
        raise
    return new


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
