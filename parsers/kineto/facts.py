"""What the document around the events says: versions, devices, rank and world."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commscope.parsers.base import Facts
from commscope.parsers.integers import MAX_RANK
from commscope.parsers.kineto.decode import Args
from commscope.parsers.kineto.times import MAX_NS

_VERSION_KEYS = (
    "roctracer_version",
    "rocprofiler-sdk_version",
    "hip_runtime_version",
    "hip_driver_version",
    "cupti_version",
    "cuda_runtime_version",
    "cuda_driver_version",
    "torch_version",
)
_AMD = re.compile(r"\bAMD\b|Instinct|Radeon", re.IGNORECASE)
_EVENTS = "traceEvents"
_BLANK = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Around:
    """The document around the events."""

    metadata: dict[str, Any]
    complete: bool  #: it was all there and readable
    surplus_bytes: int  #: what follows the document: another one, or garbage


def parse_around(header: bytes, trailer: bytes | None) -> Around:
    """The keys around the events; ``trailer`` follows the array, None if that never ended."""
    text = _decoded(header).lstrip("\ufeff \t\r\n")
    if text.startswith("["):
        return Around({}, trailer is not None, len((trailer or b"").strip(_BLANK)))
    before, _ = _object(text + "]}")
    if trailer is None:
        return Around(before or {}, False, 0)
    behind = "{" + _decoded(trailer).lstrip(", \t\r\n")
    after, end = _object(behind)
    if after is not None and _EVENTS in after:  # of another document: the first one was cut
        return Around(before or {}, False, len(trailer))
    surplus = behind[end:].strip() if after is not None else ""
    complete = before is not None and after is not None
    size = len(surplus.encode("utf-8", "surrogateescape"))
    return Around({**(before or {}), **(after or {})}, complete, size)


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _object(text: str) -> tuple[dict[str, Any] | None, int]:
    """The object that a text begins with and where it ends; None where there is none."""
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):  # a number of thousands of digits is a ValueError
        return None, 0
    return (value, end) if isinstance(value, dict) else (None, 0)


def facts_of(
    metadata: Mapping[str, Any],
    host_names: Iterable[str],
    pids: Counter[int],
    devices: set[int],
    records: Sequence[Args],
) -> Facts:
    """The facts of one file; ``host_names`` are the names of its runtime calls."""
    distributed = _mapping(metadata.get("distributedInfo"))
    names = _gpu_names(metadata.get("deviceProperties"))
    return Facts(
        rank=_rank(distributed.get("rank")),
        records_rank=_records_rank(records),
        world_size=_rank(distributed.get("world_size")),
        host=_text(metadata.get("host") or metadata.get("hostname")),
        pid=pids.most_common(1)[0][0] if pids else None,
        backend=_text(distributed.get("backend")),
        gpus={device: _gpu(names, device) for device in devices if _gpu(names, device)},
        gpu_names=tuple(names.values()),
        is_rocm=_is_rocm(metadata, names.values(), host_names),
        versions=_versions(metadata, distributed),
        base_ns=_base_ns(metadata.get("baseTimeNanoseconds")),
    )


def _records_rank(records: Sequence[Args]) -> int | None:
    """The rank most records carry: their own (a broadcast may carry its root's)."""
    ranks = Counter(rank for r in records if (rank := _rank(r.own_rank)) is not None)
    return ranks.most_common(1)[0][0] if ranks else None


def _gpu(names: Mapping[int, str], device: int) -> str:
    """The product name: all alike, or by device number (on roctracer that is no index)."""
    distinct = set(names.values())
    return distinct.pop() if len(distinct) == 1 else names.get(device, "")


def _gpu_names(properties: Any) -> dict[int, str]:
    found = {}
    for index, entry in enumerate(properties if isinstance(properties, list) else []):
        device = _mapping(entry)
        number = _whole(device.get("id"))
        found[index if number is None else number] = str(device.get("name") or "")
    return found


def _is_rocm(
    metadata: Mapping[str, Any], gpus: Iterable[str], host_names: Iterable[str]
) -> bool | None:
    """ROCm or CUDA, by version keys, device names or names of runtime calls; None if none tells."""
    names = list(host_names)
    if any(k.startswith(("roctracer", "rocprofiler", "hip_")) for k in metadata):
        return True
    if any(map(_AMD.search, gpus)) or any(n.startswith("hip") for n in names):
        return True
    if any(k.startswith(("cuda_", "cupti")) for k in metadata):
        return False
    return False if any(n.startswith("cu") for n in names) else None


def _versions(metadata: Mapping[str, Any], distributed: Mapping[str, Any]) -> dict[str, str]:
    versions = {key: str(metadata[key]) for key in _VERSION_KEYS if key in metadata}
    if "nccl_version" in distributed:
        versions["nccl_version"] = str(distributed["nccl_version"])
    return versions


def _base_ns(value: Any) -> int:
    number = _whole(value)
    return number if number is not None and number <= MAX_NS else 0


def _rank(value: Any) -> int | None:
    """A rank or a number of ranks."""
    number = _whole(value)
    return number if number is not None and number <= MAX_RANK else None


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    try:
        number = int(value)
    except ValueError:
        return None
    return number if 0 <= number < 1 << 63 else None


def _text(value: Any) -> str | None:
    return str(value) if value else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
