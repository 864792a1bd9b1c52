"""The document as readings, one a process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from commscope.errors import CorruptTrace
from commscope.parsers.base import Facts, Health, Input, Progress, Reading
from commscope.parsers.integers import whole_number
from commscope.parsers.opening import Blocks, Source, open_blocks
from commscope.parsers.rocprof_process import tables_of
from commscope.parsers.rocprofv3_json.agents import agents_of
from commscope.parsers.rocprofv3_json.gathering import Gathered
from commscope.parsers.rocprofv3_json.process import Names, process_of
from commscope.parsers.rocprofv3_json.records import beginning_of
from commscope.parsers.rocprofv3_json.sections import (
    AGENTS,
    MESSAGES,
    METADATA,
    NAMES,
    Piece,
    Sections,
)

FORMAT = "rocprofv3_json"
_OPENING = {METADATA: b"{", AGENTS: b"[", NAMES: b"[", MESSAGES: b"["}


@dataclass(slots=True)
class _Parts:
    """What is known of one process as the document is read."""

    gathered: Gathered = field(default_factory=Gathered)
    told: dict[str, Any] = field(default_factory=dict)  #: section -> its value, or null

    def add(self, piece: Piece) -> None:
        """Takes a piece of any section."""
        if piece.section in _OPENING:
            self.told[piece.section] = beginning_of(_OPENING[piece.section] + piece.text)
        else:
            self.gathered.add(piece)


def read_results(source: Source, progress: Progress) -> Iterator[Reading]:
    """One reading a process; raises CorruptTrace where the file has not one record."""
    parts: list[_Parts] = []
    with open_blocks(source) as blocks:
        sections = Sections(_reporting(blocks, source, progress))
        for piece in sections:
            if piece.section == METADATA or not parts:
                parts.append(_Parts())
            parts[-1].add(piece)
        file = Input(source.label, FORMAT, blocks.sha256, blocks.bytes_read)
        cut = blocks.cut
    if not sections.complete:
        cut = cut or "the file ends before the document does"
    if not any(one.gathered.read for one in parts) and cut:
        raise CorruptTrace(
            f"{source.label}: cut or damaged before its first activity; record the trace again"
        )
    for one in parts:
        yield _reading(one, file, cut if one is parts[-1] else None)


def _reporting(blocks: Blocks, source: Source, progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        progress(blocks.bytes_read, source.size)
        yield block


def _reading(parts: _Parts, file: Input, cut: str | None) -> Reading:
    told, gathered = parts.told, parts.gathered
    agents = agents_of(told.get(AGENTS))
    names = Names(told.get(NAMES), told.get(MESSAGES))
    tables = tables_of(process_of(gathered, agents, names))
    used = set(tables.events.column("device").unique().to_pylist())
    gpus = {device: name for device, name in agents.products.items() if device in used}
    return Reading(
        input=file,
        facts=_facts(told.get(METADATA), gpus, tuple(agents.products.values())),
        health=_health(gathered, cut, tables.notes),
        events=tables.events,
        host=tables.host,
        collectives=tables.collectives,
    )


def _facts(metadata: Any, gpus: dict[int, str], gpu_names: tuple[str, ...]) -> Facts:
    told = _mapping(metadata)
    host, pid = _mapping(told.get("node")).get("hostname"), told.get("pid")
    return Facts(
        host=host if isinstance(host, str) and host else None,
        pid=whole_number(pid),
        gpus=gpus,
        gpu_names=gpu_names,
        is_rocm=True,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _health(gathered: Gathered, cut: str | None, notes: tuple[str, ...]) -> Health:
    return Health(
        events_read=gathered.read + gathered.lost,
        events_lost=gathered.lost,
        bytes_lost=gathered.bytes_lost,
        cut=cut,
        lacks_events=cut is not None,
        last_good_ns=gathered.last_ns if cut else None,
        notes=notes,
    )
