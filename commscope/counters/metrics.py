"""From the metrics in a database of rocprof-compute to operations, bytes and shares.

Rates of metrics are means over the dispatches of each one's rate; intensities are of all of them.
Levels are those of the tool's roofline, which counts 64 bytes an access of L1 and L2 where newer
GPUs move 128: their roofs are lower bounds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from commscope.counters.model import Fabric, Measured
from commscope.counters.raw import remote_share

_RATES = "Roofline Performance Rates"
_FABRIC = "L2 - Fabric interface detailed metrics"
_OPERATIONS = re.compile(rf"{_RATES}: (VALU|MFMA) (?:FLOPs|IOPs) \((\w{{1,6}})\)")
_LEVELS = {"HBM": "hbm", "L2 Cache": "l2", "L1 Cache": "l1", "LDS": "lds"}
_INTENSITIES = {"HBM": "hbm", "L2": "l2", "L1": "l1"}

Metrics = Mapping[str, float]


def has_metrics(values: Metrics) -> bool:
    """Whether they are metrics of a database, whose names have a table before a colon."""
    return any(": " in name for name in values)


def measured_of(values: Metrics) -> Measured:
    """What the metrics of one kernel tell."""
    busy = values.get("Pipeline Statistics: MFMA Utilization")
    return Measured(
        flops=values.get("Arithmetic Operations: FLOPs (Total)"),
        total_gflops=values.get("Roofline: FLOPs"),
        gflops=_operations(values),
        gbps=_levels(values),
        intensity=_intensities(values),
        mfma_utilization=None if busy is None else busy / 100,
        fabric=_fabric(values),
    )


def _operations(values: Metrics) -> dict[str, float]:
    found = ((_OPERATIONS.fullmatch(name), value) for name, value in values.items())
    return {_kind(match): value for match, value in found if match}


def _kind(found: re.Match[str]) -> str:
    return f"{found[1].lower()} {'i8' if found[2] == 'Int8' else found[2].lower()}"


def _levels(values: Metrics) -> dict[str, float]:
    named = {level: f"{_RATES}: {name} Bandwidth" for name, level in _LEVELS.items()}
    return {level: values[name] for level, name in named.items() if name in values}


def _intensities(values: Metrics) -> dict[str, float]:
    named = {level: f"Roofline: intensity of {name}" for name, level in _INTENSITIES.items()}
    rates = {level: values[name] for level, name in named.items() if name in values}
    # Zero stands for no operations, and for no bytes.
    return {level: value for level, value in rates.items() if value or _levels(values).get(level)}


def _fabric(values: Metrics) -> Fabric:
    """Requests by size and by where they go, as the tool split them."""
    reads = [values.get(f"{_FABRIC}: Read ({size}B)") for size in (32, 64, 128)]
    writes = [values.get(f"{_FABRIC}: Write and Atomic ({size}B)") for size in (32, 64)]
    return Fabric(
        read_bytes=_bytes(reads),
        write_bytes=_bytes(writes),
        remote_read_share=_remote(values, "Read"),
        remote_write_share=_remote(values, "Write and Atomic"),
    )


def _bytes(requests: list[float | None]) -> float | None:
    known = [count for count in requests if count is not None]
    if len(known) < len(requests):
        return None
    return sum(count * size for count, size in zip(known, (32, 64, 128)))


def _remote(values: Metrics, way: str) -> float | None:
    own, remote = (values.get(f"{_FABRIC}: {where} {way}") for where in ("HBM", "Remote"))
    return None if own is None or remote is None else remote_share(own + remote, own)
