"""Reads what the ranks of a torch job have noted: when steps began and ended, on which device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from commscope.errors import UnknownFormat
from commscope.generator.playing.recording import decoded, lines_of
from commscope.generator.truth_file import TruthHostStep
from commscope.generator.truth_writing import ClockReading, RankHeader

SCHEMA = "commscope.torch/1"


class _Header(msgspec.Struct, frozen=True):
    schema: str
    backend: str
    vendor: str
    ccl: str
    ccl_version: int
    device_name: str
    torch: str
    rank: int
    world: int
    clock: ClockReading


_HEADER = msgspec.json.Decoder(_Header)
_STEP = msgspec.json.Decoder(TruthHostStep)


@dataclass(frozen=True, slots=True)
class Noted:
    """What one rank has noted; ``torch`` is its version."""

    header: RankHeader
    torch: str
    steps: tuple[TruthHostStep, ...]


def read_noted(folder: Path, rank: int) -> Noted:
    """What a rank has noted.

    Raises UsageError where the file cannot be read, UnknownFormat where it is something else, and
    CorruptTrace, with the number of the line, where it is broken.
    """
    path = folder / f"torch_rank{rank}.jsonl"
    first, *others = lines_of(path) or [b""]
    header: _Header = decoded(path, 1, first, _HEADER)
    if header.schema != SCHEMA:
        raise UnknownFormat(f"{path}: schema {header.schema!r}, known is {SCHEMA}")
    steps = tuple(decoded(path, number, line, _STEP) for number, line in enumerate(others, 2))
    return Noted(_rank_header(header), header.torch, steps)


def _rank_header(header: _Header) -> RankHeader:
    return RankHeader(
        backend=header.backend,
        vendor=header.vendor,
        ccl=header.ccl,
        ccl_version=header.ccl_version,
        device_name=header.device_name,
        world=header.world,
        rank=header.rank,
        clock=header.clock,
    )
