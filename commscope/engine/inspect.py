"""What a file is and holds, without analysing it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pyarrow.compute as pc

from commscope.engine.load import Progress
from commscope.errors import FormatError
from commscope.parsers.base import Reading
from commscope.parsers.detect import choose_parser, opinions
from commscope.parsers.opening import Source, read_head
from commscope.parsers.sources import find_sources


def inspect_paths(
    paths: Sequence[str | os.PathLike[str]], parser: str | None, progress: Progress
) -> list[dict[str, Any]]:
    """For every file its name, size, the parsers' opinions, and what it holds or why it does not."""
    sources = find_sources(paths).sources
    return [
        _inspect(source, parser, number, len(sources), progress)
        for number, source in enumerate(sources, 1)
    ]


def _inspect(
    source: Source, wanted: str | None, number: int, files: int, progress: Progress
) -> dict[str, Any]:
    head = read_head(source)
    found: dict[str, Any] = {
        "file": source.label,
        "bytes": source.size,
        "matches": [
            {
                "parser": opinion.parser.name,
                "confidence": opinion.match.confidence.name.lower(),
                "reason": opinion.match.reason,
            }
            for opinion in opinions(head, source)
        ],
    }
    try:
        parser = choose_parser(head, source, wanted)
        readings = list(
            parser.read(source, lambda n, all_: progress(source.label, number, files, n, all_))
        )
    except FormatError as error:
        return {**found, "error": str(error)}
    return {**found, "holds": {k: v for r in readings for k, v in _holds(r).items()}}


def _holds(reading: Reading) -> dict[str, Any]:
    facts, health = reading.facts, reading.health
    kinds = pc.value_counts(reading.events.column("kind").cast("string")).to_pylist()
    facts_known = {
        "rank": facts.rank,
        "world size": facts.world_size,
        "backend": facts.backend,
        "process": facts.pid,
        "GPU": ", ".join(sorted(set(facts.gpus.values()))) or None,
        **facts.versions,
    }
    damage = {
        "mended events": health.events_repaired,
        "lost events": health.events_lost,
        "lost bytes": health.bytes_lost,
        "cut": health.cut,
        "last good time (ns)": health.last_good_ns if health.cut else None,
    }
    return {
        "events": health.events_read,
        **{f"{row['values']} activities": row["counts"] for row in kinds},
        "host calls kept": reading.host.num_rows,
        "collectives described": reading.collectives.num_rows,
        **{name: value for name, value in facts_known.items() if value is not None},
        **{name: value for name, value in damage.items() if value},
        "health": "damaged" if health.is_damaged else "whole",
    }
