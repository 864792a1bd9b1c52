"""What a profile says of the machine: its GPU, and the peaks that benchmarks measured."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from commscope.parsers.omniperf.profile import Peak

#: Columns of WORKLOADS by the names that versions of the tool give them. Host, command and user
#: are not read.
_TEXTS = {
    "name": ("workload_name",),
    "version": ("version",),
    "collected": ("ip_blocks",),
    "rocm": ("rocm_version", "host_rocmver"),
    "gpu": ("gpu_model", "name"),
    "arch": ("gpu_arch", "gpu_soc"),
    "compute_partition": ("compute_partition",),
    "memory_partition": ("memory_partition",),
}
_NUMBERS = {
    "compute_units": ("cu_per_gpu", "numCU"),
    "simds": ("simd_per_cu", "numSIMD"),
    "xcds": ("num_xcd",),
    "lds_banks": ("lds_banks_per_cu", "LDSBanks"),
    "wave_size": ("wave_size", "waveSize"),
}
_CLOCK = ("max_sclk", "sclk")
_NOTHING = {"", "na", "n/a", "none", "nan", "null"}

_PEAK = re.compile(
    r"(?P<level>HBM|MALL|L2|L1|LDS)Bw|"
    r"(?P<pipe>MFMA)?(?:FP|F|(?=BF)|(?=I))(?P<type>BF16|I\d{1,2}|\d{1,2})(?:Flops|Ops)"
)


def facts_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of WORKLOADS from the names and values of sysinfo.csv."""
    texts = {column: _first(values, names) for column, names in _TEXTS.items()}
    numbers = {column: _whole(_first(values, names)) for column, names in _NUMBERS.items()}
    if texts["arch"] in ("gfx906", "gfx908", "gfx90a"):
        numbers["xcds"] = numbers["xcds"] or 1  # older versions do not say so
    return {**texts, **numbers, "max_sclk_mhz": _positive(_first(values, _CLOCK))}


def peaks_of(values: Mapping[str, Any], device: str | None) -> Iterator[Peak]:
    """The peaks in a row of roofline.csv; zero stands for what was not measured."""
    for name, value in values.items():
        found = _PEAK.fullmatch(name)
        peak = _positive(value)
        if found is None or peak is None:
            continue
        if found["level"]:
            yield Peak(device, found["level"].lower(), peak, "GB/s")
        else:
            yield Peak(device, _operation(found), peak, "GFLOP/s")


def _operation(found: re.Match[str]) -> str:
    kind = found["type"].lower()
    return f"{'mfma' if found['pipe'] else 'valu'} {'f' if kind.isdigit() else ''}{kind}"


def rows_of(data: bytes) -> list[dict[str, str]]:
    """The rows of a small table, by the names of its columns; those that are torn are left out."""
    lines = csv.reader(io.StringIO(data.decode("utf-8-sig", "replace"), newline=""), strict=False)
    try:
        names, *rows = lines
    except (csv.Error, ValueError):
        return []
    return [dict(zip(names, row)) for row in rows if len(row) == len(names)]


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    found = (str(values[name]).strip() for name in names if values.get(name) is not None)
    return next((text for text in found if text.lower() not in _NOTHING), None)


def _positive(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0 < number < math.inf else None


def _whole(text: str | None) -> int | None:
    number = _positive(text)
    return int(number) if number is not None and number.is_integer() and number < 2**31 else None
