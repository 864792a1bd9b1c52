"""From paths to the topology of hosts: find the files, leave out what is none, merge the others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from commscope.engine.reading import RunProgress, progress_of, silent
from commscope.errors import FormatError, UnknownFormat, UsageError
from commscope.parsers.appearance import looks_like
from commscope.parsers.base import Progress
from commscope.parsers.bounded import read_whole
from commscope.parsers.opening import Source, open_session, read_head
from commscope.parsers.sources import find_sources
from commscope.parsers.topology import MOST_BYTES, formats_of, read_topology
from commscope.parsers.topology.rows import TopologyFile
from commscope.parsers.topology.traces import lists_agents, read_agents
from commscope.topology.merge import merge
from commscope.topology.model import Topology

_KNOWN = (
    "what can be read: output of rocm-smi, amd-smi, nvidia-smi topo -m, rocminfo and hipconfig, "
    "files of NCCL_TOPO_DUMP_FILE and NCCL_GRAPH_DUMP_FILE, folders of commscope env --save, and "
    "JSON and databases of rocprofv3"
)


@dataclass(frozen=True, slots=True)
class _Found:
    files: list[TopologyFile]
    others: list[str]  #: what is no topology, one sentence each
    damaged: list[str]  #: what is one and could not be read


def load_topology(
    paths: Sequence[str | os.PathLike[str]], progress: RunProgress = silent
) -> Topology:
    """Reads files, folders, patterns, archives or ``-``; in folders other files are passed over.

    Raises UsageError where a file that was named cannot be read, CorruptTrace where one that was
    named is of a known format and holds nothing, UnknownFormat where no file is of one.
    """
    found = _read(paths, progress)
    notes = (*found.damaged, *found.others)
    if not found.files:
        more = f" (and {len(notes) - 1} more files)" if len(notes) > 1 else ""
        raise UnknownFormat(f"{notes[0]}{more}; {_KNOWN}")
    topology = merge(found.files)
    return replace(topology, notes=(*topology.notes, *notes))


def find_topology(
    paths: Sequence[str | os.PathLike[str]], progress: RunProgress = silent
) -> Topology | None:
    """The topology that lies among other files, such as traces; null where there is none.

    Traces of rocprofv3 that list their host's agents tell it themselves.
    Files that are no topology go without a note; pipes and standard input, which can be read once
    only, are left to others. Raises UsageError where something given is missing.
    """
    given = [path for path in paths if _is_stored(path)]
    found = _read(given, progress) if given else _Found([], [], [])
    if not found.files:
        return None
    topology = merge(found.files)
    return replace(topology, notes=(*topology.notes, *found.damaged))


def topology_beside(
    beside: Sequence[str | os.PathLike[str]],
    given: Sequence[str | os.PathLike[str]],
    progress: RunProgress = silent,
) -> Topology | None:
    """The topology that lies beside traces or in them, with that which is given.

    Raises as ``load_topology`` where what is given is none.
    """
    stored = [path for path in beside if _is_stored(path)]
    if not given:
        return find_topology(stored, progress)
    told = load_topology(given, progress)
    return load_topology([*stored, *given], progress) if stored else told


def _is_stored(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path) != "-" and not Path(path).is_fifo()


def _read(paths: Sequence[str | os.PathLike[str]], progress: RunProgress) -> _Found:
    with open_session():
        sources = find_sources(paths)
        found = _Found([], list(sources.notes), [])
        for number, source in enumerate(sources.sources, 1):
            report = progress_of(progress, source, number, len(sources.sources))
            try:
                _add(found, source, report)
            except (UsageError, FormatError) as error:
                if source.named:
                    raise
                found.damaged.append(str(error))
    return found


def _add(found: _Found, source: Source, progress: Progress) -> None:
    head = read_head(source)
    formats = formats_of(head)
    if formats:
        data = read_whole(source, MOST_BYTES, progress)
        found.files.extend(read_topology(data, source.label, formats))
        return
    listed = read_agents(source, head) if lists_agents(head) else []
    found.files.extend(listed)
    if not listed:
        looks = looks_like(head, source.size)
        found.others.append(f"{source.label}: is {looks}, on no topology of a host")
