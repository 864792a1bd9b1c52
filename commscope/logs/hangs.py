"""Where a job hangs: from dumps of the Flight Recorder, watchdogs and RAS; rules look at calls.

Each source is looked at on its own; what it cannot tell (ranks without a dump, ranks whose watchdog
said nothing) is said with what it tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from commscope.logs.hang_model import Hang
from commscope.logs.hangs_flight import hangs_of_dumps
from commscope.logs.hangs_ras import hangs_of_ras
from commscope.logs.hangs_watchdog import hangs_of_watchdog

_NO_TABLES: dict[str, pa.Table] = {}


def find_hangs(
    logs: Mapping[str, pa.Table] = _NO_TABLES, neighbors: Mapping[str, pa.Table] = _NO_TABLES
) -> tuple[Hang, ...]:
    """What hangs, by tables of ``log_schema`` and of ``neighbor_schema``: surest sources first."""
    found: list[Hang] = []
    if "FLIGHT" in neighbors:
        found += hangs_of_dumps(neighbors["FLIGHT"], neighbors["FLIGHT_GROUPS"])
    if "RAS" in neighbors:
        found += hangs_of_ras(neighbors["RAS"])
    if "HANGS" in logs:
        found += hangs_of_watchdog(logs["HANGS"])
    return tuple(found)


def hangs_to_dicts(hangs: Sequence[Hang]) -> list[dict[str, Any]]:
    """As JSON shows them."""
    return [asdict(hang) for hang in hangs]
