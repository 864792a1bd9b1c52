"""What the files of a trace hold beside its tables, by rank, where they can be read again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from commscope.normalize.parts import is_base
from commscope.parsers.kineto.beside import Beside, read_beside
from commscope.parsers.opening import open_session
from commscope.parsers.sources import find_sources
from commscope.peers.activities import OfRank
from commscope.trace import Trace
from commscope.wording import counted

#: A larger file, as it is stored, is not read again: all of it would be in memory at once.
MOST_BYTES = 256 << 20


def files_beside(trace: Trace, paths: Sequence[str | os.PathLike[str]]) -> Mapping[int, Beside]:
    """For each rank that is alone in its Kineto file, what that file holds beside the tables.

    Ranks of other files have none: of standard input, of several ranks in one, of more than
    ``MOST_BYTES``, or changed since the trace was read.
    """
    wanted = _files(trace)
    if not wanted or any(os.fspath(path) == "-" for path in paths):
        return {}
    digests = {file.file: file.sha256 for file in trace.files}
    found = {}
    with open_session():
        for source in find_sources(paths).sources:
            if source.label not in wanted or (source.size or 0) > MOST_BYTES:
                continue
            beside = read_beside(source)
            if beside is not None and beside.sha256 == digests[source.label]:
                found[wanted[source.label]] = beside
    return {rank: one for rank, one in found.items() if is_base(one.base_ns)}


def missing(trace: Trace, of: OfRank, beside: Beside | None, lacking: str) -> tuple[str, ...]:
    """What keeps the figures of a rank from being exact; other formats have nothing to lack."""
    is_kineto = any(file.format == "kineto" for file in trace.files)
    says = [lacking] if beside is None and is_kineto else []
    if of.broken:
        says.append(f"{counted(of.broken, 'activity', 'activities')} of impossible time left out")
    if of.clipped:
        ends = counted(of.clipped, "end")
        says.append(f"{ends} cut back to the next begin on the stream, which the tool would not do")
    return tuple(says)


def _files(trace: Trace) -> dict[str, int]:
    """File -> its rank, of the Kineto files that hold one."""
    kineto = {file.file for file in trace.files if file.format == "kineto"}
    ranks: dict[str, list[int]] = {}
    for file, rank in zip(
        trace.ranks.column("file").to_pylist(), trace.ranks.column("rank").to_pylist()
    ):
        ranks.setdefault(file, []).append(rank)
    return {file: of[0] for file, of in ranks.items() if file in kineto and len(of) == 1}
