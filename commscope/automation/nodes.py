"""What a folder of a collected run says of its nodes.

    RUN/run.json                        how many nodes there are to be
    RUN/nodes/NODE/node.json            which node this is, with its ranks
    RUN/nodes/NODE/status.json          how the job ended there: written last
    RUN/nodes/NODE/.saved/              its traces and logs as tables

Folders are listed and files opened anew each time: over a network file system that is what shows
files of other hosts soonest.
"""

from __future__ import annotations

import glob
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from commscope.parsers.own_files import RUN_FILE, is_job
from commscope.parsers.sources import natural
from commscope.saved.pack import unfinished

NODES = "nodes"
SAVED = ".saved"
_NODE_FILE, _STATUS_FILE = "node.json", "status.json"
_MOST_BYTES = 1 << 20
#: A job of more nodes is none: a damaged document says so.
_MOST_NODES = 1 << 16
_NUMBER = re.compile(r"\d{1,9}")

_Document = TypeVar("_Document")


@dataclass(frozen=True, slots=True)
class Status:
    """How the job ended on a node."""

    exit_code: int | None = None
    signal: str | None = None
    hung: bool = False
    problems: tuple[str, ...] = ()

    @property
    def is_well(self) -> bool:
        """Whether it ended as it should."""
        return self.exit_code == 0 and self.signal is None and not self.hung


@dataclass(frozen=True, slots=True)
class _NodeFile:
    node: int | None = None
    host: str | None = None
    ranks: tuple[int, ...] | None = None
    world_size: int | None = None


@dataclass(frozen=True, slots=True)
class _RunFile:
    nodes: int | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A node that has begun to write into the folder."""

    folder: Path
    number: int | None
    host: str | None
    ranks: tuple[int, ...] | None
    world_size: int | None
    status: Status | None  #: null while the job runs there
    is_saved: bool

    @property
    def is_complete(self) -> bool:
        """Whether the job ended there and its files have been read."""
        return self.status is not None and self.is_saved


@dataclass(frozen=True, slots=True)
class Job:
    """A collected run as it lies there now; the nodes in order of their numbers."""

    folder: Path
    name: str
    expected: int | None  #: how many nodes there are to be, where it is known
    nodes: tuple[Node, ...]

    @property
    def complete(self) -> tuple[Node, ...]:
        """The nodes of which everything is there."""
        return tuple(node for node in self.nodes if node.is_complete)

    @property
    def is_complete(self) -> bool:
        """Whether everything of all nodes is there."""
        return len(self.complete) >= max(len(self.nodes), self.expected or 1)

    @property
    def has_ended(self) -> bool:
        """Whether the job has ended on all nodes."""
        ended = [node for node in self.nodes if node.status is not None]
        return len(ended) >= max(len(self.nodes), self.expected or 1)


def is_collected(folder: Path) -> bool:
    """Whether a folder is that of a collected run."""
    return is_job(_bytes(folder / RUN_FILE))


def look(folder: Path) -> Job:
    """The job as its folder tells it now; what cannot be read is taken as not told."""
    run = _document(folder / RUN_FILE, _RunFile)
    names = sorted(_listed(folder / NODES), key=natural)
    nodes = [_node(folder / NODES / name) for name in names if not name.startswith(".")]
    ordered = sorted(nodes, key=lambda node: -1 if node.number is None else node.number)
    expected = run.nodes if run.nodes is not None and 0 < run.nodes <= _MOST_NODES else None
    return Job(folder, folder.resolve().name, expected, tuple(ordered))


def look_afresh(job: Job) -> Job:
    """The job as it is, where a network file system may still show what it was.

    Clients keep what they know of a folder for up to a minute, unless they write to it.
    """
    for folder in (job.folder / NODES, *(n.folder for n in job.nodes if not n.is_complete)):
        probe = unfinished(folder / SAVED)
        with suppress(OSError):  # then there is nothing newer to be seen
            probe.touch()
            probe.unlink()
    return look(job.folder)


def files_of(run_dir: Path, node: str) -> str:
    """All files of a node, as a pattern: so they are named from the folder of the run on.

    These are the names that they have where the whole run is read, and of no two nodes the same.
    """
    pattern = f"[{NODES[0]}]{NODES[1:]}"
    return os.path.join(glob.escape(os.fspath(run_dir)), pattern, glob.escape(node))


def _node(folder: Path) -> Node:
    names = set(_listed(folder))
    told = _document(folder / _NODE_FILE, _NodeFile) if _NODE_FILE in names else _NodeFile()
    return Node(
        folder,
        _number(folder.name) if told.node is None else told.node,
        told.host,
        told.ranks,
        told.world_size,
        _document(folder / _STATUS_FILE, Status) if _STATUS_FILE in names else None,
        SAVED in names,
    )


def _number(name: str) -> int | None:
    found = _NUMBER.match(name)
    return int(found[0]) if found else None


def _document(path: Path, kind: type[_Document]) -> _Document:
    """The document of a file; an empty one where there is none that can be read."""
    try:
        return msgspec.json.decode(_bytes(path), type=kind)
    except (ValueError, msgspec.MsgspecError):
        return kind()


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return b""


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
